//! Approval dialogs of many kinds of calls. Each has a snapshot, and at several widths its arguments
//! are rebuilt from the cells on the screen and compared with the call.

use crate::support::argument_reader::read_arguments;
use crate::support::dialog_frames::{DESCRIPTION, all_argument_rows, dialog_rows};
use crate::support::fixtures;
use crate::support::screen_harness::{ScreenHarness, screen_harness, tool};
use crossterm::event::KeyCode;
use humble::domain::tool::ToolState;
use humble::domain::{AskId, CallId, TurnEvent};
use humble::protocol::{CallToApprove, Event, ModelJob, QuestionOwner};
use humble::questions;
use serde_json::{Value, json};
use std::sync::Arc;

/// A call, with a name for its snapshot.
struct CorpusCall {
    name: String,
    tool: String,
    arguments: Value,
}

/// The calls of `approvals.json`, and some long ones.
fn corpus() -> Vec<CorpusCall> {
    let stored: Vec<Value> =
        serde_json::from_str(include_str!("approvals.json")).expect("a list of calls");
    let text = |call: &Value, key: &str| call[key].as_str().expect("a text").to_owned();
    let calls = stored.iter().map(|call| CorpusCall {
        name: text(call, "name"),
        tool: text(call, "tool"),
        arguments: call["arguments"].clone(),
    });
    let python: String = (0..220)
        .map(|n| format!("def function_{n}(alpha, beta=None):\n    return [alpha * {n}]\n"))
        .collect();
    let keys = (0..200).map(|n| (format!("key_{n}"), json!(n * n)));
    let long = [
        (
            "ten_kilobytes_of_python",
            json!({ "path": "long.py", "content": python }),
        ),
        ("two_hundred_keys", Value::Object(keys.collect())),
        (
            "a_line_of_nine_thousand",
            json!({ "text": "word ".repeat(1_800) }),
        ),
    ];
    let long = long.into_iter().map(|(name, arguments)| CorpusCall {
        name: name.to_owned(),
        tool: "write_file".to_owned(),
        arguments,
    });
    calls.chain(long).collect()
}

fn approval(size: (u16, u16), name: &str, arguments: &Value) -> ScreenHarness {
    let mut story = screen_harness(size);
    story.prompt("Please do it");
    let call = fixtures::tool_call("everything", name, arguments.clone());
    story.turn(TurnEvent::Tool(humble::domain::ToolCall {
        state: ToolState::AwaitingApproval,
        ..call
    }));
    let about = "Does what its name says.\nThe server says: path  /safe";
    let offered = CallToApprove {
        call: CallId(1),
        tool: Arc::new(tool(name, about)),
    };
    story.event(Event::Asked {
        ask: AskId(1),
        question: questions::approve(vec![offered]),
        owner: QuestionOwner::Job(ModelJob::Turn(story.turn)),
    });
    story.advance_clock(600);
    story
}

/// The rows between the title and the server's description.
fn argument_rows(story: &mut ScreenHarness) -> Vec<Vec<String>> {
    let (buffer, _) = story.draw();
    let dialog = dialog_rows(&buffer).remove(0);
    assert!(dialog.title.is_some(), "the dialog has a title");
    let rows = dialog.rows.into_iter();
    rows.take_while(|row| !row.concat().starts_with(DESCRIPTION))
        .collect()
}

#[test]
fn every_call_is_shown_readably() {
    for CorpusCall {
        name,
        tool,
        arguments,
    } in corpus()
    {
        let mut shown = Vec::new();
        for size in [(80, 24), (120, 40)] {
            shown.push(format!("{}x{}\n{}", size.0, size.1, {
                approval(size, &tool, &arguments).screen()
            }));
        }
        insta::assert_snapshot!(format!("approval_{name}"), shown.join("\n\n"));
    }
}

#[test]
fn the_drawn_arguments_are_those_of_the_call() {
    for CorpusCall {
        name,
        tool,
        arguments,
    } in corpus()
    {
        for columns in [60, 80, 120] {
            let mut story = approval((columns, 1_500), &tool, &arguments);
            let read = read_arguments(&argument_rows(&mut story));
            assert_eq!(Value::Object(read), arguments, "{name} at {columns}");
        }
    }
}

/// A highlighted part of a long line may end inside a grapheme cluster.
#[test]
fn highlights_in_long_lines_are_drawn() {
    for pad in 0..4 {
        let text = "x".repeat(pad) + &"e\u{301}t ".repeat(1_200);
        let arguments = fixtures::object(json!({ "body": { "text": [text] } }));
        for columns in [60, 80] {
            for as_json in [false, true] {
                // Panics if the arguments cannot be rebuilt from the rows.
                let rows = all_argument_rows(&arguments, columns, as_json);
                assert!(rows.len() > 40, "{} rows", rows.len());
            }
        }
    }
}

#[test]
fn a_sidebar_never_hides_a_dialog() {
    for size in [(20, 6), (30, 12), (50, 20), (59, 40), (64, 20), (120, 40)] {
        for pane in [KeyCode::F(2), KeyCode::F(3)] {
            let mut story = approval(size, "run", &json!({ "n": 12 }));
            let screen = story.key(pane).screen();
            for part in ["Call now? (Y/N)", "n  12"] {
                assert!(screen.contains(part), "{size:?}: {part}\n{screen}");
            }
        }
    }
}
