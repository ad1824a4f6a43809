//! Snapshots of a call that runs as a task, and of the list of tasks that were left running.

use super::{at_sizes, at_two_sizes};
use crate::support::fixtures::{object, tool_call};
use crossterm::event::KeyCode;
use humble::domain::{
    CallTask, LaunchId, LeftTask, LeftTaskId, LeftTaskState, Pin, ServerTask, TaskProtocol,
    ToolCall, ToolProgress, ToolState, TurnEvent,
};
use humble::protocol::Event;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_call_runs_as_a_task() {
    let task = ServerTask::new("t", TaskProtocol::Extension).expect("a valid id");
    let message = "working: frame 1,200 of 7,000 \u{1b}[2J변환 중";
    let progress = ToolProgress::new(0.0, None, Some(message));
    let call = ToolCall {
        task: Some(Box::new(CallTask {
            task,
            launch: LaunchId::from_hash("1"),
            pin: Pin::from_hash("2"),
        })),
        state: ToolState::Running {
            progress: Some(progress),
        },
        ..tool_call("films", "convert", json!({ "path": "a.mov" }))
    };
    insta::assert_snapshot!(at_two_sizes(|story| {
        story.prompt("Convert the film.");
        story
            .turn(TurnEvent::Tool(call.clone()))
            .advance_clock(83_000);
    }));
}

#[test]
fn tasks_that_were_left_are_listed() {
    let working = Some("working: frame 1,200 of 7,000 \u{1b}[2J변환 중".to_owned());
    let states = [
        LeftTaskState::Running { status: working },
        LeftTaskState::Running { status: None },
        LeftTaskState::Succeeded,
        LeftTaskState::Failed {
            why: "The server does not know the task any more.\nIts result is lost.".to_owned(),
        },
        LeftTaskState::NotFollowed {
            why: "Server `films` is switched off, so its task was not followed.".to_owned(),
        },
    ];
    let tools = [
        "convert",
        "export-everything-to-the-archive",
        "count",
        "index",
        "render",
    ];
    let tasks: Vec<LeftTask> = (1u64..)
        .zip(tools.iter().zip(states))
        .map(|(id, (tool, state))| LeftTask {
            id: LeftTaskId(id),
            server: "films".into(),
            tool: (*tool).to_owned(),
            arguments: Arc::new(object(
                json!({ "path": format!("films/{tool}.mov"), "crf": id }),
            )),
            is_saved: true,
            age: Duration::from_secs(50 * id.pow(5)),
            state,
            cancellation: None,
        })
        .collect();
    insta::assert_snapshot!(at_sizes(&[(80, 24), (40, 12), (20, 6)], |story| {
        story
            .event(Event::LeftTasksListed(Arc::new(tasks.clone())))
            .types("/tasks")
            .key(KeyCode::Enter);
    }));
}
