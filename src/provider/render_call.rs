//! Renders earlier tool calls as text, in the form that the system prompt taught the model. Pure.

use crate::domain::{Dialect, ToolCallMessage};
use serde_json::{Value, json};
use std::fmt::Write;

/// One JSON object per line, or one `<mcp-request>` block per call in the XML dialect.
pub(super) fn render_calls(calls: &[ToolCallMessage], dialect: Dialect) -> String {
    let form = match dialect {
        Dialect::Xml => block,
        Dialect::Prompt | Dialect::Native => line,
    };
    let calls: Vec<String> = calls.iter().map(form).collect();
    calls.join("\n")
}

fn line(call: &ToolCallMessage) -> String {
    json!({
        "server": call.server.as_str(),
        "name": call.tool,
        "arguments": call.arguments,
    })
    .to_string()
}

fn block(call: &ToolCallMessage) -> String {
    let name = escaped(&call.prompt_name);
    let mut block = format!("<mcp-request>\n  <tool name=\"{name}\" />\n");
    for (key, value) in &call.arguments {
        // Strings are written unquoted, everything else as JSON. The tool's schema tells them
        // apart when the call is parsed.
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
