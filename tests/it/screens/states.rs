//! Snapshots of states that the other files of this folder leave out: the pages of an approval, the
//! outcomes of a call, waiting, ends of a turn, and lists.

use super::at_two_sizes;
use crate::support::fixtures;
use crate::support::screen_harness::{ScreenHarness, tool};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use humble::domain::tool::{ToolOutcome, ToolState};
use humble::domain::{
    AskId, CallId, Notice, PersonaSummary, PieceKind, ToolCall, TurnEnd, TurnEvent, WaitReason,
};
use humble::protocol::{CallToApprove, Event, ModelJob, Question, QuestionOwner};
use humble::questions;
use humble::tui::UiInput;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A state and its script.
type State<'a> = (&'a str, &'a dyn Fn(&mut ScreenHarness));

/// One snapshot of several states at both sizes. Each state starts from an empty screen.
pub fn snapshot_states(name: &str, states: &[State]) {
    let screens = states
        .iter()
        .map(|(state, script)| format!("=== {state}\n{}", at_two_sizes(|story| script(story))));
    let screens: Vec<String> = screens.collect();
    insta::assert_snapshot!(name, screens.join("\n\n"));
}

pub fn ask(story: &mut ScreenHarness, question: Question) {
    let owner = QuestionOwner::Job(ModelJob::Turn(story.turn));
    story.event(Event::Asked {
        ask: AskId(1),
        owner,
        question,
    });
    story.advance_clock(600);
}

fn ask_about_calls(story: &mut ScreenHarness, calls: &[Value]) {
    story.prompt("Please do it");
    let mut offered = Vec::new();
    for (arguments, id) in calls.iter().zip(1..) {
        story.turn(TurnEvent::Tool(ToolCall {
            id: CallId(id),
            ..fixtures::tool_call("files", "write_file", arguments.clone())
        }));
        let description = "Writes a file.\nReplaces a file that exists.";
        offered.push(CallToApprove {
            call: CallId(id),
            tool: Arc::new(tool("write_file", description)),
        });
    }
    ask(story, questions::approve(offered));
}

fn file() -> Value {
    json!({ "path": "src/a.rs", "content": "fn main() {\n    println!(\"안녕\");\n}\n" })
}

fn long_list(count: usize) -> Value {
    json!({ "lines": (0..count).map(|n| format!("line {n}")).collect::<Vec<_>>() })
}

fn control(story: &mut ScreenHarness, letter: char) {
    let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    story.input(UiInput::Key(key));
}

fn command(story: &mut ScreenHarness, text: &str) {
    story.types(text).key(KeyCode::Enter);
}

#[test]
fn pages_of_an_approval() {
    let page = |keys: &'static [KeyCode]| {
        move |story: &mut ScreenHarness| {
            ask_about_calls(story, &[file()]);
            for key in keys {
                story.key(*key);
            }
        }
    };
    snapshot_states(
        "pages_of_an_approval",
        &[
            ("the lasting choices", &page(&[KeyCode::Char('a')])),
            ("the details", &page(&[KeyCode::Char('?')])),
            ("the exact JSON", &page(&[KeyCode::F(5)])),
            ("the full screen", &page(&[KeyCode::Char('o')])),
            ("a selected choice", &page(&[KeyCode::Down, KeyCode::Down])),
            ("a reason for a denial", &page(&[KeyCode::Char('d')])),
            ("a pattern", &page(&[KeyCode::Char('8')])),
            ("the values to edit", &page(&[KeyCode::Char('e')])),
            (
                "one value",
                &page(&[KeyCode::Char('e'), KeyCode::Down, KeyCode::Enter]),
            ),
            ("an unknown key", &page(&[KeyCode::Char('z')])),
            ("above the help", &page(&[KeyCode::F(1)])),
        ],
    );
}

#[test]
fn approvals_not_fully_shown() {
    let long = |count: usize, keys: &'static [KeyCode]| {
        move |story: &mut ScreenHarness| {
            ask_about_calls(story, &[long_list(count), file()]);
            for key in keys {
                story.key(*key);
            }
        }
    };
    snapshot_states(
        "approvals_not_fully_shown",
        &[
            ("the beginning", &long(60, &[])),
            ("the middle", &long(60, &[KeyCode::PageDown])),
            ("the end, with a gap before", &long(60, &[KeyCode::End])),
            ("the next call", &long(60, &[KeyCode::Right])),
            ("more than 500 rows", &long(700, &[])),
            ("a run unread", &long(700, &[KeyCode::Char('r')])),
        ],
    );
}

fn call(id: u64, name: &str, state: ToolState) -> TurnEvent {
    TurnEvent::Tool(ToolCall {
        id: CallId(id),
        state,
        ..fixtures::tool_call("files", name, json!({ "path": format!("{name}.txt") }))
    })
}

