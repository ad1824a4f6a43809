//! Servers whose tasks misbehave, on a paused clock. An in-memory server replaces the built-in one.

use super::fixtures::server_config;
use super::hub_harness::{failed, unreachable_because};
use crate::support::in_memory_server::InMemoryServer;
use humble::domain::{Arguments, CallId, LaunchConfig, ServerId, ToolOutcome, ToolProgress};
use humble::mcp::{Hub, HubEvent, McpCall};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A server that answers a call of `work` with this task.
pub fn server(task: Value) -> InMemoryServer {
    InMemoryServer::default().with_result("work", task)
}

/// The answer to a call that becomes the task `t`.
fn created(poll_interval: Value) -> Value {
    json!({
        "resultType": "task", "taskId": "t", "status": "working", "pollIntervalMs": poll_interval,
    })
}

fn state(status: &str) -> Value {
    json!({ "taskId": "t", "status": status })
}

/// Calls `work`. Returns the outcome, the elapsed time and the reported progress.
pub async fn run(server: &InMemoryServer) -> (ToolOutcome, Duration, Vec<ToolProgress>) {
    let (sender, mut events) = mpsc::channel(64);
    let mut hub = Hub::new(sender, Arc::new(server.clone()));
    hub.configure(vec![server_config("workshop", LaunchConfig::BuiltIn)]);
    let call = McpCall {
        id: CallId(1),
        server: ServerId::new("workshop"),
        tool: "work".to_owned(),
        arguments: Arguments::new(),
        pin: None,
        task: None,
    };
    let started = Instant::now();
    let mut progress = Vec::new();
    let call = hub.call(call, CancellationToken::new());
    tokio::pin!(call);
    let outcome = loop {
        tokio::select! {
            outcome = &mut call => break outcome,
            event = events.recv() => {
                if let Some(HubEvent::Progress { progress: newest, .. }) = event {
                    progress.push(newest);
                }
            }
        }
    };
    let elapsed = started.elapsed();
    // Give the server time to read messages that the client did not wait for, such as cancellations.
    tokio::time::sleep(Duration::from_secs(1)).await;
    hub.shutdown().await;
    (outcome, elapsed, progress)
}

