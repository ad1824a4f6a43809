//! The MCP client against servers, most of which misbehave. Each test with a child process ends by
//! closing or dropping the hub and checking that no process is left.

use crate::support::fixtures::{self, server_config, stdio};
use crate::support::hub_harness;
mod eras;
mod floods;
mod hostile_tasks;
mod invalid_output;
mod invalid_results;
mod lifecycle;
mod roots;
mod server_requests;
mod tasks;

use hub_harness::{
    HubHarness, failed, succeeded, test_server_config, test_server_path, unreachable_because,
};
use humble::domain::server::InheritedEnv;
use humble::domain::{LaunchConfig, ServerStatus, ToolOutcome};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_connected_server_lists_tools_and_instructions_and_answers_a_call() {
    let mut harness = HubHarness::start_connected("").await;
    let server = harness.server();
    assert_eq!(server.tools[0].name, "add");
    assert_eq!(server.instructions.as_deref(), Some("Be kind."));
    assert_eq!(server.omissions, Vec::<String>::new());
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 2, "b": 40 })).await),
        "42"
    );
    harness.wait_for_stderr(r#"offered "2025-11-25""#).await;
    harness.close().await;
}

#[tokio::test]
async fn arguments_are_sent_unchanged() {
    let mut harness = HubHarness::start_connected("").await;
    let text = "안녕하세요 \u{1b}[31m\"\\\n";
    assert_eq!(
        succeeded(harness.call("echo", json!({ "text": text })).await),
        text
    );
    let ordered = json!({ "z": 1, "a": { "y": [1.5, null], "b": true } });
    assert_eq!(
        succeeded(harness.call("echo", ordered.clone()).await),
        ordered.to_string()
    );
    harness.close().await;
}

#[tokio::test]
async fn the_pin_covers_unknown_fields() {
    let harness = HubHarness::start_connected("").await;
    let tool = harness.server().tools[0].clone();
    let definition = json!({
        "name": "add", "description": "The tool add.",
        "inputSchema": tool.input_schema, "x-unknown": { "kept": "in the pin" },
    });
    let expected = fixtures::tool_from(&definition);
    assert_eq!(tool, expected);
    harness.close().await;
}

#[tokio::test]
async fn progress_is_reported_and_extends_the_timeout() {
    let mut harness = HubHarness::connect(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(300),
        ..test_server_config("")
    })
    .await;
    assert_eq!(
        succeeded(harness.call("progress", json!({ "seconds": 0.9 })).await),
        "done"
    );
    let first = &harness.progress[0];
    assert_eq!(first.total, Some(99.0));
    assert!(
        first
            .message
            .as_deref()
            .is_some_and(|message| message.starts_with("step "))
    );
    harness.close().await;
}

#[tokio::test]
async fn progress_extends_the_timeout_at_most_tenfold() {
    let mut harness = HubHarness::connect(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(150),
        ..test_server_config("")
    })
    .await;
    let outcome = harness.call("progress", json!({ "seconds": 60 })).await;
    let ToolOutcome::TimedOut { elapsed } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(elapsed >= Duration::from_millis(1_500), "{elapsed:?}");
    harness.wait_for_stderr("cancelled").await;
    harness.close().await;
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once_and_the_server_is_notified() {
    let mut harness = HubHarness::start_connected("").await;
    let cancel = CancellationToken::new();
    let call = harness.hub.call(
        harness.call_request("slow", json!({ "seconds": 60 })),
        cancel.clone(),
    );
    let call = tokio::spawn(call);
    // Once a later request is answered, this one has been sent.
    succeeded(harness.call("add", json!({})).await);
    let cancelled_at = Instant::now();
    cancel.cancel();
    assert_eq!(
        call.await.expect("the call does not panic"),
        ToolOutcome::Interrupted
    );
    assert!(cancelled_at.elapsed() < Duration::from_millis(100));
    harness.wait_for_stderr("cancelled").await;
    assert_eq!(
        succeeded(harness.call("echo", json!({ "text": "well" })).await),
        "well"
    );
    harness.close().await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let mut harness = HubHarness::start_connected("").await;
    let call = harness.hub.call(
        harness.call_request("slow", json!({ "seconds": 60 })),
        CancellationToken::new(),
    );
    let call = tokio::spawn(call);
    succeeded(harness.call("add", json!({})).await);
    call.abort();
    harness.wait_for_stderr("cancelled").await;
    harness.close().await;
}

