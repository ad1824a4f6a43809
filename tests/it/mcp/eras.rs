//! Servers of either protocol era, and servers that fail when they are probed for it.

use super::hub_harness::{HubHarness, succeeded, test_server_config};
use humble::domain::server::{ProtocolMode, ServerTransport};
use humble::domain::{Server, ServerConfig, ServerStatus};
use serde_json::json;
use std::time::{Duration, Instant};

fn config_for(protocol: ProtocolMode, behavior: &str) -> ServerConfig {
    ServerConfig {
        protocol,
        startup_timeout: Duration::from_secs(2),
        ..test_server_config(behavior)
    }
}

async fn assert_add_works(harness: &mut HubHarness) {
    let sum = harness.call("add", json!({ "a": 2, "b": 40 })).await;
    assert_eq!(succeeded(sum), "42");
}

#[tokio::test]
async fn a_modern_server_connects_without_initialize() {
    let mut harness = HubHarness::start_connected("modern").await;
    let server = harness.server();
    let peer = server.peer.expect("the server identifies itself");
    assert_eq!(
        (
            peer.protocol.as_str(),
            peer.version.as_str(),
            peer.transport
        ),
        ("2026-07-28", "2", ServerTransport::Stdio)
    );
    assert_eq!(server.instructions.as_deref(), Some("Be modern."));
    assert_add_works(&mut harness).await;
    harness.close().await;
}

#[tokio::test]
async fn a_modern_server_reports_changes_on_its_subscription() {
    let mut harness = HubHarness::start_connected("modern").await;
    harness.wait_for_stderr("listened to").await;
    harness.call("grow", json!({})).await;
    harness.wait_for_notice("added `grown`").await;
    harness.close().await;
}

#[tokio::test]
async fn calls_to_a_modern_server_report_progress_and_are_cancelled_at_the_timeout() {
    let mut harness = HubHarness::connect(ServerConfig {
        tool_timeout: Duration::from_millis(300),
        ..test_server_config("modern")
    })
    .await;
    let outcome = harness.call("progress", json!({ "seconds": 0.6 })).await;
    assert_eq!(succeeded(outcome), "done");
    assert!(!harness.progress.is_empty());
    harness.call("slow", json!({ "seconds": 60 })).await;
    harness.wait_for_stderr("cancelled").await;
    harness.close().await;
}

#[tokio::test]
async fn the_newer_era_is_used_if_a_server_supports_both() {
    let mut harness = HubHarness::start_connected("dual").await;
    assert_eq!(
        harness.server().peer.expect("a peer").protocol,
        "2026-07-28"
    );
    assert_eq!(harness.server().stderr, Vec::<String>::new());
    assert_add_works(&mut harness).await;
    harness.close().await;
}

#[tokio::test]
async fn servers_that_fail_the_probe_still_connect_in_the_legacy_era() {
    let behaviors = [
        "exits-on-discover",
        "hangs-on-discover",
        "ignores-discover",
        "locks-after-discover",
        "discovers-the-unknown",
        "discovers-nonsense",
    ];
    for behavior in behaviors {
        let mut harness = HubHarness::connect(config_for(ProtocolMode::Auto, behavior)).await;
        assert_eq!(
            harness.server().peer.expect("a peer").protocol,
            "2025-11-25"
        );
        assert_add_works(&mut harness).await;
        assert_eq!(harness.process_count(), 1, "{behavior}");
        harness.close().await;
    }
}

#[tokio::test]
async fn an_unresponsive_server_is_abandoned_after_both_handshakes() {
    for behavior in ["hangs-on-all", "mutters"] {
        let started_at = Instant::now();
        let mut harness = HubHarness::start(vec![config_for(ProtocolMode::Auto, behavior)]);
        let why = harness.wait_for_failure().await.summary();
        let expected = "did not answer `initialize` within 2 s, nor when it was started again.";
        assert!(why.contains(expected), "{why}");
        assert!(started_at.elapsed() >= Duration::from_secs(4), "{behavior}");
        let is_quoted = why.contains("\"still thinking") && why.contains("not JSON-RPC: thinking");
        assert_eq!(is_quoted, behavior == "mutters", "{why}");
        harness.close().await;
    }
}

#[tokio::test]
async fn a_slow_server_is_not_restarted() {
    let cases = [
        ("2.4", ""),
        ("4", ""),
        ("4", "modern"),
        ("4", "ignores-discover"),
    ];
    futures::future::join_all(cases.map(async |(seconds, behavior)| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let behavior_file = folder.path().join("behavior");
        std::fs::write(&behavior_file, format!("late:{seconds}:{behavior}")).expect("written");
        let config = ServerConfig {
            startup_timeout: Duration::from_secs(6),
            ..test_server_config(&format!("@{}", behavior_file.display()))
        };
        let mut harness = HubHarness::connect(config).await;
        assert_add_works(&mut harness).await;
        let starts = std::fs::read_to_string(folder.path().join("starts")).expect("a log");
        assert_eq!(starts.lines().count(), 1, "{seconds} {behavior}");
        harness.close().await;
    }))
    .await;
}

