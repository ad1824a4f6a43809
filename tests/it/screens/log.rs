//! Snapshots of the log pane with the trace of the last answer, and of a dialog that
//! explains why it asks.

use super::at_two_sizes;
use crate::support::fixtures::tool_call;
use crate::support::screen_harness;
use crossterm::event::KeyCode;
use humble::domain::reply_trace::{TraceKind, TraceLine};
use humble::domain::tool::{CallOrigin, QuoteSource, ToolCall};
use humble::domain::{AskId, CallId, ToolMode, TurnEvent};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use screen_harness::{ScreenHarness, screen_harness, tool};
use serde_json::json;
use std::sync::Arc;

fn lines(entries: &[(TraceKind, bool, &str)]) -> Arc<Vec<TraceLine>> {
    let line = |(kind, starts_entry, text): &(TraceKind, bool, &str)| TraceLine {
        kind: *kind,
        starts_entry: *starts_entry,
        text: (*text).to_owned(),
    };
    Arc::new(entries.iter().map(line).collect())
}

fn show_trace(story: &mut ScreenHarness) {
    use TraceKind::{Call, Heading, InvalidCall, Markup, Note, Text, Thinking};
    story.types("/log answer").key(KeyCode::Enter);
    let call = r#"{"name": "get-sum", "arguments": {"a": 17, "b": 25, "왜": "합계를 알려 달라고 했습니다"}}"#;
    story.event(Event::ReplyTraceLoaded(lines(&[
        (Heading, true, "Reply 1 from qwen3:4b"),
        (Heading, true, "As the server sent it:"),
        (Thinking, true, "덧셈이 필요하다."),
        (Text, true, "더해 볼게요.\u{202e}"),
        (Text, false, "<tool_call>"),
        (Text, false, call),
        (Note, true, "end: stop"),
        (Heading, true, "As it was split:"),
        (Thinking, true, "덧셈이 필요하다."),
        (Text, true, "더해 볼게요.\u{202e}"),
        (Markup, true, "<tool_call>"),
        (Call, true, call),
        (Note, true, "read as Hermes, its end missing"),
        (InvalidCall, true, r#"{"name": "fly"}"#),
        (Note, true, "there is no tool `fly`"),
        (Heading, true, "The outcome of its calls:"),
        (
            Note,
            true,
            "get-sum on everything, Hermes; occurs in a tool result: ran",
        ),
    ])));
    // Let the notice of the command expire.
    story.advance_clock(7_000);
}

fn ask_about_copied_call(story: &mut ScreenHarness) {
    story.event(Event::ToolModeChanged(ToolMode::Auto));
    story.prompt("이 페이지를 읽어 줘");
    let call = ToolCall {
        origin: CallOrigin::Text {
            form: "Hermes",
            repaired: true,
            is_taught: false,
        },
        quoted: Some(QuoteSource::ToolResult),
        ..tool_call("everything", "get-sum", json!({"a": 17, "b": 25}))
    };
    story.turn(TurnEvent::Tool(call));
    let call = CallToApprove {
        call: CallId(1),
        tool: Arc::new(tool("get-sum", "Adds two numbers.")),
    };
    story.event(Event::Asked {
        ask: AskId(1),
        owner: QuestionOwner::Job(ModelJob::Turn(story.turn)),
        question: questions::approve(vec![call]),
    });
    story.advance_clock(900);
}

#[test]
fn the_last_answer() {
    insta::assert_snapshot!(at_two_sizes(show_trace));
}

#[test]
fn the_end_key_shows_the_end_of_the_last_answer() {
    let mut story = screen_harness((60, 12));
    show_trace(&mut story);
    let end = "get-sum on everything";
    assert!(!story.screen().contains(end));
    story.key(KeyCode::End);
    assert!(story.screen().contains(end), "{}", story.screen());
}

#[test]
fn no_answer_yet() {
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.key(KeyCode::F(12)).key(KeyCode::Tab);
        story.event(Event::ReplyTraceLoaded(Arc::default()));
    }));
}

#[test]
fn a_call_copied_from_a_result() {
    insta::assert_snapshot!(at_two_sizes(ask_about_copied_call));
}

#[test]
fn the_trace_scrolls_from_its_start_to_its_end_at_every_size() {
    for size in [(104, 30), (60, 20), (20, 6), (8, 4), (3, 2)] {
        let mut story = screen_harness(size);
        show_trace(&mut story);
        let mut seen = String::new();
        for _ in 0..60 {
            seen.push_str(&story.screen());
            story.key(KeyCode::Down);
        }
        if size.0 >= 20 {
            assert!(
                seen.contains("Reply 1 from") && seen.contains("ran"),
                "{size:?}"
            );
        }
    }
}
