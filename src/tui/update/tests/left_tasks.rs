//! Tasks that the user leaves running: the key, and the result that arrives later.

use super::attachments::text_file;
use crate::domain::{CallTask, LaunchId, Pin, ServerTask, TaskProtocol, ToolOutcome};
use crate::fixtures::tool_call;
use crate::tui::attachments::state::AttachmentList;
use crate::tui::update::tests::*;

fn start_call(chat: &mut ChatHarness, id: u64, is_task: bool) {
    let task = ServerTask::new("t", TaskProtocol::Extension).expect("a valid id");
    let task = CallTask {
        task,
        launch: LaunchId::from_hash("1"),
        pin: Pin::from_hash("2"),
    };
    chat.turn_event(TurnEvent::Tool(ToolCall {
        id: CallId(id),
        task: is_task.then(|| Box::new(task)),
        state: ToolState::Running { progress: None },
        ..tool_call("films", &format!("convert-{id}"), json!({}))
    }));
}

#[test]
fn alt_l_leaves_the_only_call_that_runs_as_a_task() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    start_call(&mut chat, 1, false);
    chat.commands();
    assert!(!chat.screen().contains("leave the task"));
    chat.keys("<Alt+l>");
    assert_eq!(chat.commands(), []);
    assert!(chat.notice().starts_with("No call runs as a task"));
    start_call(&mut chat, 2, true);
    chat.wait(10_000);
    assert!(chat.screen().contains("Alt+L leave the task"));
    chat.keys("<Alt+l>");
    let leave = Command::LeaveCall(CallId(2));
    assert_eq!(chat.commands(), [leave]);
}

#[test]
fn one_of_several_tasks_is_left_by_name_or_number() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    for id in 1..=3 {
        start_call(&mut chat, id, id > 1);
    }
    chat.commands();
    chat.keys("/leave convert-3<Enter>");
    let leave = |call| Command::LeaveCall(CallId(call));
    assert_eq!(chat.commands(), [leave(3)]);
    chat.keys("<Alt+l>");
    assert!(chat.screen().contains("Running tasks"));
    assert!(!chat.screen().contains("1  convert-1"), "it is not a task");
    chat.keys("1");
    assert_eq!(chat.commands(), [leave(2)]);
}

#[test]
fn the_result_of_a_left_task_is_attached_and_shown_on_the_line_of_its_call() {
    let mut chat = chat();
    chat.keys("go<Enter>");
    start_call(&mut chat, 1, true);
    let done = |outcome| ToolCall {
        id: CallId(1),
        state: ToolState::Done(outcome),
        ..tool_call("films", "convert-1", json!({}))
    };
    let elapsed = Duration::from_secs(9);
    chat.turn_event(TurnEvent::Tool(done(ToolOutcome::Left { elapsed })));
    chat.turn_ends(TurnEnd::Cancelled);
    assert!(chat.screen().contains("left running"), "{}", chat.screen());
    let outcome = ToolOutcome::Succeeded {
        text: "a.mp4 is ready".to_owned(),
        elapsed,
    };
    for id in [1, 2] {
        // The second call is no longer shown.
        let mut call = done(outcome.clone());
        call.id = CallId(id);
        let name = format!("films:convert-{id}");
        chat.engine_event(Event::LeftTaskEnded {
            call: Box::new(call),
            files: vec![text_file(&name)],
        });
    }
    let screen = chat.screen();
    assert!(screen.contains("a.mp4 is ready"), "{screen}");
    assert!(!screen.contains("left running"), "{screen}");
    assert_eq!(screen.matches("a.mp4 is ready").count(), 1, "{screen}");
    chat.commands();
    chat.keys("/detach films:convert-1<Enter>use it<Enter>");
    let commands = chat.commands();
    let [Command::Submit { prompt, .. }] = &commands[..] else {
        panic!("{commands:?}");
    };
    let names = prompt.attachments.iter().map(|file| file.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["films:convert-2"]);
}

#[test]
fn a_result_that_arrives_while_another_prompt_is_edited_waits_for_the_message() {
    let mut files = AttachmentList::default();
    files.replace_for_edit(Vec::new());
    let results = (0..12).map(|n| text_file(&n.to_string())).collect();
    files.add_result(results);
    assert!(files.is_empty());
    files.end_edit();
    assert_eq!(
        files.files().len(),
        12,
        "more files than the user can attach"
    );
}
