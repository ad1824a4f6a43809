//! Tasks of a real child process, in both eras.

use super::hub_harness::{HubHarness, failed, succeeded};
use humble::domain::{ServerRequestReply, ServerTask, TaskProtocol, ToolOutcome};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const BEHAVIORS: [(&str, TaskProtocol); 2] = [
    ("tasks-legacy", TaskProtocol::Legacy),
    ("tasks-modern", TaskProtocol::Extension),
];

fn requests(harness: &HubHarness) -> Vec<String> {
    let stderr = harness.server().stderr.into_iter();
    stderr
        .filter(|line| line.starts_with("tools/call") || line.starts_with("tasks/"))
        .collect()
}

#[tokio::test]
async fn a_task_is_followed_until_it_has_a_result() {
    for (behavior, protocol) in BEHAVIORS {
        let mut harness = HubHarness::start_connected(behavior).await;
        let started = Instant::now();
        let text = succeeded(harness.call("render", json!({})).await);
        assert_eq!(text, "render is done", "{behavior}");
        // The server suggests an interval of 0 ms, but the client waits at least 200 ms between polls.
        assert!(started.elapsed() >= Duration::from_millis(600));
        let task = ServerTask::new("render", protocol).expect("a valid id");
        assert_eq!(harness.tasks, [task]);
        let messages = harness
            .progress
            .iter()
            .map(|progress| progress.message.as_deref());
        assert_eq!(messages.flatten().next(), Some("working: page 3 of 7"));
        let expected: &[&str] = match protocol {
            TaskProtocol::Legacy => &[
                r#"tools/call render {"ttl":100000}"#,
                "tasks/get render working",
                "tasks/get render working",
                "tasks/get render completed",
                "tasks/result render",
            ],
            TaskProtocol::Extension => &[
                "tools/call render null",
                "tasks/get render working",
                "tasks/get render working",
                "tasks/get render completed",
            ],
        };
        harness.wait_for_stderr("completed").await;
        assert_eq!(requests(&harness), expected);
        harness.close().await;
    }
}

#[tokio::test]
async fn a_failed_task_reports_the_error_of_the_call() {
    for (behavior, _) in BEHAVIORS {
        let mut harness = HubHarness::start_connected(behavior).await;
        let text = failed(harness.call("fails", json!({})).await);
        assert_eq!(text, "no disk (JSON-RPC error -32000)", "{behavior}");
        harness.close().await;
    }
}

#[tokio::test]
async fn the_user_answers_a_task_that_needs_input() {
    for (behavior, protocol) in BEHAVIORS {
        let mut harness = HubHarness::start_connected(behavior).await;
        let values = json!({ "name": "Ada" });
        let accepted = values.as_object().cloned().expect("an object");
        harness.reply_with = Some(ServerRequestReply::Accepted(accepted));
        let text = succeeded(harness.call("asks", json!({})).await);
        let answer = json!({ "action": "accept", "content": values });
        let expected = match protocol {
            TaskProtocol::Legacy => answer,
            TaskProtocol::Extension => json!({ "name": answer }),
        };
        assert_eq!(text, expected.to_string(), "{behavior}");
        assert_eq!(harness.requests.len(), 1, "the user is asked once");
        harness.close().await;
    }
}

#[tokio::test]
async fn a_request_that_a_task_repeats_after_the_answer_is_not_shown_again() {
    let mut harness = HubHarness::start_connected("tasks-modern").await;
    let accepted = json!({ "name": "Ada" }).as_object().cloned();
    harness.reply_with = accepted.map(ServerRequestReply::Accepted);
    let text = succeeded(harness.call("asks-on", json!({})).await);
    assert!(text.contains("Ada"), "{text}");
    let states = requests(&harness).into_iter();
    let asking = states.filter(|line| *line == "tasks/get asks-on input_required");
    assert!(asking.count() >= 3, "{:?}", requests(&harness));
    assert_eq!(harness.requests.len(), 1, "the user is asked once");
    harness.close().await;
}

#[tokio::test]
async fn an_interrupted_call_cancels_its_task_without_waiting() {
    for (behavior, _) in BEHAVIORS {
        let mut harness = HubHarness::start_connected(behavior).await;
        let cancel = CancellationToken::new();
        let request = harness.call_request("forever", json!({}));
        let call = tokio::spawn(harness.hub.call(request, cancel.clone()));
        harness.wait_for_stderr("tasks/get forever").await;
        let cancelled_at = Instant::now();
        cancel.cancel();
        let outcome = call.await.expect("the call does not panic");
        assert_eq!(outcome, ToolOutcome::Interrupted);
        assert!(cancelled_at.elapsed() < Duration::from_millis(100));
        harness.wait_for_stderr(r#"tasks/cancel "forever""#).await;
        harness.close().await;
    }
}

#[tokio::test]
async fn a_task_of_an_earlier_run_is_followed_without_a_call() {
    for (behavior, protocol) in BEHAVIORS {
        let mut harness = HubHarness::start_connected(behavior).await;
        let mut request = harness.call_request("render", json!({}));
        request.task = Some(ServerTask::new("render", protocol).expect("a valid id"));
        let outcome = harness.run_call(request, CancellationToken::new()).await;
        assert_eq!(succeeded(outcome), "render is done");
        harness.wait_for_stderr("completed").await;
        let calls = requests(&harness).into_iter();
        assert_eq!(
            calls.filter(|line| line.starts_with("tools/call")).count(),
            0
        );
        harness.close().await;
    }
}
