//! Calls as a model is reminded of them within the turn, where it writes them into
//! its text: in the form that it was taught. Pure.

use crate::domain::{CallMessage, Dialect};
use serde_json::{Value, json};
use std::fmt::Write;

/// The text of an assistant's message that asked for `calls`: S4.3's JSON, one a line,
/// or S6.5's blocks.
pub(super) fn written(calls: &[CallMessage], dialect: Dialect) -> String {
    let form = match dialect {
        Dialect::Xml => block,
        Dialect::Prompt | Dialect::Native => line,
    };
    let calls: Vec<String> = calls.iter().map(form).collect();
    calls.join("\n")
}

fn line(call: &CallMessage) -> String {
    json!({
        "server": call.server.as_str(),
        "name": call.tool,
        "arguments": call.arguments,
    })
    .to_string()
}

fn block(call: &CallMessage) -> String {
    let name = escaped(&call.taught_name);
    let mut block = format!("<mcp-request>\n  <tool name=\"{name}\" />\n");
    for (key, value) in &call.arguments {
        // A text stands as it is, everything else as JSON: the schema tells them apart.
        let value = match value {
            Value::String(text) => escaped(text),
            other => escaped(&other.to_string()),
        };
        // Writing into a String cannot fail.
        let _ = writeln!(block, "  <param name=\"{}\">{value}</param>", escaped(key));
    }
    block.push_str("</mcp-request>");
    block
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
