//! The MCP client against real child processes, most of them misbehaving. Each
//! test ends by closing the hub and finding that no process is left.

use crate::support::fixtures::{self, server_config, stdio};
use crate::support::mcp_desk;
mod bulk;
mod eras;
mod junk;
mod life;

use humble::domain::server::Inherit;
use humble::domain::{Launch, ServerStatus, ToolOutcome};
use mcp_desk::{Desk, failed, server, succeeded, test_server, unreachable_because};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_tool_is_called_and_answers() {
    let mut desk = Desk::with("").await;
    let server = desk.server();
    assert_eq!(server.tools[0].name, "add");
    assert_eq!(server.instructions.as_deref(), Some("Be kind."));
    assert_eq!(server.left_out, Vec::<String>::new());
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 2, "b": 40 })).await),
        "42"
    );
    desk.until_stderr_says(r#"offered "2025-11-25""#).await;
    desk.close().await;
}

#[tokio::test]
async fn arguments_travel_as_they_are() {
    let mut desk = Desk::with("").await;
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
    let desk = Desk::with("").await;
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
    let mut desk = Desk::connected(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(300),
        ..server("")
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
    let mut desk = Desk::connected(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(150),
        ..server("")
    })
    .await;
    let outcome = desk.call("progress", json!({ "seconds": 60 })).await;
    let ToolOutcome::TimedOut { elapsed } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(elapsed >= Duration::from_millis(1_500), "{elapsed:?}");
    desk.until_stderr_says("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once_and_the_server_is_told() {
    let mut desk = Desk::with("").await;
    let cancel = CancellationToken::new();
    let calling = desk.hub.call(
        desk.request("slow", json!({ "seconds": 60 })),
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
    desk.until_stderr_says("cancelled").await;
    assert_eq!(
        succeeded(desk.call("echo", json!({ "text": "well" })).await),
        "well"
    );
    desk.close().await;
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_too() {
    let mut desk = Desk::with("").await;
    let calling = desk.hub.call(
        desk.request("slow", json!({ "seconds": 60 })),
        CancellationToken::new(),
    );
    let calling = tokio::spawn(calling);
    succeeded(desk.call("add", json!({})).await);
    calling.abort();
    desk.until_stderr_says("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn a_server_that_works_on_after_a_cancel_is_named() {
    let mut desk = Desk::with("").await;
    let cancel = CancellationToken::new();
    let calling = tokio::spawn(desk.hub.call(
        desk.request("late", json!({ "seconds": 1.5 })),
        cancel.clone(),
    ));
    succeeded(desk.call("add", json!({})).await);
    cancel.cancel();
    assert_eq!(
        calling.await.expect("it does not panic"),
        ToolOutcome::Interrupted
    );
    desk.until_noticed("`test` went on working on `late`").await;
    desk.close().await;
}

#[tokio::test]
async fn a_call_times_out_and_the_server_is_told() {
    let mut desk = Desk::connected(humble::domain::ServerConfig {
        tool_timeout: Duration::from_millis(200),
        ..server("")
    })
    .await;
    let outcome = desk.call("slow", json!({ "seconds": 60 })).await;
    assert!(
        matches!(outcome, ToolOutcome::TimedOut { .. }),
        "{outcome:?}"
    );
    desk.until_stderr_says("cancelled").await;
    desk.close().await;
}

#[tokio::test]
async fn errors_of_the_tool_and_of_the_protocol_are_told_in_words() {
    let mut desk = Desk::with("").await;
    assert_eq!(failed(desk.call("fail", json!({})).await), "it failed");
    assert_eq!(
        failed(desk.call("nothing", json!({})).await),
        "Unknown tool: nothing (JSON-RPC error -32602)"
    );
    desk.close().await;
}

#[tokio::test]
async fn questions_of_a_server_are_answered_or_refused() {
    let mut desk = Desk::with("asks").await;
    desk.until_stderr_says(r#""id":"p","result":{}"#).await;
    desk.until_stderr_says("-32601").await;
    desk.close().await;
}

#[tokio::test]
async fn a_flood_of_stderr_neither_blocks_nor_fills_the_memory() {
    let mut desk = Desk::with("floods").await;
    desk.until_stderr_says("complaint 49999").await;
    assert!(desk.server().stderr.len() <= 200);
    assert_eq!(
        succeeded(desk.call("add", json!({ "a": 1, "b": 2 })).await),
        "3"
    );
    desk.close().await;
}

#[tokio::test]
async fn one_bad_tool_costs_no_other() {
    let desk = Desk::with("one-bad-tool").await;
    let server = desk.server();
    assert_eq!(server.tools.len(), 16);
    assert_eq!(server.left_out, ["tool `bad` has no inputSchema"]);
    desk.close().await;
}

#[tokio::test]
async fn an_unknown_content_costs_no_other() {
    let mut desk = Desk::with("").await;
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
        let desk = Desk::with(manner).await;
        let server = desk.server();
        assert_eq!(
            (server.tools.len(), server.left_out),
            (tools, vec![why.to_owned()])
        );
        desk.close().await;
    }
}

#[tokio::test]
async fn a_server_without_tools_is_connected_all_the_same() {
    let desk = Desk::with("toolless").await;
    assert!(desk.server().tools.is_empty());
    desk.close().await;
}

#[tokio::test]
async fn a_changed_list_is_fetched_again_and_told() {
    let mut desk = Desk::with("").await;
    assert_eq!(succeeded(desk.call("grow", json!({})).await), "grown");
    desk.until(|server| server.tools.iter().any(|tool| tool.name == "grown"))
        .await;
    desk.until_noticed("changed its tools: added `grown`").await;
    desk.close().await;
}

#[tokio::test]
async fn a_line_without_end_ends_the_session_with_its_reason() {
    let mut desk = Desk::with("").await;
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
    let inherits = |inherit: Inherit| {
        let launch = Launch::Stdio {
            command: test_server(),
            args: Vec::new(),
            env: vec![("GIVEN".to_owned(), "yes".to_owned())],
            cwd: None,
            inherit,
        };
        server_config("test", launch)
    };
    for (inherit, passed) in [
        (Inherit::AllowList, false),
        (Inherit::Also(vec![secret.clone()]), true),
        (Inherit::Everything, true),
    ] {
        let mut desk = Desk::connected(inherits(inherit)).await;
        let names = variables(&succeeded(desk.call("variables", json!({})).await));
        assert_eq!(names.contains(&secret), passed, "{names:?}");
        assert!(names.contains(&"GIVEN".to_owned()));
        assert!(names.contains(&"PATH".to_owned()));
        desk.close().await;
    }
}

#[tokio::test]
async fn the_built_in_server_tells_the_time_and_says_hello() {
    let mut desk = Desk::connected(server_config("humble", Launch::BuiltIn)).await;
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
async fn what_cannot_run_is_listed_with_the_reason() {
    let off = humble::domain::ServerConfig {
        enabled: false,
        ..server("")
    };
    let misconfigured = Launch::Misconfigured {
        why: "both command and url".to_owned(),
    };
    let remote = Launch::Remote {
        // The port that nobody may listen at.
        url: "http://127.0.0.1:1/mcp".to_owned(),
        transport: humble::domain::server::RemoteTransport::Guess,
        headers: Vec::new(),
    };
    let mut desk = Desk::of(vec![
        server_config("far", remote),
        off,
        server_config("odd", misconfigured),
    ]);
    let notice = desk.until_failed().await;
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
    let mut desk = Desk::with("").await;
    succeeded(desk.call("grow", json!({})).await);
    desk.until(|server| server.tools.len() == 17).await;
    let described = humble::domain::ServerConfig {
        description: Some("the same".to_owned()),
        ..server("")
    };
    desk.configure(vec![
        described,
        server_config("other", stdio(&test_server(), &["junk"], &[])),
    ]);
    assert_eq!(desk.server().description.as_deref(), Some("the same"));
    assert_eq!(desk.server().tools.len(), 17);
    desk.configure(vec![server("one-bad-tool")]);
    desk.until(|server| server.status == ServerStatus::Connected && server.tools.len() == 16)
        .await;
    desk.close().await;
}
