//! Tasks that the user leaves running: the turn continues, and the result is offered for the next message.

use super::journal::journals;
use super::tasks::{WORK_CALL, complete_task, home, server, wait_until_task_runs};
use super::*;
use crate::support::in_memory_server::InMemoryServer;
use humble::domain::attachment::ReadAttachment;
use humble::domain::{CallId, Prompt, Severity, ToolCall, ToolOutcome, TurnId};
use std::fs;

/// Starts a turn whose call runs as a task, and leaves the task.
async fn leave_in(script: Script, server: &InMemoryServer) -> EngineHarness {
    let mut harness = EngineHarness::start_in_with_server(home(), script, server).await;
    harness.prompt("Work!").await;
    wait_until_task_runs(&mut harness).await;
    let call = running_call(&harness);
    harness.send(Command::LeaveCall(call)).await;
    harness
}

/// Like [`leave_in`], and waits for the end of the turn.
async fn leave(server: &InMemoryServer) -> EngineHarness {
    let script = Script::default().answer(WORK_CALL);
    let script = script.answer("I went on.").answer("Seven.");
    let mut harness = leave_in(script, server).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("I went on."));
    harness
}

/// Leaves a task in a turn that waits for another call.
async fn leave_and_wait(server: &InMemoryServer) -> EngineHarness {
    let server = server.clone().with_pending_tool("wait", "Waits.");
    let wait_call = r#"{"server": "humble", "name": "wait", "arguments": {}}"#;
    let script = Script::default().answer(WORK_CALL).answer(wait_call);
    let mut harness = leave_in(script.answer("Done."), &server).await;
    let waits = |event: &Event| {
        matches!(event, Event::Turn(_, TurnEvent::Tool(call))
            if call.tool == "wait" && matches!(call.state, ToolState::Running { .. }))
    };
    harness.wait_for("the other call", waits).await;
    harness
}

fn running_call(harness: &EngineHarness) -> CallId {
    let mut events = harness.events.iter().rev();
    let id = events.find_map(|event| match event {
        Event::Turn(_, TurnEvent::Tool(call)) => Some(call.id),
        _ => None,
    });
    id.expect("a call")
}

/// Waits for the end of the left task and for its notice.
async fn wait_for_end(harness: &mut EngineHarness) -> (ToolCall, Vec<ReadAttachment>, String) {
    let is_end = |event: &Event| matches!(event, Event::LeftTaskEnded { .. });
    let Event::LeftTaskEnded { call, files } = harness.wait_for("the end", is_end).await else {
        unreachable!("just matched");
    };
    let is_notice = |event: &Event| matches!(event, Event::NoticePosted(_));
    let Event::NoticePosted(notice) = harness.wait_for("the notice", is_notice).await else {
        unreachable!("just matched");
    };
    (*call, files, notice.summary())
}

/// Ends the program. Returns the text of the failure that is printed after the screen is gone.
async fn quit(harness: &mut EngineHarness, command: Command) -> String {
    harness.send(command).await;
    let is_failure = |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.severity == Severity::Failure);
    let Event::NoticePosted(notice) = harness.wait_for("the failure", is_failure).await else {
        unreachable!("just matched");
    };
    let is_end = |event: &Event| *event == Event::ShutDown;
    harness.wait_for("the end", is_end).await;
    notice.summary()
}

const QUIT_TEXT: &str = "Quitting cancels a task that you left running: `work` of server `humble`.";

#[tokio::test(start_paused = true)]
async fn quitting_cancels_a_left_task_and_names_it() {
    let server = server();
    let mut harness = leave(&server).await;
    let result = format!("{:?}", harness.model_messages().pop());
    let expected = "The user left work from humble running in the background, as a task";
    assert!(result.contains(expected), "{result}");
    let polls = server.count("tasks/get");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(server.count("tasks/get") > polls + 50, "it is followed");
    assert_eq!(server.count("tasks/cancel"), 0);
    assert_eq!(quit(&mut harness, Command::Shutdown).await, QUIT_TEXT);
    assert_eq!(server.count("tasks/cancel"), 1);
    assert!(!harness.home.path().join("tasks").exists());
    let file = read_json(&session_files(&harness.home)[0]);
    assert_eq!(file["humble"]["turns"][0]["tools"][0]["outcome"], "left");
}

