//! Servers that say much, say things twice, and say them to nobody.

use super::hub_harness::{HubHarness, succeeded, unreachable_because};
use crate::support::fixtures::{self};
use humble::domain::ToolOutcome;
use serde_json::json;

#[tokio::test]
async fn long_lines_arrive_whole_and_too_long_ones_end_the_session() {
    let mut desk = HubHarness::start_connected("").await;
    for megabytes in [17, 60] {
        let bytes = megabytes << 20;
        let text = succeeded(desk.call("big", json!({ "bytes": bytes })).await);
        assert_eq!(text.len(), bytes);
    }
    let outcome = desk.call("big", json!({ "bytes": 65 << 20 })).await;
    let why = unreachable_because(outcome);
    assert!(why.contains("a line longer than 64 MB"), "{why}");
    let sum = desk.call("add", json!({ "a": 1, "b": 1 })).await;
    assert_eq!(succeeded(sum), "2");
    desk.close().await;
}

#[tokio::test]
async fn a_servers_log_stands_with_what_it_writes_to_stderr() {
    let mut desk = HubHarness::start_connected("").await;
    desk.call("log", json!({})).await;
    desk.wait_for_stderr(r#"[warning db] {"a":1}"#).await;
    let said = desk.server().stderr;
    assert!(
        said.ends_with(&["[warning db] 글", "둘", r#"[warning db] {"a":1}"#].map(str::to_owned)),
        "{said:?}"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_server_that_reports_a_change_on_every_list_is_throttled() {
    let mut desk = HubHarness::start_connected("changes-when-listed").await;
    let listed = |server: &humble::domain::Server| {
        server
            .stderr
            .iter()
            .filter(|line| *line == "listed")
            .count()
    };
    // The pauses double: 0.2, 0.4, 0.8, 1.6 seconds.
    let since = std::time::Instant::now();
    desk.wait_for(|server| listed(server) >= 5).await;
    assert!(since.elapsed().as_secs_f32() > 2.5, "{:?}", since.elapsed());
    desk.close().await;
}

/// It sends pings without pause and reads nothing meanwhile.
#[tokio::test]
async fn a_server_that_asks_without_pause_is_ended_and_holds_up_nobody() {
    let mut desk = HubHarness::start(vec![
        super::hub_harness::test_server_config(""),
        fixtures::server_config(
            "other",
            fixtures::stdio(&super::hub_harness::test_server_path(), &[""], &[]),
        ),
    ]);
    let is_connected =
        |server: &humble::domain::Server| server.status == humble::domain::ServerStatus::Connected;
    desk.wait_for(is_connected).await;
    let since = std::time::Instant::now();
    let why = unreachable_because(desk.call("ping", json!({})).await);
    assert!(
        why.contains("stopped reading") || why.contains("without pause"),
        "{why}"
    );
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
    desk.close().await;
}

#[tokio::test]
async fn the_first_answer_counts_and_unsolicited_ones_are_ignored() {
    let mut desk = HubHarness::start_connected("").await;
    let said = desk.call("batch", json!({})).await;
    assert_eq!(succeeded(said), "batched");
    desk.wait_for_stderr(r#""id":"b""#).await;
    for _ in 0..3 {
        let said = desk.call("twice", json!({})).await;
        assert_eq!(succeeded(said), "first");
    }
    let sum = desk.call("add", json!({ "a": 1, "b": 1 })).await;
    assert!(matches!(sum, ToolOutcome::Succeeded { .. }));
    desk.close().await;
}
