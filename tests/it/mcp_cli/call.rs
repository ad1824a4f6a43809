//! `humble mcp call`: arguments, output, cancellation and changed tools.

use super::{
    interrupt, received_messages, run, run_with_input, spawn_until_output, wait_for_output,
    with_recorded_input, with_test_server,
};
use crate::mcp_cli::home;
use crate::support::fixtures;
use serde_json::json;

const CALL: [&str; 3] = ["mcp", "call", "test"];

fn call_with(arguments: &[&'static str]) -> Vec<&'static str> {
    [&CALL[..], arguments].concat()
}

#[test]
fn mcp_call_writes_only_the_result_text_to_standard_output() {
    let home = with_test_server("");
    for (arguments, out) in [
        (&["add", "a=1.5", "b=2"][..], "3.5\n"),
        (&["add", "{\"a\": 1, \"b\": 2}"], "3\n"),
        (&["echo", "text=안녕 = 세계"], "안녕 = 세계\n"),
        (&["echo", "text=raw \u{1b}[1m\u{7}"], "raw \u{1b}[1m\u{7}\n"),
        (
            &["odd"],
            "[left out: content of the unknown type `hologram`]\nseen\n[left out: content without a type]\n",
        ),
    ] {
        let output = run(&home, &call_with(arguments)).expect(0);
        assert_eq!(
            (output.out.as_str(), output.err.as_str()),
            (out, ""),
            "{arguments:?}"
        );
    }
    let output =
        run_with_input(&home, &call_with(&["add", "-"]), "{\"a\": 4,\n \"b\": 3}\n").expect(0);
    assert_eq!(output.out, "7\n");
    home.assert_no_process_left();
}

#[test]
fn a_tool_error_is_not_printed_as_a_result() {
    let home = with_test_server("");
    let output = run(&home, &call_with(&["fail"])).expect(1);
    assert_eq!(
        (output.out.as_str(), output.err.as_str()),
        ("", "Tool fail failed: it failed\n")
    );
    let output = run(&home, &call_with(&["fail", "--json"])).expect(1);
    let result = json!({ "content": [{ "type": "text", "text": "it failed" }], "isError": true });
    assert_eq!((output.json(), output.err.as_str()), (result, ""));
    let output = run(&home, &call_with(&["die", "--json"])).expect(1);
    let reason = output.json()["error"]
        .as_str()
        .expect("an error")
        .to_owned();
    assert!(
        reason.starts_with("Tool die did not answer: The server is gone."),
        "{reason}"
    );
    assert!(
        reason.ends_with("It is not known whether the tool ran."),
        "{reason}"
    );
}

#[test]
fn invalid_arguments_are_a_usage_error_and_never_sent() {
    let home = with_recorded_input();
    for (arguments, part) in [
        (
            &["ad"][..],
            "Server `test` has no tool `ad`. Did you mean `add`?",
        ),
        (&["zebra"], "`humble mcp tools test` lists its tools."),
        (&["add", "a=1"], "\"b\" is a required property"),
        (
            &["add", "a=1", "b=two"],
            "\"two\" is not of type \"number\" at /b",
        ),
        (
            &["add", "a=1", "b=two"],
            "Usage: humble mcp call test add a=NUMBER b=NUMBER",
        ),
        (&["add", "a=1", "c=2"], "`add` has no argument `c`"),
        (&["add", "a"], "`a` is not an argument: write KEY=VALUE"),
        (&["add", "{\"a\": 1,}"], "The arguments are not valid JSON"),
        (&["add", "[1, 2]"], "The arguments must be a JSON object"),
        (&["add", "-"], "The arguments are not valid JSON: EOF"),
    ] {
        let output = run(&home, &call_with(arguments)).expect(2);
        assert!(output.err.contains(part), "{arguments:?}: {}", output.err);
        assert_eq!(output.out, "");
    }
    let tool_call = received_messages(&home)
        .into_iter()
        .find(|message| message["method"] == "tools/call");
    assert_eq!(tool_call, None);
    let output = run(&home, &["mcp", "call", "tset", "add"]).expect(2);
    assert_eq!(
        output.err,
        "There is no MCP server `tset`. Did you mean `test`?\n"
    );
}

#[test]
fn mcp_call_reports_a_server_that_does_not_start() {
    let home = with_test_server("dies");
    let output = run(&home, &call_with(&["add", "a=1", "b=2", "--json"])).expect(1);
    assert!(output.err.contains("no TEST_API_KEY"), "{}", output.err);
    assert_eq!(output.json(), json!({ "error": output.err.trim_end() }));
}

#[test]
fn mcp_call_works_with_disabled_servers_and_tools() {
    let home = with_test_server("");
    home.edit_json("mcp-servers.json", |file| {
        file["mcpServers"]["test"]["enabled"] = json!(false);
        file["mcpServers"]["test"]["toolsOff"] = json!(["add"]);
    });
    let output = run(&home, &call_with(&["add", "a=1", "b=2"])).expect(0);
    let message = "Server `test` is off. It is started for this call only.\n";
    assert_eq!((output.out.as_str(), output.err.as_str()), ("3\n", message));
    home.assert_no_process_left();
}

#[test]
fn ctrl_c_cancels_the_call_at_its_server() {
    let home = with_recorded_input();
    let call = call_with(&["progress", "seconds=60"]);
    let child = spawn_until_output(&home, &call, "progress: ");
    interrupt(&child);
    wait_for_output(child).expect(130);
    home::wait_until("the server is notified", || {
        let received = received_messages(&home);
        let find = |method: &str| {
            let mut messages = received.iter();
            messages
                .find(|message| message["method"] == method)
                .cloned()
        };
        let (called, cancelled) = (find("tools/call"), find("notifications/cancelled"));
        let (Some(called), Some(cancelled)) = (called, cancelled) else {
            return false;
        };
        cancelled["params"]["requestId"] == called["id"]
    });
    home.assert_no_process_left();
}

#[test]
fn the_timeout_covers_the_whole_command_and_cancels_the_call() {
    let home = with_recorded_input();
    let output = run(
        &home,
        &call_with(&["progress", "seconds=60", "--timeout", "2"]),
    )
    .expect(1);
    assert!(
        output.err.contains("Tool progress did not answer in"),
        "{}",
        output.err
    );
    assert!(output.err.contains(" %), step "), "{}", output.err);
    assert_eq!(output.out, "");
    home::wait_until("the server is notified", || {
        received_messages(&home)
            .iter()
            .any(|message| message["method"] == "notifications/cancelled")
    });
    home.assert_no_process_left();
}

#[test]
fn mcp_call_can_call_built_in_tools() {
    let home = with_test_server("dies");
    let output = run(
        &home,
        &[
            "mcp",
            "call",
            "humble",
            "get_time",
            "timezone=Asia/Seoul",
            "--json",
        ],
    )
    .expect(0);
    assert_eq!(
        output.json()["structuredContent"]["offset"],
        "+09:00",
        "{output:?}"
    );
    let output = run(
        &home,
        &["mcp", "call", "humble", "get_time", "timezone=Asia/Soul"],
    )
    .expect(1);
    assert!(
        output.err.starts_with("Tool get_time failed: "),
        "{}",
        output.err
    );
}

#[test]
fn calls_are_logged_without_secrets() {
    let home = with_test_server("");
    home.write("config.json", &json!({ "logLevel": "debug" }));
    home.edit_json("mcp-servers.json", |file| {
        file["mcpServers"]["test"]["env"]["API_TOKEN"] = json!("s3cr3t-of-mine");
    });
    let output = run(&home, &call_with(&["echo", "text=a s3cr3t-of-mine"])).expect(0);
    assert_eq!(output.out, "a [hidden]\n");
    let files = home.files().into_iter();
    let logs = files.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    let log: String = logs
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    assert!(log.contains("MCP server `test` is connected"), "{log}");
    assert!(log.contains("tool result"), "{log}");
    assert!(!log.contains("s3cr3t-of-mine"), "{log}");
}

/// A home with an accepted definition of `add` that differs from the test server's.
fn with_changed_add() -> home::TestHome {
    let home = with_test_server("");
    let config = humble::config::read_servers(&humble::config::Home::at(home.path()));
    let mut servers = config.value.into_iter();
    let server = servers.find(|server| server.id.as_str() == "test");
    let launch = server.expect("configured").launch.identity();
    let definition = json!({ "name": "add", "description": "It adds.", "inputSchema": {} });
    let tool = fixtures::tool_from(&definition);
    let pinned = humble::config::PinnedTool {
        server: humble::domain::ServerId::new("test"),
        launch,
        tool: "add".to_owned(),
        accepted: humble::domain::trust::AcceptedDefinition {
            pin: tool.pin.clone(),
            accepted_at: "2026-01-02T00:00:00Z".parse().expect("a time"),
            definition: Some(humble::domain::trust::ToolDefinition::from_tool(&tool)),
            declined_pin: None,
        },
    };
    let edit = humble::config::TrustEdit::RecordFirstSeen(pinned);
    let config_home = humble::config::Home::at(home.path());
    humble::config::update_trust(&config_home, &[edit]).expect("written");
    home
}

#[test]
fn a_changed_tool_is_shown_and_called_only_with_accept_changed() {
    let home = with_changed_add();
    let output = run(&home, &call_with(&["add", "a=1", "b=2"])).expect(1);
    let lines: Vec<&str> = output.err.lines().collect();
    assert_eq!(
        lines[0],
        "Server `test` changed `add` since it was first seen or accepted on 2026-01-02:"
    );
    assert!(lines.contains(&"  - It adds."), "{}", output.err);
    assert!(lines.contains(&"  + The tool add."), "{}", output.err);
    assert_eq!(
        lines.last(),
        Some(&"Use --accept-changed to call it as it is now.")
    );
    assert_eq!(output.out, "");

    let before = std::fs::read(home.path().join("trust.json")).expect("trust.json");
    let output = run(
        &home,
        &call_with(&["add", "a=1", "b=2", "--accept-changed"]),
    )
    .expect(0);
    assert_eq!(output.out, "3\n");
    let after = std::fs::read(home.path().join("trust.json")).expect("trust.json");
    assert_eq!(before, after, "the chat still asks");

    let list = run(&home, &["mcp", "list"]).expect(0);
    let withheld = "    Withheld because their definitions changed: add.\n";
    assert!(list.out.contains(withheld), "{}", list.out);
    let tools = run(&home, &["mcp", "tools", "test"]).expect(0);
    assert!(
        tools
            .out
            .contains("  add (withheld: its definition changed) a="),
        "{}",
        tools.out
    );
}
