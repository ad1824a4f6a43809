//! Tool schemas that take exponential time to validate.

use super::*;
use crate::mcp_cli::model_server::{ModelServer, ollama_text};
use serde_json::Map;
use std::time::Instant;

/// Generous limit for a command that should take a fraction of a second.
const TIME_MAX: Duration = Duration::from_secs(10);

fn exponential_references() -> Value {
    let mut definitions = Map::new();
    for level in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/a{}", level + 1) });
        definitions.insert(format!("a{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert("a30".to_owned(), json!({ "type": "object" }));
    json!({
        "type": "object",
        "properties": { "x": { "$ref": "#/$defs/a0" } },
        "$defs": definitions,
    })
}

/// Patterns that take exponential time in a backtracking engine.
fn exponential_patterns() -> Value {
    let pattern = |number| json!({ "pattern": format!("^(([a-z])+.)+[A-Z]([a-z])+{number}$") });
    let patterns: Vec<Value> = (0..600).map(pattern).collect();
    json!({ "type": "object", "properties": { "x": { "type": "string", "allOf": patterns } } })
}

fn home_with(schema: &Value) -> (ModelServer, TestHome) {
    let server = ModelServer::start();
    let home = TestHome::with_ollama(&server.url());
    let tool = json!({ "name": "age", "inputSchema": schema });
    let entry = shell_server::install(&home.path().join("shell"), &json!([tool]));
    home.write(
        "mcp-servers.json",
        &json!({ "mcpServers": { "shell": entry } }),
    );
    (server, home)
}

fn cases() -> [(Value, Value); 2] {
    [
        (exponential_references(), json!({ "x": {} })),
        (exponential_patterns(), json!({ "x": "a".repeat(40) })),
    ]
}

#[test]
fn mcp_call_leaves_uncheckable_arguments_to_the_server() {
    for (schema, arguments) in cases() {
        let (_server, home) = home_with(&schema);
        let started_at = Instant::now();
        let output = run(
            &home,
            &["mcp", "call", "shell", "age", &arguments.to_string()],
        )
        .expect(0);
        assert!(
            started_at.elapsed() < TIME_MAX,
            "{:?}",
            started_at.elapsed()
        );
        assert!(output.out.contains("done"), "{output:?}");
        assert!(
            output.err.contains("not checked against the schema"),
            "{output:?}"
        );
    }
}

#[test]
fn ask_leaves_uncheckable_arguments_to_the_server_with_a_notice() {
    for (schema, arguments) in cases() {
        let (server, home) = home_with(&schema);
        let call = json!({ "server": "shell", "name": "age", "arguments": arguments });
        server.queue_reply("/api/chat", ollama_text(&[&call.to_string()]));
        server.queue_reply("/api/chat", ollama_text(&["It was called."]));
        let started_at = Instant::now();
        let output = run(&home, &["ask", "--yes", "How old?"]).expect(0);
        assert!(
            started_at.elapsed() < TIME_MAX,
            "{:?}",
            started_at.elapsed()
        );
        assert_eq!(output.out, "It was called.\n");
        assert!(
            output.err.contains("not checked against the schema"),
            "{output:?}"
        );
        assert_eq!(
            shell_server::called_tools(&home.path().join("shell")),
            ["age"]
        );
    }
}

#[test]
fn invalid_arguments_of_an_ordinary_schema_are_still_rejected() {
    let schema = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let (_server, home) = home_with(&schema);
    let output = run(&home, &["mcp", "call", "shell", "age", r#"{"x": "old"}"#]).expect(2);
    assert!(output.err.contains("do not fit `age`"), "{output:?}");
    assert!(shell_server::called_tools(&home.path().join("shell")).is_empty());
}
