//! How servers start, die, come back and go. Part of `tests/mcp.rs`.

use super::hub_harness::{
    HubHarness, succeeded, test_server_config, test_server_path, unreachable_because,
};
use crate::support::fixtures::{server_config, stdio};
use humble::domain::{ServerConfig, ServerStatus, ToolOutcome};
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let mut desk = HubHarness::start(vec![ServerConfig {
        startup_timeout: Duration::from_millis(300),
        ..test_server_config("silent")
    }]);
    assert_eq!(desk.server().status, ServerStatus::Starting);
    let notice = desk.wait_for_failure().await;
    assert!(notice.summary().contains("within 0.2 s"), "{notice:?}");
    assert!(
        notice.summary().contains("startupTimeoutSeconds"),
        "{notice:?}"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_server_that_dies_at_start_up_is_shown_with_its_last_words() {
    let mut desk = HubHarness::start(vec![test_server_config("dies")]);
    let told = desk.wait_for_failure().await.summary();
    for part in [
        "`test` could not be started",
        "exit status: 3",
        "no TEST_API_KEY",
        "`env`",
        "`inheritEnv`",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(desk.server().stderr, ["no TEST_API_KEY in the environment"]);
    desk.close().await;
}

#[tokio::test]
async fn a_missing_command_is_named() {
    let mut desk = HubHarness::start(vec![server_config(
        "test",
        stdio("no-such-command", &[], &[]),
    )]);
    let told = desk.wait_for_failure().await.summary();
    assert!(
        told.contains("There is no command `no-such-command`."),
        "{told}"
    );
    desk.close().await;
}

#[tokio::test]
async fn an_unknown_version_ends_the_connection() {
    let mut desk = HubHarness::start(vec![test_server_config("futuristic")]);
    let told = desk.wait_for_failure().await.summary();
    assert!(told.contains("`2099-01-01`"), "{told}");
    desk.close().await;
}

#[tokio::test]
async fn a_failed_tool_list_is_a_connection_failure() {
    let mut desk = HubHarness::start(vec![test_server_config("unlistable")]);
    let told = desk.wait_for_failure().await.summary();
    assert!(told.contains("the list is lost"), "{told}");
    desk.close().await;
}

#[tokio::test]
async fn the_first_list_must_come_within_the_startup_timeout() {
    let mut desk = HubHarness::start(vec![humble::domain::ServerConfig {
        startup_timeout: Duration::from_secs(2),
        ..test_server_config("silent-when-listed")
    }]);
    let told = desk.wait_for_failure().await.summary();
    assert!(
        told.contains("could not be listed: no answer in "),
        "{told}"
    );
    assert!(told.contains("startupTimeoutSeconds"), "{told}");
    desk.close().await;
}

#[tokio::test]
async fn a_death_in_a_call_ends_the_call_and_the_next_one_reconnects() {
    let mut desk = HubHarness::start_connected("").await;
    let why = unreachable_because(desk.call("die", json!({})).await);
    assert!(why.contains("gone"), "{why}");
    let told = desk.wait_for_failure().await.summary();
    assert!(
        told.contains("`test` ended") && told.contains("dying"),
        "{told}"
    );
    // Its tools stay on offer, so that there can be a next call.
    assert_eq!(desk.server().offered_tools().count(), 16);
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    assert_eq!(desk.server().status, ServerStatus::Connected);
    desk.close().await;
}

#[tokio::test]
async fn repeated_exits_back_off_until_the_user_reconnects() {
    let mut desk = HubHarness::start_connected("").await;
    unreachable_because(desk.call("die", json!({})).await);
    unreachable_because(desk.call("die", json!({})).await);
    desk.wait_for_failure().await;
    let why = unreachable_because(desk.call("add", json!({})).await);
    assert!(why.contains("tried again in 1 s"), "{why}");
    let id = desk.server().id;
    desk.hub.reconnect(&id);
    desk.wait_for(|server| server.status == ServerStatus::Connected)
        .await;
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_healthy_server_is_restarted_by_hand() {
    let mut desk = HubHarness::start_connected("").await;
    succeeded(desk.call("grow", json!({})).await);
    desk.wait_for(|server| server.tools.len() == 17).await;
    let id = desk.server().id;
    desk.hub.reconnect(&id);
    desk.wait_for(|server| server.status == ServerStatus::Connected && server.tools.len() == 16)
        .await;
    assert_eq!(desk.processes(), 1);
    desk.close().await;
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_is_starting() {
    let mut desk = HubHarness::start(vec![test_server_config("floods")]);
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_grandchild_is_gone_after_the_shutdown() {
    let desk = HubHarness::start_connected("parent").await;
    assert_eq!(desk.processes(), 2);
    desk.close().await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_does_not_hide_a_death() {
    let mut desk = HubHarness::start_connected("parent-of-holder").await;
    let outcome = desk.call("die", json!({})).await;
    assert!(
        matches!(outcome, ToolOutcome::Unreachable { .. }),
        "{outcome:?}"
    );
    desk.wait_for_failure().await;
    // What the leader left behind went with it.
    assert_eq!(desk.processes(), 0);
    desk.close().await;
}

#[tokio::test]
async fn a_server_that_ignores_everything_is_killed() {
    let script = "trap '' TERM; exec \"$0\" stubborn";
    let program = test_server_path();
    let launch = stdio("sh", &["-c", script, program.as_str()], &[]);
    let servers = ["test", "second", "third"].map(|id| server_config(id, launch.clone()));
    let mut desk = HubHarness::start(servers.into());
    let id = desk.server().id;
    desk.wait_for(|server| server.id == id && server.status == ServerStatus::Connected)
        .await;
    desk.close().await;
}

#[tokio::test]
async fn shutting_down_while_starting_leaves_nothing() {
    let desk = HubHarness::start(vec![
        test_server_config("silent"),
        server_config("second", stdio(&test_server_path(), &["floods"], &[])),
    ]);
    desk.close().await;
    let mut desk = HubHarness::start(vec![test_server_config("silent")]);
    desk.wait_for_stderr("offered").await;
    desk.close().await;
}

#[tokio::test]
async fn a_dropped_hub_kills_what_it_started() {
    let desk = HubHarness::start_connected("parent").await;
    desk.drop_hub();
}

#[tokio::test]
async fn switching_off_stops_the_server_and_its_calls() {
    let mut desk = HubHarness::start_connected("").await;
    let calling = desk.hub.call(
        desk.call_request("slow", json!({ "seconds": 60 })),
        Default::default(),
    );
    let calling = tokio::spawn(calling);
    succeeded(desk.call("add", json!({})).await);
    desk.configure(vec![ServerConfig {
        enabled: false,
        ..test_server_config("")
    }]);
    unreachable_because(calling.await.expect("it does not panic"));
    assert_eq!(desk.server().status, ServerStatus::Off);
    unreachable_because(desk.call("add", json!({})).await);
    desk.close().await;
}

#[tokio::test]
async fn a_tool_is_not_called_once_its_server_came_back_with_another_definition() {
    let mut desk = HubHarness::start_connected("").await;
    let of = |name: &str, desk: &HubHarness| {
        let tools = desk.server().tools;
        let tool = tools.iter().find(|tool| tool.name == name);
        tool.expect("it is offered").pin.clone()
    };
    let approved = of("echo", &desk);
    unreachable_because(desk.call("die", json!({})).await);
    let mut call = desk.call_request("echo", json!({ "text": "a" }));
    call.pin = Some(approved);
    assert_eq!(
        succeeded(desk.run_call(call, CancellationToken::new()).await),
        "a",
        "the same definition came back"
    );
    let mut call = desk.call_request("echo", json!({ "text": "b" }));
    call.pin = Some(of("add", &desk));
    let outcome = desk.run_call(call, CancellationToken::new()).await;
    let ToolOutcome::NotRun { why } = outcome else {
        panic!("{outcome:?}")
    };
    assert!(why.contains("changed the tool"), "{why}");
    desk.close().await;
}
