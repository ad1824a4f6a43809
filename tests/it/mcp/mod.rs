//! The MCP client against real child processes, most of them misbehaving. Each
//! test ends by closing the hub and finding that no process is left.

use crate::support::fixtures::{self, server_config, stdio};
use crate::support::hub_harness;
mod eras;
mod floods;
mod invalid_output;
mod lifecycle;

use hub_harness::{
    HubHarness, failed, succeeded, test_server_config, test_server_path, unreachable_because,
};
use humble::domain::server::InheritedEnv;
use humble::domain::{LaunchConfig, ServerStatus, ToolOutcome};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_tool_is_called_and_answers() {
    let mut desk = HubHarness::start_connected("").await;
    let server = desk.server();
    assert_eq!(server.tools[0].name, "add");
    assert_eq!(server.instructions.as_deref(), Some("Be kind."));
    assert_eq!(server.rejected_tools, Vec::<String>::new());
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 2, "b": 40 })).await),
        "42"
    );
    desk.wait_for_stderr(r#"offered "2025-11-25""#).await;
    desk.close().await;
}

#[tokio::test]
async fn arguments_are_sent_unchanged() {
    let mut desk = HubHarness::start_connected("").await;
    let text = "안녕하세요 \u{1b}[31m\"\\\n";
    assert_eq!(
        succeeded(desk.call("echo", json!({ "text": text })).await),
        text
    );
    let ordered = json!({ "z": 1, "a": { "y": [1.5, null], "b": true } });
    assert_eq!(
        succeeded(desk.call("echo", ordered.clone()).await),
        ordered.to_string()
    );
    desk.close().await;
}

#[tokio::test]
async fn the_pin_covers_what_this_program_does_not_know() {
    let desk = HubHarness::start_connected("").await;
    let tool = desk.server().tools[0].clone();
    let definition = json!({
        "name": "add", "description": "The tool add.",
        "inputSchema": tool.input_schema, "x-unknown": { "kept": "in the pin" },
    });
    let expected = fixtures::tool_from(&definition);
    assert_eq!(tool, expected);
    desk.close().await;
}

#[tokio::test]
async fn progress_is_reported_and_puts_the_time_out_off() {
    let mut desk = HubHarness::connect(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(300),
        ..test_server_config("")
    })
    .await;
    assert_eq!(
        succeeded(desk.call("progress", json!({ "seconds": 0.9 })).await),
        "done"
    );
    let first = &desk.progress[0];
    assert_eq!(first.total, Some(99.0));
    assert!(
        first
            .message
            .as_deref()
            .is_some_and(|message| message.starts_with("step "))
    );
    desk.close().await;
}

