//! `humble ask --allow`: the named tools run without asking, unless they are withheld or blocked.

use super::{TestHome, home, run};
use crate::mcp_cli::model_server::{ModelServer, ollama_call, ollama_text};
use serde_json::json;

fn home(server: &ModelServer) -> TestHome {
    TestHome::with_ollama(&server.url()).with_server("test", &home::test_server_path(), &[""])
}

#[test]
fn only_tools_named_by_the_allow_option_run_without_asking() {
    let server = ModelServer::start();
    server
        .queue_reply("/api/chat", ollama_call("add", &json!({ "a": 1, "b": 2 })))
        .queue_reply("/api/chat", ollama_text(&["It is 3."]));
    let output = run(&home(&server), &["ask", "--allow", "test/add", "How much?"]).expect(0);
    assert_eq!(output.out, "It is 3.\n");
    assert!(output.err.contains("Tool add: ok"), "{}", output.err);

    let server = ModelServer::start();
    server
        .queue_reply("/api/chat", ollama_call("echo", &json!({ "text": "a" })))
        .queue_reply("/api/chat", ollama_text(&["I may not."]));
    let output = run(&home(&server), &["ask", "--allow", "test/add", "Echo."]).expect(3);
    assert!(output.err.contains("Tool echo: denied"), "{}", output.err);
}

#[test]
fn an_unknown_tool_is_invalid_usage_and_nothing_is_sent() {
    let server = ModelServer::start();
    let home = home(&server);
    home.edit_json("mcp-servers.json", |file| {
        file["mcpServers"]["test"]["toolsOff"] = json!(["fail"]);
        file["mcpServers"]["off"] = json!({ "command": "x", "enabled": false });
    });
    for (name, message) in [
        (
            "test/ad",
            "--allow test/ad: server `test` has no tool `ad`; did you mean `add`?",
        ),
        (
            "tset/add",
            "--allow tset/add: there is no MCP server `tset`; did you mean `test`?",
        ),
        ("add", "--allow add: write SERVER/TOOL."),
        (
            "test/*",
            "--allow test/*: name each tool, or allow all with --yes.",
        ),
        ("test/fail", "--allow test/fail: `fail` is switched off."),
        ("off/x", "--allow off/x: server `off` is switched off."),
    ] {
        let output = run(&home, &["ask", "--allow", name, "Hello"]).expect(2);
        assert!(
            output.err.lines().any(|line| line == message),
            "{name}: {}",
            output.err
        );
        assert_eq!(output.out, "");
    }
    assert_eq!(server.bodies("/api/chat"), Vec::<serde_json::Value>::new());
    home.assert_no_process_left();
}

#[test]
fn a_withheld_or_blocked_tool_is_refused_despite_the_allow_option() {
    let server = ModelServer::start();
    let home = home(&server);
    let ask = || {
        let call = ollama_call("add", &json!({ "a": 1, "b": 2 }));
        server
            .queue_reply("/api/chat", call)
            .queue_reply("/api/chat", ollama_text(&["No."]));
        run(&home, &["ask", "--allow", "test/add", "How much?"])
    };
    ask().expect(0);
    // Pretend that another definition was accepted.
    home.edit_json("trust.json", |file| {
        let launches = file["pins"]["test"].as_object_mut().expect("pins");
        for tools in launches.values_mut() {
            tools["add"]["pin"] = "0".repeat(64).into();
        }
    });
    let output = ask().expect(3);
    for message in [
        "--allow test/add: `add` changed since it was first seen or accepted. It is withheld and will not run.",
        "`add` changed since it was first seen or accepted, so the call was not run.",
    ] {
        assert!(output.err.contains(message), "{}", output.err);
    }
    assert!(!output.err.contains("could not be used"), "{}", output.err);

    home.edit_json("trust.json", |file| {
        *file = json!({ "grants": [{ "kind": "never", "server": "test", "tool": "add" }] });
    });
    let output = ask().expect(3);
    assert!(
        output.err.contains("you blocked this tool"),
        "{}",
        output.err
    );
}
