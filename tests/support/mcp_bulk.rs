//! Servers that say much, say things twice, and say them to nobody.

use super::mcp_desk::{Desk, succeeded, unreachable_because};
use humble::domain::ToolOutcome;
use serde_json::json;

#[tokio::test]
async fn long_lines_arrive_whole_and_too_long_ones_end_the_session() {
    let mut desk = Desk::with("").await;
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
async fn the_first_answer_counts_and_those_to_nobody_do_not() {
    let mut desk = Desk::with("").await;
    for _ in 0..3 {
        let said = desk.call("twice", json!({})).await;
        assert_eq!(succeeded(said), "first");
    }
    let sum = desk.call("add", json!({ "a": 1, "b": 1 })).await;
    assert!(matches!(sum, ToolOutcome::Succeeded { .. }));
    desk.close().await;
}
