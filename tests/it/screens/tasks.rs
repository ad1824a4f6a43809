//! Snapshots of a call that runs as a task.

use super::at_two_sizes;
use crate::support::fixtures::tool_call;
use humble::domain::{
    CallTask, LaunchId, Pin, ServerTask, TaskProtocol, ToolCall, ToolProgress, ToolState, TurnEvent,
};
use serde_json::json;

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