#[tokio::test]
async fn progress_puts_the_time_out_off_ten_times_at_most() {
    let mut desk = HubHarness::connect(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(150),
        ..test_server_config("")
    })
    .await;
    let outcome = desk.call("progress", json!({ "seconds": 60 })).await;
    let ToolOutcome::TimedOut { elapsed } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(elapsed >= Duration::from_millis(1_500), "{elapsed:?}");
    desk.wait_for_stderr("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once_and_the_server_is_told() {
    let mut desk = HubHarness::start_connected("").await;
    let cancel = CancellationToken::new();
    let calling = desk.hub.call(
        desk.call_request("slow", json!({ "seconds": 60 })),
        cancel.clone(),
    );
    let calling = tokio::spawn(calling);
    // The request is on its way once a later one was answered.
    succeeded(desk.call("add", json!({})).await);
    let cancelled = Instant::now();
    cancel.cancel();
    assert_eq!(
        calling.await.expect("it does not panic"),
        ToolOutcome::Interrupted
    );
    assert!(cancelled.elapsed() < Duration::from_millis(100));
    desk.wait_for_stderr("cancelled").await;
    assert_eq!(
        succeeded(desk.call("echo", json!({ "text": "well" })).await),
        "well"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_too() {
    let mut desk = HubHarness::start_connected("").await;
    let calling = desk.hub.call(
        desk.call_request("slow", json!({ "seconds": 60 })),
        CancellationToken::new(),
    );
    let calling = tokio::spawn(calling);
    succeeded(desk.call("add", json!({})).await);
    calling.abort();
    desk.wait_for_stderr("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn a_server_that_works_on_after_a_cancel_is_named() {
    let mut desk = HubHarness::start_connected("").await;
    let cancel = CancellationToken::new();
    let calling = tokio::spawn(desk.hub.call(
        desk.call_request("late", json!({ "seconds": 1.5 })),
        cancel.clone(),
    ));
    succeeded(desk.call("add", json!({})).await);
    cancel.cancel();
    assert_eq!(
        calling.await.expect("it does not panic"),
        ToolOutcome::Interrupted
    );
    desk.wait_for_notice("`test` went on working on `late`")
        .await;
    desk.close().await;
}

#[tokio::test]
async fn a_call_times_out_and_the_server_is_told() {
    let mut desk = HubHarness::connect(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(200),
        ..test_server_config("")
    })
    .await;
    let outcome = desk.call("slow", json!({ "seconds": 60 })).await;
    assert!(
        matches!(outcome, ToolOutcome::TimedOut { .. }),
        "{outcome:?}"
    );
    desk.wait_for_stderr("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn errors_of_the_tool_and_of_the_protocol_are_told_in_words() {
    let mut desk = HubHarness::start_connected("").await;
    assert_eq!(failed(desk.call("fail", json!({})).await), "it failed");
    assert_eq!(
        failed(desk.call("nothing", json!({})).await),
        "Unknown tool: nothing (JSON-RPC error -32602)"
    );
    desk.close().await;
}

#[tokio::test]
async fn questions_of_a_server_are_answered_or_refused() {
    let mut desk = HubHarness::start_connected("asks").await;
    desk.wait_for_stderr(r#""id":"p","result":{}"#).await;
    desk.wait_for_stderr("-32601").await;
    desk.close().await;
}

#[tokio::test]
async fn a_flood_of_stderr_neither_blocks_nor_fills_the_memory() {
    let mut desk = HubHarness::start_connected("floods").await;
    desk.wait_for_stderr("complaint 49999").await;
    assert!(desk.server().stderr.len() <= 200);
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    desk.close().await;
}

#[tokio::test]
async fn an_invalid_tool_does_not_affect_the_others() {
    let desk = HubHarness::start_connected("one-bad-tool").await;
    let server = desk.server();
    assert_eq!(server.tools.len(), 16);
    assert_eq!(server.rejected_tools, ["tool `bad` has no inputSchema"]);
    desk.close().await;
}

#[tokio::test]
async fn an_unknown_content_costs_no_other() {
    let mut desk = HubHarness::start_connected("").await;
    assert_eq!(
        succeeded(desk.call("odd", json!({})).await),
        "[left out: a content of the unknown type `hologram`]\nseen\n[left out: a content without a type]"
    );
    desk.close().await;
}

#[tokio::test]
async fn lists_without_end_are_cut() {
    for (manner, tools, why) in [
        ("endless", 100, "all after the first 100 pages of tools"),
        (
            "stuck",
            2,
            "all after a page whose cursor came a second time",
        ),
        ("many", 5_000, "all after the first 5000 tools"),
    ] {
        let desk = HubHarness::start_connected(manner).await;
        let server = desk.server();
        assert_eq!(
            (server.tools.len(), server.rejected_tools),
            (tools, vec![why.to_owned()])
        );
        desk.close().await;
    }
}

#[tokio::test]
async fn a_server_without_tools_is_connected_all_the_same() {
    let desk = HubHarness::start_connected("toolless").await;
    assert!(desk.server().tools.is_empty());
    desk.close().await;
}

#[tokio::test]
async fn a_changed_list_is_fetched_again_and_told() {
    let mut desk = HubHarness::start_connected("").await;
    assert_eq!(succeeded(desk.call("grow", json!({})).await), "grown");
    desk.wait_for(|server| server.tools.iter().any(|tool| tool.name == "grown"))
        .await;
    desk.wait_for_notice("changed its tools: added `grown`")
        .await;
    desk.close().await;
}

#[tokio::test]
async fn a_line_without_end_ends_the_session_with_its_reason() {
    let mut desk = HubHarness::start_connected("").await;
    let why = unreachable_because(desk.call("shout", json!({})).await);
    assert!(why.contains("longer than 64 MB"), "{why}");
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 1, "b": 1 })).await),
        "2"
    );
    desk.close().await;
}

