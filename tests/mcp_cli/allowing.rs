//! `humble ask --allow`.

use super::{Home, home, run};
use crate::model_server::{ModelServer, ollama_call, ollama_text};
use serde_json::json;

fn home(server: &ModelServer) -> Home {
    Home::with_ollama(&server.url()).with_server("test", &home::test_server(), &[""])
}

#[test]
fn a_tool_that_is_named_runs_unasked_and_no_other() {
    let server = ModelServer::start();
    server
        .on("/api/chat", ollama_call("add", &json!({ "a": 1, "b": 2 })))
        .on("/api/chat", ollama_text(&["It is 3."]));
    let ran = run(&home(&server), &["ask", "--allow", "test/add", "How much?"]).expect(0);
    assert_eq!(ran.out, "It is 3.\n");
    assert!(ran.err.contains("Tool add: ok"), "{}", ran.err);

    let server = ModelServer::start();
    server
        .on("/api/chat", ollama_call("echo", &json!({ "text": "a" })))
        .on("/api/chat", ollama_text(&["I may not."]));
    let ran = run(&home(&server), &["ask", "--allow", "test/add", "Echo."]).expect(3);
    assert!(ran.err.contains("Tool echo: denied"), "{}", ran.err);
}

#[test]
fn a_tool_that_is_not_there_is_wrong_usage_and_nothing_is_sent() {
    let server = ModelServer::start();
    let home = home(&server);
    home.change("mcp-servers.json", |file| {
        file["mcpServers"]["test"]["toolsOff"] = json!(["fail"]);
        file["mcpServers"]["off"] = json!({ "command": "x", "enabled": false });
    });
    for (name, said) in [
        (
            "test/ad",
            "--allow test/ad: server `test` has no tool `ad`; did you mean `add`?",
        ),
        (
            "tset/add",
            "--allow tset/add: there is no MCP server `tset`; did you mean `test`?",
        ),
        ("add", "--allow add: it takes SERVER/TOOL."),
        (
            "test/*",
            "--allow test/*: name each tool, or let all run with --yes.",
        ),
        ("test/fail", "--allow test/fail: `fail` is switched off."),
        ("off/x", "--allow off/x: server `off` is switched off."),
    ] {
        let ran = run(&home, &["ask", "--allow", name, "Hello"]).expect(2);
        assert!(
            ran.err.lines().any(|line| line == said),
            "{name}: {}",
            ran.err
        );
        assert_eq!(ran.out, "");
    }
    assert_eq!(server.bodies("/api/chat"), Vec::<serde_json::Value>::new());
    home.assert_nobody_left();
}
