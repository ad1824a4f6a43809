//! The system message matches the golden files byte for byte.

use crate::support::fixtures;
use humble::dialect::tool_prompt::system_message;
use humble::domain::{Dialect, Server, Toolset};
use serde_json::Value;

pub fn server(name: &str, tools: &[Value]) -> Server {
    fixtures::server(name, tools.iter().map(fixtures::tool_from).collect())
}

fn golden(name: &str) -> (Toolset, String) {
    let path = |ending: &str| format!("tests/golden/{name}.{ending}");
    let read_file = |path: String| std::fs::read_to_string(path).expect("the golden file exists");
    let servers: Vec<Value> =
        serde_json::from_str(&read_file(path("json"))).expect("the golden file is JSON");
    let servers: Vec<Server> = servers
        .iter()
        .map(|entry| {
            let tools = entry["tools"].as_array().expect("tools are a list");
            server(
                entry["server"].as_str().expect("a server has a name"),
                tools,
            )
        })
        .collect();
    (Toolset::from_servers(&servers), read_file(path("txt")))
}

fn default_prompt() -> String {
    std::fs::read_to_string("assets/default_system_prompt.md").expect("the asset exists")
}

#[test]
fn the_system_message_matches_the_golden_file_byte_for_byte() {
    for (name, dialect) in [
        ("no-tools", Dialect::Prompt),
        ("one-server", Dialect::Prompt),
        ("odd-descriptions", Dialect::Prompt),
        ("xml", Dialect::Xml),
        ("no-tools", Dialect::Xml),
    ] {
        let (toolset, expected) = golden(name);
        let message = system_message(&default_prompt(), dialect, &toolset);
        assert_eq!(message.as_deref(), Some(expected.as_str()), "{name}");
    }
}

#[test]
fn the_native_message_is_the_prompt_without_its_final_newline() {
    let (toolset, _) = golden("one-server");
    let native = |prompt| system_message(prompt, Dialect::Native, &toolset);
    assert_eq!(native("Be brief.\n"), Some("Be brief.".to_owned()));
    assert_eq!(native("Be brief.\n\n"), Some("Be brief.\n".to_owned()));
    assert_eq!(native(""), None);
    assert_eq!(native("\n"), None);
}

#[test]
fn an_empty_prompt_adds_nothing_before_the_tool_block() {
    let (toolset, _) = golden("no-tools");
    assert_eq!(
        system_message("", Dialect::Prompt, &toolset).as_deref(),
        Some("FUNCTIONS:\n\n# Connected MCP Servers\n\n**NO TOOL CONNECTED**\n")
    );
}
