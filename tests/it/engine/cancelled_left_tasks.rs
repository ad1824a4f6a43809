//! Cancelling a task that the user left running: it stays listed until its server reports its end.

use super::journal::kill_engine;
use super::left_tasks::{leave, notices, task_command, task_files, wait_for_list};
use super::tasks::{WORK_CALL, complete_task, home, server};
use super::*;
use crate::support::in_memory_server::InMemoryServer;
use humble::domain::{LeftTask, LeftTaskState, TaskCancellation};
use humble::protocol::LeftTaskCommand;
use std::path::PathBuf;

/// Leaves a task and cancels it on a server that answers like this.
async fn cancel(server: &InMemoryServer) -> EngineHarness {
    let mut harness = leave(home(), server, Script::default().answer(WORK_CALL)).await;
    let list = wait_for_list(&mut harness, "the task", |list| !list.is_empty()).await;
    harness
        .send(task_command(LeftTaskCommand::Cancel(list[0].id)))
        .await;
    harness
}

fn is_cancelling(wanted: fn(&TaskCancellation) -> bool) -> impl Fn(&[LeftTask]) -> bool {
    move |list| {
        let cancellation = list.first().and_then(|task| task.cancellation.as_ref());
        cancellation.is_some_and(wanted)
    }
}

/// Waits for a minute, and checks that the task is polled all the time.
async fn assert_polled(server: &InMemoryServer) {
    let polls = server.count("tasks/get");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let polls = server.count("tasks/get") - polls;
    assert!((50..=70).contains(&polls), "{polls}");
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_server_ignores_the_cancellation_keeps_its_result() {
    let server = server().with_answer("tasks/cancel", json!({}));
    let mut harness = cancel(&server).await;
    let is_requested = is_cancelling(|state| *state == TaskCancellation::Requested);
    wait_for_list(&mut harness, "the cancellation", is_requested).await;
    let notice = "Task `work` of server `humble` is being cancelled.";
    harness
        .wait_for("the notice", |event| {
            matches!(event, Event::NoticePosted(posted) if posted.summary().starts_with(notice))
        })
        .await;
    assert_polled(&server).await;
    complete_task(&server);
    let succeeded = |list: &[LeftTask]| {
        list.iter()
            .any(|task| task.state == LeftTaskState::Succeeded)
    };
    let list = wait_for_list(&mut harness, "the result", succeeded).await;
    assert_eq!(list[0].cancellation, None);
    assert_eq!(server.count("tasks/cancel"), 1);
    let home = harness.shut_down().await;
    assert_eq!(task_files(&home).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_cancellation_was_refused_is_polled_until_the_user_removes_it() {
    let server = server().with_answer("tasks/cancel", json!({ "error": -32000 }));
    let mut harness = cancel(&server).await;
    let is_refused = is_cancelling(|state| matches!(state, TaskCancellation::Refused { .. }));
    let list = wait_for_list(&mut harness, "the refusal", is_refused).await;
    let why = "no such task (JSON-RPC error -32000)".to_owned();
    assert_eq!(
        list[0].cancellation,
        Some(TaskCancellation::Refused { why })
    );
    assert_polled(&server).await;
    harness
        .send(task_command(LeftTaskCommand::Remove(list[0].id)))
        .await;
    wait_for_list(&mut harness, "the empty list", <[LeftTask]>::is_empty).await;
    let notices = notices(&harness);
    let expected = "Task `work` of server `humble` could not be cancelled: no such task \
                    (JSON-RPC error -32000). It may still run.";
    assert!(notices.contains(expected), "{notices}");
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_without_an_answer_does_not_stop_the_polling() {
    let server = server().with_answer("tasks/cancel", serde_json::Value::Null);
    let mut harness = cancel(&server).await;
    let is_unanswered = is_cancelling(|state| matches!(state, TaskCancellation::Unanswered { .. }));
    let list = wait_for_list(&mut harness, "the timeout", is_unanswered).await;
    let why = "no answer within 30 s".to_owned();
    assert_eq!(
        list[0].cancellation,
        Some(TaskCancellation::Unanswered { why })
    );
    assert_polled(&server).await;
    harness.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_leaves_the_list_once_its_server_has_confirmed_it() {
    let server = server().with_answer("tasks/cancel", json!({}));
    let mut harness = cancel(&server).await;
    let is_requested = is_cancelling(|state| *state == TaskCancellation::Requested);
    wait_for_list(&mut harness, "the cancellation", is_requested).await;
    server.set_answer("tasks/get", json!({ "taskId": "t", "status": "cancelled" }));
    wait_for_list(&mut harness, "the empty list", <[LeftTask]>::is_empty).await;
    let notices = notices(&harness);
    let expected = "Task `work` of server `humble` has ended. The server cancelled the task.";
    assert!(notices.contains(expected), "{notices}");
    let home = harness.shut_down().await;
    assert_eq!(task_files(&home), Vec::<PathBuf>::new());
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_a_task_is_still_listed_as_being_cancelled() {
    let first = server().with_answer("tasks/cancel", json!({}));
    let mut harness = cancel(&first).await;
    let is_requested = || is_cancelling(|state| *state == TaskCancellation::Requested);
    wait_for_list(&mut harness, "the cancellation", is_requested()).await;
    let is_saved = |path: PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.contains("\"cancelling\":true")
    };
    for _ in 0..1_000 {
        if task_files(&harness.home).into_iter().any(is_saved) {
            break;
        }
        // The file is written on another thread, which takes real time.
        std::thread::sleep(Duration::from_millis(10));
        tokio::task::yield_now().await;
    }
    let home = kill_engine(harness).await;
    let second = server();
    let mut harness = EngineHarness::start_in_with_server(home, Script::default(), &second).await;
    wait_for_list(&mut harness, "the task", is_requested()).await;
    assert_eq!(second.count("tasks/cancel"), 0);
    // The server has done it meanwhile, so the task ends as the user wanted.
    second.set_answer("tasks/get", json!({ "taskId": "t", "status": "cancelled" }));
    wait_for_list(&mut harness, "the empty list", <[LeftTask]>::is_empty).await;
    let notices = notices(&harness);
    assert!(notices.contains("has ended"), "{notices}");
    let home = harness.shut_down().await;
    assert_eq!(task_files(&home), Vec::<PathBuf>::new());
}