#[tokio::test(start_paused = true)]
async fn an_endless_task_is_cancelled_at_the_hard_limit() {
    for (interval, requests_max) in [(json!(0), 500), (json!(1e12), 5), (json!("soon"), 100)] {
        let server = server(created(interval.clone())).with_answer("tasks/get", state("working"));
        let server = server.with_answer("tasks/cancel", json!({}));
        let (outcome, elapsed, _) = run(&server).await;
        assert!(
            matches!(outcome, ToolOutcome::TimedOut { .. }),
            "{outcome:?}"
        );
        // Ten times the timeout of 10 s.
        assert_eq!(elapsed.as_secs(), 100, "{interval}");
        let requests = server.count("tasks/get");
        assert!(
            (requests_max / 2..=requests_max).contains(&requests),
            "{interval}: {requests}"
        );
        assert_eq!(server.count("tasks/cancel"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_poll_interval_does_not_delay_the_first_request_beyond_the_timeout() {
    let mut completed = state("completed");
    completed["result"] = json!({ "content": [{ "type": "text", "text": "soon" }] });
    let server = server(created(json!(1e12))).with_answer("tasks/get", completed);
    let (outcome, elapsed, _) = run(&server).await;
    assert_eq!(super::succeeded(outcome), "soon");
    // Half of the timeout of 10 s.
    assert_eq!(elapsed.as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn tasks_with_unusable_ids_are_not_followed() {
    for (id, why) in [
        (
            json!("x".repeat(10 << 20)),
            "its id is 10485760 bytes long, more than 1024",
        ),
        (json!("t\u{1b}[2J"), "its id contains control characters"),
        (json!(""), "its id is empty"),
        (json!(7), "it has no id"),
    ] {
        let server = server(json!({ "resultType": "task", "taskId": id, "status": "working" }));
        let (outcome, ..) = run(&server).await;
        let text = failed(outcome);
        assert_eq!(
            text,
            format!(
                "The server runs the call as a task that cannot be followed: {why}. Its result is lost."
            )
        );
        assert_eq!(server.requested_methods(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_know_its_task_is_asked_only_once() {
    let server = server(created(json!(null))).with_answer("tasks/get", json!({ "error": -32602 }));
    let (outcome, elapsed, _) = run(&server).await;
    assert_eq!(
        failed(outcome),
        "The server no longer recognizes the task: no such task (JSON-RPC error -32602). \
         Its result is lost."
    );
    assert_eq!((server.count("tasks/get"), elapsed.as_secs()), (1, 1));
    assert_eq!(
        server.count("tasks/cancel"),
        0,
        "there is nothing to cancel"
    );
}

#[tokio::test(start_paused = true)]
async fn refused_answers_do_not_make_a_task_unknown() {
    let mut asks = state("input_required");
    // The hub answers this request without a question: it declares no roots.
    asks["inputRequests"] = json!({ "folders": { "method": "roots/list" } });
    let server = server(created(json!(null)))
        .with_answer("tasks/get", asks)
        .with_answer("tasks/update", json!({ "error": -32602 }));
    let (outcome, _, progress) = run(&server).await;
    assert_eq!(
        failed(outcome),
        "The server's task could not be followed: no such task (JSON-RPC error -32602). \
         It is not known whether the task still runs."
    );
    assert_eq!(server.count("tasks/update"), 6);
    let messages = progress.iter();
    let mut messages = messages.filter_map(|progress| progress.message.as_deref());
    let why = "asking again in 2 s (1 of 5): no such task (JSON-RPC error -32602)";
    assert!(messages.any(|message| message == why), "{progress:?}");
}

#[tokio::test(start_paused = true)]
async fn failed_requests_are_repeated_visibly_and_abandoned_after_six() {
    let server = server(created(json!(null))).with_answer("tasks/get", json!({ "error": -32603 }));
    let (outcome, elapsed, progress) = run(&server).await;
    assert_eq!(
        failed(outcome),
        "The server's task could not be followed: no such task (JSON-RPC error -32603). \
         It is not known whether the task still runs."
    );
    assert_eq!((server.count("tasks/get"), elapsed.as_secs()), (6, 61));
    let messages = progress
        .iter()
        .filter_map(|progress| progress.message.as_deref());
    let why = "no such task (JSON-RPC error -32603)";
    let retry = |pause: u64, count: u64| format!("asking again in {pause} s ({count} of 5): {why}");
    let expected = [
        retry(2, 1),
        retry(4, 2),
        retry(8, 3),
        retry(16, 4),
        retry(30, 5),
    ];
    assert_eq!(messages.skip(1).collect::<Vec<_>>(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_task_survives_one_failed_request() {
    let server = server(created(json!(null))).with_answer("tasks/get", json!({ "error": -32603 }));
    let repair = {
        let server = server.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            let result = json!({ "content": [{ "type": "text", "text": "late" }] });
            let mut completed = state("completed");
            completed["result"] = result;
            server.set_answer("tasks/get", completed);
        }
    };
    let ((outcome, elapsed, _), ()) = tokio::join!(run(&server), repair);
    assert_eq!(super::succeeded(outcome), "late");
    assert_eq!((server.count("tasks/get"), elapsed.as_secs()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn unanswered_requests_about_a_task_are_abandoned() {
    let silent = server(created(json!(null))).with_answer("tasks/get", Value::Null);
    let (outcome, elapsed, _) = run(&silent).await;
    // The hard limit of 100 s comes first.
    assert!(
        matches!(outcome, ToolOutcome::TimedOut { .. }),
        "{outcome:?}"
    );
    assert!(elapsed < Duration::from_secs(130), "{elapsed:?}");

    let task = json!({ "task": { "taskId": "t", "status": "completed" } });
    let silent = server(task)
        .with_answer("tasks/get", json!({ "error": -32602 }))
        .with_answer("tasks/result", Value::Null);
    let (outcome, ..) = run(&silent).await;
    let text = match outcome {
        ToolOutcome::Failed { text, .. } => text,
        outcome => unreachable_because(outcome),
    };
    assert!(text.ends_with("Its result is lost."), "{text}");
    assert_eq!(silent.count("tasks/cancel"), 0, "the task is over");
}

#[tokio::test(start_paused = true)]
async fn every_unsuccessful_end_of_a_task_is_explained_to_the_model() {
    let cancelled = json!({ "status": "cancelled", "statusMessage": "Quota exceeded." });
    let ending_with = |result_type: &str| {
        let mut completed = state("completed");
        completed["result"] = json!({ "resultType": result_type, "taskId": "u" });
        completed
    };
    for (answer, expected) in [
        (cancelled, "The server cancelled the task: Quota exceeded."),
        (state("cancelled"), "The server cancelled the task."),
        (
            state("completed"),
            "The server reports the task as completed, but sent no result.",
        ),
        (
            ending_with("task"),
            "The server's task ended with another task instead of a tool result.",
        ),
        (
            ending_with("input_required"),
            "The server's task ended with a request for input instead of a tool result.",
        ),
        (state("failed"), "The task failed."),
        (
            state("exploded"),
            "The server's task could not be followed: it reports the unknown status `exploded`. \
             It is not known whether the task still runs.",
        ),
        (
            json!([1, 2]),
            "The server's task could not be followed: it reports no status. \
             It is not known whether the task still runs.",
        ),
    ] {
        let server = server(created(json!(null))).with_answer("tasks/get", answer);
        let (outcome, ..) = run(&server).await;
        assert_eq!(failed(outcome), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn status_messages_become_progress_and_are_truncated() {
    let working = json!({ "status": "working", "statusMessage": "x".repeat(1 << 20) });
    let server = server(created(json!(50_000))).with_answer("tasks/get", working);
    let (_, _, progress) = run(&server).await;
    let lengths = progress
        .iter()
        .map(|progress| progress.message.as_ref().map(String::len));
    assert_eq!(
        lengths.collect::<Vec<_>>()[..2],
        [Some("working".len()), Some(240)]
    );
}
