//! Tasks that the user leaves running: the key, the list of `/tasks`, and the header.

use crate::domain::{
    CallTask, LaunchId, LeftTask, LeftTaskId, LeftTaskState, Pin, ServerTask, TaskProtocol,
};
use crate::fixtures::tool_call;
use crate::protocol::LeftTaskCommand;
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

fn task(id: u64, state: LeftTaskState) -> LeftTask {
    LeftTask {
        id: LeftTaskId(id),
        server: "films\u{1b}[2J".into(),
        tool: format!("convert-{id}\u{202e}"),
        arguments: Arc::new(fixtures::object(
            json!({ "path": format!("film-{id}.mov\u{202e}") }),
        )),
        is_saved: true,
        age: Duration::from_secs(200),
        state,
        cancellation: None,
    }
}

fn list(chat: &mut ChatHarness, tasks: Vec<LeftTask>) {
    chat.engine_event(Event::LeftTasksListed(Arc::new(tasks)));
}

fn running() -> LeftTaskState {
    let status = Some("working: frame 12\u{1b}[2J\nof 70".to_owned());
    LeftTaskState::Running { status }
}

fn task_command(command: LeftTaskCommand) -> Command {
    Command::LeftTask(command)
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
    let leave = task_command(LeftTaskCommand::Leave(CallId(2)));
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
    let leave = |call| task_command(LeftTaskCommand::Leave(CallId(call)));
    assert_eq!(chat.commands(), [leave(3)]);
    chat.keys("<Alt+l>");
    assert!(chat.screen().contains("Running tasks"));
    assert!(!chat.screen().contains("1  convert-1"), "it is not a task");
    chat.keys("1");
    assert_eq!(chat.commands(), [leave(2)]);
}

#[test]
fn enter_sends_a_prompt_with_the_result_of_a_left_task() {
    let mut chat = chat();
    list(
        &mut chat,
        vec![task(1, running()), task(2, LeftTaskState::Succeeded)],
    );
    assert!(
        chat.screen().contains("2 tasks, 1 ended"),
        "{}",
        chat.screen()
    );
    chat.keys("/tasks<Enter>");
    assert_eq!(chat.commands(), [task_command(LeftTaskCommand::List)]);
    let screen = chat.screen();
    assert!(screen.contains("working: frame 12"), "{screen}");
    assert!(screen.contains("3 min"), "{screen}");
    assert!(screen.contains("film-1.m"), "{screen}");
    assert!(!screen.contains(['\u{1b}', '\u{202e}']), "{screen}");
    chat.keys("<Down><Enter>");
    let [Command::Submit { prompt, .. }] = &chat.commands()[..] else {
        panic!("expected one prompt");
    };
    assert_eq!(prompt.left_task, Some(LeftTaskId(2)));
    // A turn runs now.
    chat.keys("/tasks<Enter>");
    chat.commands();
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), []);
    assert!(
        chat.notice().starts_with("A turn is running."),
        "{}",
        chat.notice()
    );
}

#[test]
fn letters_cancel_remove_and_follow_tasks() {
    let lost = LeftTaskState::NotFollowed {
        why: "Server `films` is switched off.".to_owned(),
    };
    let mut chat = chat();
    list(&mut chat, vec![task(1, running()), task(2, lost)]);
    chat.keys("/tasks<Enter><Tab>");
    chat.commands();
    chat.keys("c");
    assert_eq!(
        chat.commands(),
        [task_command(LeftTaskCommand::Cancel(LeftTaskId(1)))]
    );
    chat.keys("d");
    assert_eq!(
        chat.commands(),
        [task_command(LeftTaskCommand::Remove(LeftTaskId(1)))]
    );
    chat.keys("<Down>r");
    assert_eq!(
        chat.commands(),
        [task_command(LeftTaskCommand::Follow(LeftTaskId(2)))]
    );
    chat.keys("<Enter>");
    assert_eq!(chat.commands(), []);
    assert!(
        chat.notice().contains("is switched off"),
        "{}",
        chat.notice()
    );
}