fn variables(text: &str) -> Vec<String> {
    serde_json::from_str(text).expect("the tool answers with a list of names")
}

#[tokio::test]
async fn variables_are_withheld_unless_they_are_given() {
    // Cargo sets this one for every test.
    let secret = "CARGO_MANIFEST_DIR".to_owned();
    let inherits = |inherit: InheritedEnv| {
        let launch = LaunchConfig::Stdio {
            command: test_server_path(),
            args: Vec::new(),
            env: vec![("GIVEN".to_owned(), "yes".to_owned())],
            cwd: None,
            inherit,
        };
        server_config("test", launch)
    };
    for (inherit, passed) in [
        (InheritedEnv::AllowList, false),
        (InheritedEnv::AllowListAnd(vec![secret.clone()]), true),
        (InheritedEnv::All, true),
    ] {
        let mut desk = HubHarness::connect(inherits(inherit)).await;
        let names = variables(&succeeded(desk.call("variables", json!({})).await));
        assert_eq!(names.contains(&secret), passed, "{names:?}");
        assert!(names.contains(&"GIVEN".to_owned()));
        assert!(names.contains(&"PATH".to_owned()));
        desk.close().await;
    }
}

#[tokio::test]
async fn the_built_in_server_tells_the_time_and_says_hello() {
    let mut desk = HubHarness::connect(server_config("humble", LaunchConfig::BuiltIn)).await;
    let server = desk.server();
    assert_eq!(server.tools[0].name, "get_time");
    assert_eq!(server.tools[0].annotations.read_only, Some(true));
    let time = succeeded(
        desk.call("get_time", json!({ "timezone": "Asia/Seoul" }))
            .await,
    );
    assert!(time.contains("+09:00"), "{time}");
    let why = failed(desk.call("get_time", json!({ "timezone": "Seoul" })).await);
    assert!(why.contains("`Asia/Seoul`"), "{why}");
    let hello = succeeded(desk.call("say_hello", json!({ "name": "미나" })).await);
    let hello: serde_json::Value = serde_json::from_str(&hello).expect("an object");
    assert_eq!(hello["greeting"], "Hello, 미나!");
    assert!(hello["secret_word"].is_string(), "{hello}");
    let why = failed(desk.call("say_hello", json!({ "names": [] })).await);
    assert!(why.contains("`names`"), "{why}");
    let why = failed(desk.call("get_weather", json!({})).await);
    assert!(
        why.starts_with("Unknown tool") && why.contains("-32602"),
        "{why}"
    );
    desk.close().await;
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
        // The port that nobody may listen at.
        url: "http://127.0.0.1:1/mcp".to_owned(),
        transport: humble::domain::server::RemoteTransport::Auto,
        headers: Vec::new(),
    };
    let mut desk = HubHarness::start(vec![
        server_config("far", remote),
        off,
        server_config("odd", misconfigured),
    ]);
    let notice = desk.wait_for_failure().await;
    assert!(
        notice.summary().contains("Nothing listens at"),
        "{notice:?}"
    );
    let servers = desk.hub.servers();
    assert_eq!(servers[1].status, ServerStatus::Off);
    assert_eq!(
        servers[2].status,
        ServerStatus::Misconfigured("both command and url".to_owned())
    );
    desk.close().await;
}

#[tokio::test]
async fn a_change_of_the_list_restarts_only_what_changed() {
    let mut desk = HubHarness::start_connected("").await;
    succeeded(desk.call("grow", json!({})).await);
    desk.wait_for(|server| server.tools.len() == 17).await;
    let described = humble::domain::ServerConfig {
        description: Some("the same".to_owned()),
        ..test_server_config("")
    };
    desk.configure(vec![
        described,
        server_config("other", stdio(&test_server_path(), &["junk"], &[])),
    ]);
    assert_eq!(desk.server().description.as_deref(), Some("the same"));
    assert_eq!(desk.server().tools.len(), 17);
    desk.configure(vec![test_server_config("one-bad-tool")]);
    desk.wait_for(|server| server.status == ServerStatus::Connected && server.tools.len() == 16)
        .await;
    desk.close().await;
}
