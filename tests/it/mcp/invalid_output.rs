//! Servers that print text other than MCP messages, and results and definitions that are nested too
//! deeply.

use crate::mcp::hub_harness::{HubHarness, failed, succeeded, test_server_config};
use crate::scoped_subscriber::set_scoped_subscriber;
use crate::support::fixtures::{server_config, stdio};
use humble::domain::SecretRegistry;
use humble::domain::{ServerConfig, ToolOutcome};
use humble::log::TracingLayer;
use serde_json::json;
use std::time::Duration;
use tracing_subscriber::layer::SubscriberExt;

#[tokio::test]
async fn lines_that_are_not_messages_are_skipped_and_counted() {
    let mut harness = HubHarness::start_connected("junk").await;
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 1, "b": 1 })).await),
        "2"
    );
    let rejected = harness.server().omissions;
    assert_eq!(
        rejected,
        ["7 lines on stdout that are not JSON-RPC, first: Welcome!"]
    );
    // The client sent no answer to these lines.
    assert!(
        !harness
            .server()
            .stderr
            .iter()
            .any(|line| line.contains("answered"))
    );
    harness.close().await;
}

#[tokio::test]
async fn a_program_that_prints_no_messages_is_stopped_and_the_reason_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (secrets, level) = (SecretRegistry::default(), tracing::Level::DEBUG);
    let (layer, _handle) = TracingLayer::new(folder.path(), level, secrets, |_| {});
    let _guard = set_scoped_subscriber(tracing_subscriber::registry().with(layer));
    for (word, line) in [("y", "`y`"), ("", "``"), ("{\"a\":1}", "`{\"a\":1}`")] {
        let mut harness = HubHarness::start(vec![server_config("yes", stdio("yes", &[word], &[]))]);
        let notice = harness.wait_for_failure().await.summary();
        let expected =
            format!("It writes text other than MCP messages to standard output, such as {line}.");
        assert!(notice.contains(&expected), "{notice}");
        assert!(notice.contains("Check `command`"), "{notice}");
        harness.close().await;
    }
    let mut files = std::fs::read_dir(folder.path()).unwrap();
    let log = std::fs::read_to_string(files.next().unwrap().unwrap().path()).unwrap();
    // For each of the two nonblank lines: five entries, then one at 10, 100, 1,000 and 10,000.
    assert_eq!(log.matches("skipped a line").count(), 10, "{log}");
    assert_eq!(
        log.matches(" lines that are not JSON-RPC").count(),
        8,
        "{log}"
    );
}

#[tokio::test]
async fn a_tool_nested_too_deeply_does_not_affect_others() {
    let mut harness = HubHarness::start_connected("deep-tool").await;
    let server = harness.server();
    assert_eq!(server.tools.len(), 16);
    assert_eq!(
        server.omissions,
        ["tool `deep`, whose definition is nested deeper than 128 levels"]
    );
    let sum = harness.call("add", json!({ "a": 1, "b": 1 })).await;
    assert_eq!(succeeded(sum), "2");
    harness.close().await;
}

#[tokio::test]
async fn a_result_nested_too_deeply_fails_its_call_at_once() {
    let mut harness = HubHarness::connect(ServerConfig {
        tool_timeout: Duration::from_secs(5),
        ..test_server_config("")
    })
    .await;
    let outcome = harness.call("nest", json!({})).await;
    let ToolOutcome::Failed { elapsed, .. } = &outcome else {
        panic!("{outcome:?}");
    };
    assert!(*elapsed < Duration::from_secs(5), "{elapsed:?}");
    assert_eq!(
        failed(outcome),
        "The answer is nested deeper than 128 levels."
    );
    assert_eq!(harness.server().omissions, Vec::<String>::new());
    let sum = harness.call("add", json!({ "a": 1, "b": 1 })).await;
    assert_eq!(succeeded(sum), "2");
    harness.close().await;
}