#[tokio::test]
async fn a_server_that_continues_after_a_cancellation_is_named() {
    let mut harness = HubHarness::start_connected("").await;
    let cancel = CancellationToken::new();
    let call = tokio::spawn(harness.hub.call(
        harness.call_request("late", json!({ "seconds": 1.5 })),
        cancel.clone(),
    ));
    succeeded(harness.call("add", json!({})).await);
    cancel.cancel();
    assert_eq!(
        call.await.expect("the call does not panic"),
        ToolOutcome::Interrupted
    );
    harness.wait_for_notice("`test` kept running `late`").await;
    harness.close().await;
}

#[tokio::test]
async fn a_call_times_out_and_the_server_is_notified() {
    let mut harness = HubHarness::connect(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(200),
        ..test_server_config("")
    })
    .await;
    let outcome = harness.call("slow", json!({ "seconds": 60 })).await;
    assert!(
        matches!(outcome, ToolOutcome::TimedOut { .. }),
        "{outcome:?}"
    );
    harness.wait_for_stderr("cancelled").await;
    harness.close().await;
}

#[tokio::test]
async fn tool_errors_and_protocol_errors_are_failures_with_a_message() {
    let mut harness = HubHarness::start_connected("").await;
    assert_eq!(failed(harness.call("fail", json!({})).await), "it failed");
    assert_eq!(
        failed(harness.call("nothing", json!({})).await),
        "Unknown tool: nothing (JSON-RPC error -32602)"
    );
    harness.close().await;
}

