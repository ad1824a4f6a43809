//! Servers of both eras, and those that do not survive the question for it.

use super::hub_harness::{HubHarness, succeeded, test_server_config};
use humble::domain::server::{ProtocolMode, ServerTransport};
use humble::domain::{ServerConfig, ServerStatus};
use serde_json::json;
use std::time::Duration;

fn met_as(protocol: ProtocolMode, manner: &str) -> ServerConfig {
    ServerConfig {
        protocol,
        startup_timeout: Duration::from_secs(2),
        ..test_server_config(manner)
    }
}

async fn adds(desk: &mut HubHarness) {
    let sum = desk.call("add", json!({ "a": 2, "b": 40 })).await;
    assert_eq!(succeeded(sum), "42");
}

#[tokio::test]
async fn a_modern_server_connects_without_initialize() {
    let mut desk = HubHarness::start_connected("modern").await;
    let known = desk.server();
    let peer = known.peer.expect("it said who it is");
    assert_eq!(
        (
            peer.protocol.as_str(),
            peer.version.as_str(),
            peer.transport
        ),
        ("2026-07-28", "2", ServerTransport::Stdio)
    );
    assert_eq!(known.instructions.as_deref(), Some("Be modern."));
    adds(&mut desk).await;
    desk.close().await;
}

#[tokio::test]
async fn a_modern_server_tells_of_changes_on_its_subscription() {
    let mut desk = HubHarness::start_connected("modern").await;
    desk.wait_for_stderr("listened to").await;
    desk.call("grow", json!({})).await;
    desk.wait_for_notice("added `grown`").await;
    desk.close().await;
}

#[tokio::test]
async fn calls_of_a_modern_server_report_and_are_cancelled() {
    let mut desk = HubHarness::connect(ServerConfig {
        tool_timeout: Duration::from_millis(300),
        ..test_server_config("modern")
    })
    .await;
    let done = desk.call("progress", json!({ "seconds": 0.6 })).await;
    assert_eq!(succeeded(done), "done");
    assert!(!desk.progress.is_empty());
    desk.call("slow", json!({ "seconds": 60 })).await;
    desk.wait_for_stderr("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn a_server_of_both_eras_is_met_in_the_newer_one() {
    let mut desk = HubHarness::start_connected("dual").await;
    assert_eq!(desk.server().peer.expect("a peer").protocol, "2026-07-28");
    assert_eq!(desk.server().stderr, Vec::<String>::new());
    adds(&mut desk).await;
    desk.close().await;
}

#[tokio::test]
async fn probing_the_era_never_loses_a_server() {
    let manners = [
        "exits-on-discover",
        "hangs-on-discover",
        "ignores-discover",
        "locks-after-discover",
        "discovers-the-unknown",
        "discovers-nonsense",
    ];
    for manner in manners {
        let mut desk = HubHarness::connect(met_as(ProtocolMode::Auto, manner)).await;
        assert_eq!(desk.server().peer.expect("a peer").protocol, "2025-11-25");
        adds(&mut desk).await;
        assert_eq!(desk.processes(), 1, "{manner}");
        desk.close().await;
    }
}

#[tokio::test]
async fn a_server_that_answers_nothing_is_given_up_in_both_eras() {
    let mut desk = HubHarness::start(vec![met_as(ProtocolMode::Auto, "hangs-on-all")]);
    let why = desk.wait_for_failure().await.summary();
    assert!(
        why.contains("did not answer `initialize` within 1.3 s"),
        "{why}"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_modern_server_that_starts_slowly_is_not_taken_for_an_old_one() {
    let config = ServerConfig {
        startup_timeout: Duration::from_secs(6),
        ..test_server_config("slow-modern")
    };
    let desk = HubHarness::connect(config).await;
    assert_eq!(desk.server().peer.expect("a peer").protocol, "2026-07-28");
    desk.close().await;
}

#[tokio::test]
async fn a_configured_era_is_the_only_one_tried() {
    let mut desk = HubHarness::start(vec![met_as(ProtocolMode::Modern, "ignores-discover")]);
    let why = desk.wait_for_failure().await.summary();
    assert!(
        why.contains("did not answer `server/discover` within 2 s"),
        "{why}"
    );
    desk.close().await;

    let mut desk = HubHarness::start(vec![met_as(ProtocolMode::Modern, "")]);
    let why = desk.wait_for_failure().await.summary();
    assert!(
        why.contains("server/discover (JSON-RPC error -32601)"),
        "{why}"
    );
    desk.close().await;

    let desk = HubHarness::connect(met_as(ProtocolMode::Legacy, "dual")).await;
    assert_eq!(desk.server().peer.expect("a peer").protocol, "2025-11-25");
    desk.close().await;

    let mut desk = HubHarness::start(vec![met_as(ProtocolMode::Modern, "discovers-the-unknown")]);
    let why = desk.wait_for_failure().await.summary();
    assert!(why.contains("It speaks `2099-01-01`, and no"), "{why}");
    desk.close().await;

    let mut desk = HubHarness::start(vec![met_as(ProtocolMode::Legacy, "modern")]);
    let why = desk.wait_for_failure().await.summary();
    assert!(
        why.contains("Method not found (JSON-RPC error -32601)"),
        "{why}"
    );
    desk.close().await;
}

#[tokio::test]
async fn the_era_is_cached_and_detected_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("servers.json");
    let manner = folder.path().join("manner");
    let starts = || {
        let log = std::fs::read_to_string(folder.path().join("starts")).unwrap_or_default();
        log.lines().count()
    };
    // One launch, which becomes another server behind its own back.
    let mut one = test_server_config("@");
    if let humble::domain::LaunchConfig::Stdio { args, .. } = &mut one.launch {
        *args = vec![format!("@{}", manner.display())];
    }
    for (now, protocol, started) in [
        ("exits-on-discover", "2025-11-25", 2),
        ("exits-on-discover", "2025-11-25", 3),
        ("modern", "2026-07-28", 5),
        ("modern", "2026-07-28", 6),
        ("", "2025-11-25", 8),
        ("", "2025-11-25", 9),
    ] {
        std::fs::write(&manner, now).unwrap();
        let mut desk = HubHarness::start_with_cache(vec![one.clone()], file.clone());
        let is_connected =
            |server: &humble::domain::Server| server.status == ServerStatus::Connected;
        let met = desk.wait_for(is_connected).await;
        assert_eq!(met.peer.expect("a peer").protocol, protocol, "{now}");
        assert_eq!(starts(), started, "{now}");
        desk.close().await;
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("\"era\": \"legacy\"") && !text.contains("manner"),
        "{text}"
    );
}