#[tokio::test]
async fn a_slow_modern_server_is_not_mistaken_for_a_legacy_one() {
    let config = ServerConfig {
        startup_timeout: Duration::from_secs(6),
        ..test_server_config("slow-modern")
    };
    let harness = HubHarness::connect(config).await;
    assert_eq!(
        harness.server().peer.expect("a peer").protocol,
        "2026-07-28"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_configured_era_is_the_only_one_tried() {
    let mut harness = HubHarness::start(vec![config_for(ProtocolMode::Modern, "ignores-discover")]);
    let why = harness.wait_for_failure().await.summary();
    assert!(
        why.contains("did not answer `server/discover` within 2 s"),
        "{why}"
    );
    harness.close().await;

    let mut harness = HubHarness::start(vec![config_for(ProtocolMode::Modern, "")]);
    let why = harness.wait_for_failure().await.summary();
    assert!(
        why.contains("server/discover (JSON-RPC error -32601)"),
        "{why}"
    );
    harness.close().await;

    let harness = HubHarness::connect(config_for(ProtocolMode::Legacy, "dual")).await;
    assert_eq!(
        harness.server().peer.expect("a peer").protocol,
        "2025-11-25"
    );
    harness.close().await;

    let mut harness = HubHarness::start(vec![config_for(
        ProtocolMode::Modern,
        "discovers-the-unknown",
    )]);
    let why = harness.wait_for_failure().await.summary();
    assert!(why.contains("it supports `2099-01-01`."), "{why}");
    harness.close().await;

    let mut harness = HubHarness::start(vec![config_for(ProtocolMode::Legacy, "modern")]);
    let why = harness.wait_for_failure().await.summary();
    assert!(
        why.contains("Method not found (JSON-RPC error -32601)"),
        "{why}"
    );
    harness.close().await;
}

#[tokio::test]
async fn the_era_is_cached_and_detected_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let cache_file = folder.path().join("servers.json");
    let behavior_file = folder.path().join("behavior");
    let starts = || {
        let log = std::fs::read_to_string(folder.path().join("starts")).unwrap_or_default();
        log.lines().count()
    };
    // The launch configuration stays the same while the server behind it changes.
    let mut config = test_server_config("@");
    if let humble::domain::LaunchConfig::Stdio { args, .. } = &mut config.launch {
        *args = vec![format!("@{}", behavior_file.display())];
    }
    for (behavior, protocol, start_count) in [
        ("exits-on-discover", "2025-11-25", 2),
        ("exits-on-discover", "2025-11-25", 3),
        ("modern", "2026-07-28", 5),
        ("modern", "2026-07-28", 6),
        ("", "2025-11-25", 8),
        ("", "2025-11-25", 9),
    ] {
        std::fs::write(&behavior_file, behavior).unwrap();
        let mut harness = HubHarness::start_with_cache(vec![config.clone()], cache_file.clone());
        let is_connected =
            |server: &humble::domain::Server| server.status == ServerStatus::Connected;
        let server = harness.wait_for(is_connected).await;
        assert_eq!(
            server.peer.expect("a peer").protocol,
            protocol,
            "{behavior}"
        );
        assert_eq!(starts(), start_count, "{behavior}");
        harness.close().await;
    }
    let text = std::fs::read_to_string(&cache_file).unwrap();
    assert!(
        text.contains("\"era\": \"legacy\"") && !text.contains("behavior"),
        "{text}"
    );
}

#[tokio::test]
async fn one_subscription_covers_all_followed_resources_of_a_modern_server() {
    let mut harness = HubHarness::start_connected("modern-library").await;
    let server = harness.server().id;
    for (uri, subscribed) in [
        ("note://rain", "listened to [\"note://rain\"]"),
        ("note://sun", "listened to [\"note://rain\",\"note://sun\"]"),
    ] {
        let reading = harness.hub.read_resource(&server, uri);
        assert_eq!(reading.await.expect("contents").len(), 1);
        harness.hub.follow_resource(&server, uri);
        harness.wait_for_stderr(subscribed).await;
        let notice =
            format!("Resource `{uri}` of server `test` has changed since you attached it.");
        harness.wait_for_notice(&notice).await;
        let is_marked = |server: &Server| server.content.changed.contains(uri);
        harness.wait_for(is_marked).await;
    }
    // The first subscription was replaced.
    harness.wait_for_stderr("stopped").await;
    harness.close().await;
}