#[tokio::test]
async fn server_requests_are_answered_or_refused() {
    let mut harness = HubHarness::start_connected("asks").await;
    harness.wait_for_stderr(r#""id":"p","result":{}"#).await;
    harness.wait_for_stderr("-32602").await;
    harness.wait_for_stderr("-32601").await;
    harness.close().await;
}

#[tokio::test]
async fn a_flood_of_stderr_neither_blocks_nor_exhausts_memory() {
    let mut harness = HubHarness::start_connected("floods").await;
    harness.wait_for_stderr("complaint 49999").await;
    assert!(harness.server().stderr.len() <= 200);
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    harness.close().await;
}

#[tokio::test]
async fn an_invalid_tool_is_omitted_from_the_list_and_the_others_kept() {
    let harness = HubHarness::start_connected("one-bad-tool").await;
    let server = harness.server();
    assert_eq!(server.tools.len(), 16);
    assert_eq!(server.omissions, ["tool `bad` has no inputSchema"]);
    harness.close().await;
}

#[tokio::test]
async fn unknown_content_does_not_affect_other_content() {
    let mut harness = HubHarness::start_connected("").await;
    assert_eq!(
        succeeded(harness.call("odd", json!({})).await),
        "[left out: content of the unknown type `hologram`]\nseen\n[left out: content without a type]"
    );
    harness.close().await;
}

#[tokio::test]
async fn endless_lists_are_truncated() {
    for (behavior, tools, why) in [
        ("endless", 100, "all tools after the first 100 pages"),
        ("stuck", 2, "all tools after a page with a repeated cursor"),
        ("many", 5_000, "all tools after the first 5000"),
    ] {
        let harness = HubHarness::start_connected(behavior).await;
        let server = harness.server();
        assert_eq!(
            (server.tools.len(), server.omissions),
            (tools, vec![why.to_owned()])
        );
        harness.close().await;
    }
}

#[tokio::test]
async fn a_server_without_tools_is_still_connected() {
    let harness = HubHarness::start_connected("toolless").await;
    assert!(harness.server().tools.is_empty());
    harness.close().await;
}

#[tokio::test]
async fn a_changed_list_is_fetched_again_and_reported() {
    let mut harness = HubHarness::start_connected("").await;
    assert_eq!(succeeded(harness.call("grow", json!({})).await), "grown");
    harness
        .wait_for(|server| server.tools.iter().any(|tool| tool.name == "grown"))
        .await;
    harness
        .wait_for_notice("changed its tools: added `grown`")
        .await;
    harness.close().await;
}

#[tokio::test]
async fn an_endless_line_ends_the_session_and_the_reason_is_reported() {
    let mut harness = HubHarness::start_connected("").await;
    let why = unreachable_because(harness.call("shout", json!({})).await);
    assert!(why.contains("longer than 64 MB"), "{why}");
    assert_eq!(
        succeeded(harness.call("add", json!({ "a": 1, "b": 1 })).await),
        "2"
    );
    harness.close().await;
}

fn variable_names(text: &str) -> Vec<String> {
    serde_json::from_str(text).expect("the tool returns a list of names")
}

#[tokio::test]
async fn environment_variables_are_passed_on_only_if_allowed() {
    // Cargo sets this variable for every test.
    let variable = "CARGO_MANIFEST_DIR".to_owned();
    let config_with = |inherit: InheritedEnv| {
        let launch = LaunchConfig::Stdio {
            command: test_server_path(),
            args: Vec::new(),
            env: vec![("GIVEN".to_owned(), "yes".to_owned())],
            cwd: None,
            inherit,
        };
        server_config("test", launch)
    };
    for (inherit, is_inherited) in [
        (InheritedEnv::AllowList, false),
        (InheritedEnv::AllowListAnd(vec![variable.clone()]), true),
        (InheritedEnv::All, true),
    ] {
        let mut harness = HubHarness::connect(config_with(inherit)).await;
        let names = variable_names(&succeeded(harness.call("variables", json!({})).await));
        assert_eq!(names.contains(&variable), is_inherited, "{names:?}");
        assert!(names.contains(&"GIVEN".to_owned()));
        assert!(names.contains(&"PATH".to_owned()));
        harness.close().await;
    }
}

#[tokio::test]
async fn the_built_in_server_tells_the_time_and_says_hello() {
    let mut harness = HubHarness::connect(server_config("humble", LaunchConfig::BuiltIn)).await;
    let server = harness.server();
    assert_eq!(server.tools[0].name, "get_time");
    assert_eq!(server.tools[0].annotations.read_only, Some(true));
    let time = succeeded(
        harness
            .call("get_time", json!({ "timezone": "Asia/Seoul" }))
            .await,
    );
    assert!(time.contains("+09:00"), "{time}");
    let why = failed(
        harness
            .call("get_time", json!({ "timezone": "Seoul" }))
            .await,
    );
    assert!(why.contains("`Asia/Seoul`"), "{why}");
    let hello = succeeded(harness.call("say_hello", json!({ "name": "미나" })).await);
    let hello: serde_json::Value = serde_json::from_str(&hello).expect("an object");
    assert_eq!(hello["greeting"], "Hello, 미나!");
    assert!(hello["secret_word"].is_string(), "{hello}");
    let why = failed(harness.call("say_hello", json!({ "names": [] })).await);
    assert!(why.contains("`names`"), "{why}");
    let why = failed(harness.call("get_gold", json!({})).await);
    assert!(
        why.starts_with("Unknown tool") && why.contains("-32602"),
        "{why}"
    );
    harness.close().await;
}

#[tokio::test]
async fn servers_that_cannot_start_are_listed_with_the_reason() {
    let off = humble::domain::ServerConfig {
        enabled: false,
        ..test_server_config("")
    };
    let misconfigured = LaunchConfig::Misconfigured {
        why: "both command and url".to_owned(),
    };
    let remote = LaunchConfig::Remote {
        // A port on which nothing listens.
        url: "http://127.0.0.1:1/mcp".to_owned(),
        transport: humble::domain::server::RemoteTransport::Auto,
        headers: Vec::new(),
    };
    let mut harness = HubHarness::start(vec![
        server_config("far", remote),
        off,
        server_config("odd", misconfigured),
    ]);
    let notice = harness.wait_for_failure().await;
    assert!(
        notice.summary().contains("Nothing listens at"),
        "{notice:?}"
    );
    let servers = harness.hub.servers();
    assert_eq!(servers[1].status, ServerStatus::Off);
    assert_eq!(
        servers[2].status,
        ServerStatus::Misconfigured("both command and url".to_owned())
    );
    harness.close().await;
}

#[tokio::test]
async fn a_configuration_change_restarts_only_changed_servers() {
    let mut harness = HubHarness::start_connected("").await;
    succeeded(harness.call("grow", json!({})).await);
    harness.wait_for(|server| server.tools.len() == 17).await;
    let same_launch = humble::domain::ServerConfig {
        description: Some("the same".to_owned()),
        ..test_server_config("")
    };
    harness.configure(vec![
        same_launch,
        server_config("other", stdio(&test_server_path(), &["junk"], &[])),
    ]);
    assert_eq!(harness.server().description.as_deref(), Some("the same"));
    assert_eq!(harness.server().tools.len(), 17);
    harness.configure(vec![test_server_config("one-bad-tool")]);
    harness
        .wait_for(|server| server.status == ServerStatus::Connected && server.tools.len() == 16)
        .await;
    harness.close().await;
}
