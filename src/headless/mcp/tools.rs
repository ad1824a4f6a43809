//! The tools of servers, for `humble mcp tools`.

use super::{Found, INDENT, folded, line, tokens};
use crate::domain::Tool;
use crate::text::Clean;
use serde_json::{Map, Value, json};

/// A server with what its tools take, in words.
pub struct Shown<'a> {
    pub found: &'a Found,
    /// How each of its tools is called, in their order.
    pub usages: Vec<String>,
}

/// The list for a person, with each input schema where that is wanted.
pub fn text(shown: &[Shown<'_>], schema: bool, columns: Option<u16>) -> String {
    let blocks: Vec<String> = shown
        .iter()
        .map(|one| server(one, schema, columns))
        .collect();
    blocks.join("\n")
}

fn server(shown: &Shown<'_>, schema: bool, columns: Option<u16>) -> String {
    let found = shown.found;
    let name = Clean::name(found.server.id.as_str());
    let words = match &found.server.peer {
        Some(_) => found.tools_words().join(", "),
        None => found.state().to_owned(),
    };
    let mut out = folded(&line(&format!("{name} ({words})")), 0, columns);
    for remark in found.remarks() {
        out += &folded(&line(&remark), INDENT / 2, columns);
    }
    for (tool, usage) in found.server.tools.iter().zip(&shown.usages) {
        out += &one_tool(found, tool, usage, columns);
        if schema {
            let pretty = serde_json::to_string_pretty(&tool.input_schema).unwrap_or_default();
            for row in Clean::escaped(&pretty).as_str().lines() {
                out += &format!("{}{row}\n", " ".repeat(INDENT + 2));
            }
        }
    }
    out
}

fn one_tool(found: &Found, tool: &Tool, usage: &str, columns: Option<u16>) -> String {
    let state = match state(found, tool) {
        "on" => "",
        "withheld" => " (withheld: its definition changed)",
        _ => " (off)",
    };
    let head = format!("{}{state} {usage}", Clean::name(&tool.name));
    let mut out = folded(line(&head).trim_end(), INDENT / 2, columns);
    let about = tool.description.as_deref().or(tool.title.as_deref());
    let about = line(about.unwrap_or_default().trim());
    if !about.is_empty() {
        out += &folded(&about, INDENT + 2, columns);
    }
    out
}

fn state(found: &Found, tool: &Tool) -> &'static str {
    let server = &found.server;
    if server.withheld.contains(&tool.name) {
        "withheld"
    } else if server.tools_off.contains(&tool.name) {
        "off"
    } else {
        "on"
    }
}

/// The same for programs: one object, its text raw.
pub fn json(found: &[Found]) -> String {
    let servers = found.iter().map(|one| {
        let tools = one.server.tools.iter().map(|tool| {
            json!({
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.input_schema,
                "annotations": annotations(tool),
                "state": state(one, tool),
                "tokens": tokens(tool),
                "pin": tool.pin,
            })
        });
        let mut value = one.json();
        value["tools"] = tools.collect();
        value
    });
    let servers: Vec<Value> = servers.collect();
    format!("{}\n", json!({ "servers": servers }))
}

/// In the names of the protocol.
fn annotations(tool: &Tool) -> Value {
    let notes = &tool.annotations;
    let hints = [
        ("readOnlyHint", notes.read_only),
        ("destructiveHint", notes.destructive),
        ("idempotentHint", notes.idempotent),
        ("openWorldHint", notes.open_world),
    ];
    let said = hints
        .into_iter()
        .filter_map(|(name, hint)| Some((name.to_owned(), json!(hint?))));
    Value::Object(said.collect::<Map<_, _>>())
}
