//! Servers that send too much, repeat messages or send unsolicited ones.

use super::hub_harness::{HubHarness, succeeded, unreachable_because};
use crate::support::fixtures;
use humble::domain::ToolOutcome;
use serde_json::json;

#[tokio::test]
async fn long_lines_arrive_intact_and_overlong_ones_end_the_session() {
    let mut harness = HubHarness::start_connected("").await;
    for megabytes in [17, 60] {
        let bytes = megabytes << 20;
        let text = succeeded(harness.call("big", json!({ "bytes": bytes })).await);
        assert_eq!(text.len(), bytes);
    }
    let outcome = harness.call("big", json!({ "bytes": 65 << 20 })).await;
    let reason = unreachable_because(outcome);
    assert!(reason.contains("a line longer than 64 MB"), "{reason}");
    let sum = harness.call("add", json!({ "a": 1, "b": 1 })).await;
    assert_eq!(succeeded(sum), "2");
    harness.close().await;
}

#[tokio::test]
async fn log_messages_are_listed_with_the_stderr_lines() {
    let mut harness = HubHarness::start_connected("").await;
    harness.call("log", json!({})).await;
    harness.wait_for_stderr(r#"[warning db] {"a":1}"#).await;
    let output = harness.server().stderr;
    assert!(
        output.ends_with(&["[warning db] 글", "둘", r#"[warning db] {"a":1}"#].map(str::to_owned)),
        "{output:?}"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_server_that_reports_a_change_on_every_list_is_throttled() {
    let mut harness = HubHarness::start_connected("changes-when-listed").await;
    let list_count = |server: &humble::domain::Server| {
        server
            .stderr
            .iter()
            .filter(|line| *line == "listed")
            .count()
    };
    // The delays before re-listing double: 0.2, 0.4, 0.8, 1.6 seconds.
    let started = std::time::Instant::now();
    harness.wait_for(|server| list_count(server) >= 5).await;
    assert!(
        started.elapsed().as_secs_f32() > 2.5,
        "{:?}",
        started.elapsed()
    );
    harness.close().await;
}

/// The server sends pings nonstop and never reads the replies.
#[tokio::test]
async fn a_request_flood_ends_the_session_promptly() {
    let mut harness = HubHarness::start(vec![
        super::hub_harness::test_server_config(""),
        fixtures::server_config(
            "other",
            fixtures::stdio(&super::hub_harness::test_server_path(), &[""], &[]),
        ),
    ]);
    let is_connected =
        |server: &humble::domain::Server| server.status == humble::domain::ServerStatus::Connected;
    harness.wait_for(is_connected).await;
    let started = std::time::Instant::now();
    let reason = unreachable_because(harness.call("ping", json!({})).await);
    assert!(
        reason.contains("stopped reading") || reason.contains("too many requests"),
        "{reason}"
    );
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    harness.close().await;
}

#[tokio::test]
async fn only_the_first_response_counts_and_unsolicited_ones_are_ignored() {
    let mut harness = HubHarness::start_connected("").await;
    let output = harness.call("batch", json!({})).await;
    assert_eq!(succeeded(output), "batched");
    harness.wait_for_stderr(r#""id":"b""#).await;
    for _ in 0..3 {
        let output = harness.call("twice", json!({})).await;
        assert_eq!(succeeded(output), "first");
    }
    let sum = harness.call("add", json!({ "a": 1, "b": 1 })).await;
    assert!(matches!(sum, ToolOutcome::Succeeded { .. }));
    harness.close().await;
}