/// Every outcome of a call, and every state before it, in one turn.
pub fn all_outcomes(story: &mut ScreenHarness) {
    let elapsed = Duration::from_millis(1_500);
    let outcomes = [
        (
            "read",
            ToolOutcome::Succeeded {
                text: "안녕".into(),
                elapsed,
            },
        ),
        (
            "fail",
            ToolOutcome::Failed {
                text: "no such file".into(),
                elapsed,
            },
        ),
        (
            "lost",
            ToolOutcome::Unreachable {
                why: "the server exited".into(),
                elapsed,
            },
        ),
        ("slow", ToolOutcome::TimedOut { elapsed }),
        ("refuse", ToolOutcome::Refused),
        ("deny", ToolOutcome::Denied { message: None }),
        (
            "deny_why",
            ToolOutcome::Denied {
                message: Some("다른 폴더".into()),
            },
        ),
        ("never", ToolOutcome::Never),
        ("interrupt", ToolOutcome::Interrupted),
        ("cancel", ToolOutcome::Cancelled { elapsed }),
        ("reuse", ToolOutcome::Reused { of: CallId(1) }),
        (
            "skip",
            ToolOutcome::NotRun {
                why: "an earlier call failed".into(),
            },
        ),
    ];
    story.prompt("Do all of it");
    for ((name, outcome), id) in outcomes.into_iter().zip(1..) {
        story.turn(call(id, name, ToolState::Done(outcome)));
    }
    story.turn(call(20, "propose", ToolState::Proposed));
    story.turn(call(21, "wait", ToolState::AwaitingApproval));
    story.turn(call(22, "work", ToolState::Running { progress: None }));
}

#[test]
fn every_outcome_of_a_call() {
    snapshot_states("every_outcome_of_a_call", &[("calls", &all_outcomes)]);
}

#[test]
fn waiting_and_thinking() {
    let waits = |wait: WaitReason| {
        move |story: &mut ScreenHarness| {
            story.prompt("Hello").turn(TurnEvent::Waiting { wait });
            story.advance_clock(2_000);
        }
    };
    let thinks = |story: &mut ScreenHarness| {
        story.prompt("What is 17 + 25?").stream_delta(
            1,
            PieceKind::Thinking,
            "The user wants a sum.\n합을 구하자.",
        );
        story.advance_clock(1_000);
    };
    let opened = move |story: &mut ScreenHarness| {
        thinks(story);
        story.key(KeyCode::F(3));
    };
    let retries = |story: &mut ScreenHarness| {
        story.prompt("Hello").turn(TurnEvent::Retrying {
            after: Duration::from_secs(8),
            attempt: 2,
            attempts_max: 5,
            why: Notice::warning("The server is busy (429)."),
        });
        story.advance_clock(1_000);
    };
    snapshot_states(
        "waiting_and_thinking",
        &[
            (
                "a model that is being loaded",
                &waits(WaitReason::ModelLoading),
            ),
            ("a pause before a retry", &retries),
            ("thinking", &thinks),
            ("thinking opened with F3", &opened),
        ],
    );
}

#[test]
fn ends_of_a_turn() {
    let ends = |end: fn() -> TurnEnd| {
        move |story: &mut ScreenHarness| {
            story.answered_turn().end_turn(end());
        }
    };
    snapshot_states(
        "ends_of_a_turn",
        &[
            ("cancelled", &ends(|| TurnEnd::Cancelled)),
            ("refused", &ends(|| TurnEnd::Refused)),
            ("stopped", &ends(|| TurnEnd::Stopped)),
            (
                "truncated",
                &ends(|| TurnEnd::Answered {
                    text: String::new(),
                    is_truncated: true,
                }),
            ),
        ],
    );
}

#[test]
fn lists_and_completions() {
    let personas = |story: &mut ScreenHarness| {
        let persona = |name: &str, is_usable| PersonaSummary {
            name: name.into(),
            description: "Answers about 날씨".into(),
            is_usable,
        };
        let personas = Arc::new(vec![persona("weather", true), persona("terraform", false)]);
        story.event(Event::PersonasListed {
            personas,
            selected: Some("weather".into()),
        });
        command(story, "/persona");
    };
    let history = |story: &mut ScreenHarness| {
        story.answered_turn().end_turn(TurnEnd::Cancelled);
        control(story, 'r');
        story.types("17");
    };
    snapshot_states(
        "lists_and_completions",
        &[
            ("tool modes", &|story| command(story, "/set-tool-mode")),
            ("personas", &personas),
            ("permissions", &|story| command(story, "/trust")),
            ("servers", &|story| command(story, "/mcp")),
            ("earlier prompts", &history),
            ("an argument", &|story| {
                story.types("/set-model ");
            }),
            ("an unknown command", &|story| command(story, "/modle")),
            ("a message of several lines", &|story| {
                story.input(UiInput::Paste("첫 줄\nsecond line\nthird".to_owned()));
            }),
        ],
    );
}