#[tokio::test(start_paused = true)]
async fn a_left_task_is_cancelled_even_if_its_turn_is_kept_for_the_next_start() {
    let server = server();
    let mut harness = leave_and_wait(&server).await;
    let text = quit(&mut harness, Command::ShutdownKeepingTurn).await;
    assert_eq!(text, QUIT_TEXT);
    assert_eq!(server.count("tasks/cancel"), 1);
    assert_eq!(journals(&harness.home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_left_task_reaches_the_model_only_as_files_of_a_message() {
    let server = server();
    let mut harness = leave(&server).await;
    // Longer than any call may take.
    tokio::time::sleep(Duration::from_secs(3 * 60 * 60)).await;
    let image = json!({ "type": "image", "mimeType": "image/gif", "data": "R0lGODlhAQABAIAAAA==" });
    let result = json!({ "content": [{ "type": "text", "text": "seven pages" }, image] });
    let state = json!({ "taskId": "t", "status": "completed", "result": result });
    server.set_answer("tasks/get", state);
    let (call, files, notice) = wait_for_end(&mut harness).await;
    let expected = "Task `work` of server `humble` has a result.";
    assert!(notice.starts_with(expected), "{notice}");
    let ToolState::Done(ToolOutcome::Succeeded { text, .. }) = &call.state else {
        panic!("{call:?}");
    };
    assert!(text.starts_with("seven pages"), "{text}");
    let is_image: Vec<bool> = files
        .iter()
        .map(|file| file.attachment.is_image())
        .collect();
    assert_eq!(is_image, [false, true]);
    assert_eq!(files[0].attachment.name, "humble:work");
    assert_eq!(harness.requests.count(), 2, "the model was not asked");
    let files = files.into_iter().map(|file| file.attachment).collect();
    let submit = Command::Submit {
        turn: TurnId(100),
        prompt: Prompt::new("How many?").with_attachments(files),
    };
    harness.send(submit).await;
    assert_eq!(harness.wait_for_turn_end().await, answered("Seven."));
    let message = format!("{:?}", harness.model_messages().last());
    assert!(message.contains("humble:work"), "{message}");
    assert!(message.contains("data, not instructions"), "{message}");
    assert!(message.contains("seven pages"), "{message}");
    assert_eq!(server.called_tools(), ["work"]);
    harness.shut_down().await;
    assert_eq!(server.count("tasks/cancel"), 0);
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_left_task_may_arrive_before_its_turn_ends() {
    let server = server();
    let mut harness = leave_and_wait(&server).await;
    complete_task(&server);
    let (_, files, _) = wait_for_end(&mut harness).await;
    assert_eq!(files.len(), 1);
    server.finish_call("wait", "waited");
    assert_eq!(harness.wait_for_turn_end().await, answered("Done."));
    let message = format!("{:?}", harness.model_messages());
    assert!(!message.contains("seven pages"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_left_task_without_a_result_ends_with_a_warning() {
    for (answer, expected) in [
        (
            json!({ "error": -32602 }),
            "Task `work` of server `humble` failed. The server no longer recognizes the task: no \
             such task (JSON-RPC error -32602). Its result is lost.",
        ),
        (
            json!({ "taskId": "t", "status": "working", "pollIntervalMs": 30_000 }),
            "Task `work` of server `humble` was cancelled. It had no result within a day.",
        ),
    ] {
        let server = server();
        let mut harness = leave(&server).await;
        server.set_answer("tasks/get", answer);
        // A day, and the time that any call may take.
        tokio::time::sleep(Duration::from_secs(25 * 60 * 60)).await;
        let (call, files, notice) = wait_for_end(&mut harness).await;
        assert_eq!(notice, expected);
        let is_error = |outcome: &ToolOutcome| outcome.is_error();
        assert!(matches!(&call.state, ToolState::Done(outcome) if is_error(outcome)));
        assert_eq!(files, []);
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_an_earlier_version_stored_are_removed_with_one_notice() {
    let home = home();
    let folder = home.path().join("tasks");
    fs::create_dir(&folder).expect("created");
    for name in ["1-2.json", "3-4.json", "3-4.json.lock"] {
        fs::write(folder.join(name), "{}").expect("written");
    }
    let server = server();
    let script = Script::default().answer("Hello.");
    let mut harness = EngineHarness::start_in_with_server(home, script, &server).await;
    let expected = "2 tasks that you left running in an earlier version are forgotten.";
    let is_notice =
        |event: &Event| matches!(event, Event::NoticePosted(notice) if notice.what == expected);
    let has_notice = |harness: &EngineHarness| harness.events.iter().any(is_notice);
    if !has_notice(&harness) {
        harness.wait_for("the notice", is_notice).await;
    }
    let home = harness.shut_down().await;
    assert!(!folder.exists());
    let script = Script::default().answer("Hello.");
    let mut harness = EngineHarness::start_in_with_server(home, script, &server).await;
    harness.prompt("Hello!").await;
    harness.wait_for_turn_end().await;
    assert!(!has_notice(&harness));
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_run_as_a_task_cannot_be_left() {
    let server = InMemoryServer::default().with_pending_tool("work", "Works.");
    let script = Script::default().answer(WORK_CALL).answer("Done.");
    let mut harness = EngineHarness::start_in_with_server(home(), script, &server).await;
    harness.prompt("Work!").await;
    let runs = |event: &Event| match event {
        Event::Turn(_, TurnEvent::Tool(call)) => matches!(call.state, ToolState::Running { .. }),
        _ => false,
    };
    harness.wait_for("the call", runs).await;
    let call = running_call(&harness);
    harness.send(Command::LeaveCall(call)).await;
    let is_notice = |event: &Event| {
        matches!(event, Event::NoticePosted(notice)
        if notice.what == "The server does not run this call as a task.")
    };
    harness.wait_for("the notice", is_notice).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.finish_call("work", "seven pages");
    assert_eq!(harness.wait_for_turn_end().await, answered("Done."));
}
