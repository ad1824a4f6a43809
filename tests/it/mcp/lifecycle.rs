//! How servers start, exit, restart and stop.

use super::hub_harness::{
    HubHarness, succeeded, test_server_config, test_server_path, unreachable_because,
};
use crate::support::fixtures::{server_config, stdio};
use humble::domain::{ServerConfig, ServerStatus, ToolOutcome};
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_server_that_never_answers_is_abandoned() {
    let mut harness = HubHarness::start(vec![ServerConfig {
        startup_timeout: Duration::from_millis(300),
        ..test_server_config("silent")
    }]);
    assert_eq!(harness.server().status, ServerStatus::Starting);
    let notice = harness.wait_for_failure().await;
    assert!(notice.summary().contains("within 0.3 s"), "{notice:?}");
    assert!(
        notice.summary().contains("startupTimeoutSeconds"),
        "{notice:?}"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_server_that_exits_at_startup_is_shown_with_its_last_output() {
    let mut harness = HubHarness::start(vec![test_server_config("dies")]);
    let notice = harness.wait_for_failure().await.summary();
    for part in [
        "`test` could not be started",
        "exited with status 3",
        "no TEST_API_KEY",
        "\"env\"",
        "\"inheritEnv\"",
    ] {
        assert!(notice.contains(part), "{part} in {notice}");
    }
    assert_eq!(
        harness.server().stderr,
        ["no TEST_API_KEY in the environment"]
    );
    harness.close().await;
}

#[tokio::test]
async fn a_missing_command_is_named() {
    let mut harness = HubHarness::start(vec![server_config(
        "test",
        stdio("no-such-command", &[], &[]),
    )]);
    let notice = harness.wait_for_failure().await.summary();
    assert!(
        notice.contains("Command `no-such-command` was not found."),
        "{notice}"
    );
    harness.close().await;
}

#[tokio::test]
async fn an_unknown_protocol_version_ends_the_connection() {
    let mut harness = HubHarness::start(vec![test_server_config("futuristic")]);
    let notice = harness.wait_for_failure().await.summary();
    assert!(notice.contains("`2099-01-01`"), "{notice}");
    harness.close().await;
}

#[tokio::test]
async fn a_failed_tool_list_is_a_connection_failure() {
    let mut harness = HubHarness::start(vec![test_server_config("unlistable")]);
    let notice = harness.wait_for_failure().await.summary();
    assert!(notice.contains("the list is lost"), "{notice}");
    harness.close().await;
}

#[tokio::test]
async fn the_first_tool_list_must_arrive_within_the_startup_timeout() {
    let mut harness = HubHarness::start(vec![humble::domain::ServerConfig {
        startup_timeout: Duration::from_secs(2),
        ..test_server_config("silent-when-listed")
    }]);
    let notice = harness.wait_for_failure().await.summary();
    assert!(
        notice.contains("could not be listed: no answer within "),
        "{notice}"
    );
    assert!(notice.contains("startupTimeoutSeconds"), "{notice}");
    harness.close().await;
}

#[tokio::test]
async fn an_exit_during_a_call_ends_the_call_and_the_next_one_reconnects() {
    let mut harness = HubHarness::start_connected("").await;
    let why = unreachable_because(harness.call("die", json!({})).await);
    assert!(why.contains("gone"), "{why}");
    let notice = harness.wait_for_failure().await.summary();
    assert!(
        notice.contains("`test` ended") && notice.contains("dying"),
        "{notice}"
    );
    // The tools of the ended server remain available, so that a call can reconnect it.
    assert_eq!(harness.server().available_tools().count(), 16);
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    assert_eq!(harness.server().status, ServerStatus::Connected);
    harness.close().await;
}

#[tokio::test]
async fn restarts_after_repeated_exits_are_delayed_until_the_user_reconnects() {
    let mut harness = HubHarness::start_connected("").await;
    unreachable_because(harness.call("die", json!({})).await);
    unreachable_because(harness.call("die", json!({})).await);
    harness.wait_for_failure().await;
    let why = unreachable_because(harness.call("add", json!({})).await);
    assert!(why.contains("possible in 1 s"), "{why}");
    let id = harness.server().id;
    harness.hub.reconnect(&id);
    harness
        .wait_for(|server| server.status == ServerStatus::Connected)
        .await;
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_healthy_server_can_be_restarted_manually() {
    let mut harness = HubHarness::start_connected("").await;
    succeeded(harness.call("grow", json!({})).await);
    harness.wait_for(|server| server.tools.len() == 17).await;
    let id = harness.server().id;
    harness.hub.reconnect(&id);
    harness
        .wait_for(|server| server.status == ServerStatus::Connected && server.tools.len() == 16)
        .await;
    assert_eq!(harness.process_count(), 1);
    harness.close().await;
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_is_starting() {
    let mut harness = HubHarness::start(vec![test_server_config("floods")]);
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_grandchild_is_gone_after_the_shutdown() {
    let harness = HubHarness::start_connected("parent").await;
    assert_eq!(harness.process_count(), 2);
    harness.close().await;
}

#[tokio::test]
async fn a_grandchild_holding_stdout_does_not_hide_an_exit() {
    let mut harness = HubHarness::start_connected("parent-of-holder").await;
    let outcome = harness.call("die", json!({})).await;
    assert!(
        matches!(outcome, ToolOutcome::Unreachable { .. }),
        "{outcome:?}"
    );
    harness.wait_for_failure().await;
    // The remaining processes of the server's group were killed.
    assert_eq!(harness.process_count(), 0);
    harness.close().await;
}

#[tokio::test]
async fn a_server_that_ignores_every_request_to_stop_is_killed() {
    let script = "trap '' TERM; exec \"$0\" stubborn";
    let program = test_server_path();
    let launch = stdio("sh", &["-c", script, program.as_str()], &[]);
    let servers = ["test", "second", "third"].map(|id| server_config(id, launch.clone()));
    let mut harness = HubHarness::start(servers.into());
    let id = harness.server().id;
    harness
        .wait_for(|server| server.id == id && server.status == ServerStatus::Connected)
        .await;
    harness.close().await;
}

#[tokio::test]
async fn shutting_down_while_starting_leaves_no_process() {
    let harness = HubHarness::start(vec![
        test_server_config("silent"),
        server_config("second", stdio(&test_server_path(), &["floods"], &[])),
    ]);
    harness.close().await;
    let mut harness = HubHarness::start(vec![test_server_config("silent")]);
    harness.wait_for_stderr("offered").await;
    harness.close().await;
}

#[tokio::test]
async fn a_dropped_hub_kills_its_processes() {
    let harness = HubHarness::start_connected("parent").await;
    harness.drop_hub();
}

#[tokio::test]
async fn switching_a_server_off_stops_it_and_its_calls() {
    let mut harness = HubHarness::start_connected("").await;
    let call = harness.hub.call(
        harness.call_request("slow", json!({ "seconds": 60 })),
        Default::default(),
    );
    let call = tokio::spawn(call);
    succeeded(harness.call("add", json!({})).await);
    harness.configure(vec![ServerConfig {
        enabled: false,
        ..test_server_config("")
    }]);
    unreachable_because(call.await.expect("the call does not panic"));
    assert_eq!(harness.server().status, ServerStatus::Off);
    unreachable_because(harness.call("add", json!({})).await);
    harness.close().await;
}

#[tokio::test]
async fn after_a_restart_a_tool_with_a_changed_definition_is_not_called() {
    let mut harness = HubHarness::start_connected("").await;
    let pin_of = |name: &str, harness: &HubHarness| {
        let tools = harness.server().tools;
        let tool = tools.iter().find(|tool| tool.name == name);
        tool.expect("the tool is listed").pin.clone()
    };
    let approved = pin_of("echo", &harness);
    unreachable_because(harness.call("die", json!({})).await);
    let mut call = harness.call_request("echo", json!({ "text": "a" }));
    call.pin = Some(approved);
    assert_eq!(
        succeeded(harness.run_call(call, CancellationToken::new()).await),
        "a",
        "the definition is unchanged"
    );
    let mut call = harness.call_request("echo", json!({ "text": "b" }));
    call.pin = Some(pin_of("add", &harness));
    let outcome = harness.run_call(call, CancellationToken::new()).await;
    let ToolOutcome::NotRun { why } = outcome else {
        panic!("{outcome:?}")
    };
    assert!(why.contains("changed the tool"), "{why}");
    harness.close().await;
}
