//! The folders that servers may ask for, against a real child process in both eras.

use super::hub_harness::{HubHarness, succeeded, test_server_config};
use serde_json::json;
use std::path::PathBuf;

#[tokio::test]
async fn a_server_of_either_era_gets_the_roots() {
    for behavior in ["asks-legacy", "asks-modern"] {
        let config = test_server_config(behavior);
        let mut harness = HubHarness::connect_with_roots(config, &["/srv/my files"]).await;
        let roots = json!({ "roots": [{ "uri": "file:///srv/my%20files", "name": "my files" }] });
        let text = succeeded(harness.call("roots", json!({})).await);
        let (expected, capability) = match behavior {
            "asks-modern" => (
                format!("{} state unchanged: true", json!({ "only": roots })),
                r#""roots":{}"#,
            ),
            _ => (roots.to_string(), r#""roots":{"listChanged":true}"#),
        };
        assert_eq!(text, expected, "{behavior}");
        harness.wait_for_stderr(capability).await;
        assert_eq!(harness.requests, [], "the user is not asked");
        harness.close().await;
    }
}

#[tokio::test]
async fn changed_roots_are_announced_in_the_legacy_era_and_shown_with_the_server() {
    for behavior in ["asks-legacy", "asks-modern"] {
        let config = test_server_config(behavior);
        let mut harness = HubHarness::connect_with_roots(config, &["/a"]).await;
        assert_eq!(*harness.server().roots, [PathBuf::from("/a")]);
        harness.set_roots(&["/a"]);
        harness.set_roots(&["/b"]);
        harness
            .wait_for(|server| *server.roots == [PathBuf::from("/b")])
            .await;
        let text = succeeded(harness.call("roots", json!({})).await);
        assert!(text.contains("file:///b"), "{text}");
        let lines = harness.server().stderr;
        let count = lines.iter().filter(|line| *line == "roots changed").count();
        assert_eq!(count, usize::from(behavior == "asks-legacy"), "{lines:?}");
        harness.close().await;
    }
}

#[tokio::test]
async fn roots_set_during_a_connection_are_declared_only_at_a_reconnection() {
    let mut harness = HubHarness::start_connected("asks-legacy").await;
    harness.wait_for_stderr("capabilities {").await;
    harness.set_roots(&["/late"]);
    // A notification would have arrived before this call.
    succeeded(harness.call("idle", json!({})).await);
    let lines = harness.server().stderr;
    assert!(
        !lines.iter().any(|line| line.contains("roots")),
        "{lines:?}"
    );
    assert!(
        harness.server().roots.is_empty(),
        "the server never received the roots"
    );
    harness.hub.reconnect(&"test".into());
    harness
        .wait_for_stderr(r#""roots":{"listChanged":true}"#)
        .await;
    harness.close().await;
}
