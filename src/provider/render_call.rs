//! Renders earlier tool calls as text, in the form that the system prompt taught the model. Pure.

use crate::domain::{Dialect, ToolCallMessage};
use serde_json::Value;
use std::fmt::Write;

/// One JSON object per line, or one `<mcp-request>` block per call in the XML dialect.
pub(super) fn render_calls(calls: &[ToolCallMessage], dialect: Dialect) -> String {
    let render = match dialect {
        Dialect::Xml => render_xml,
        Dialect::Prompt | Dialect::Native => render_json,
    };
    let calls: Vec<String> = calls.iter().map(render).collect();
    calls.join("\n")
}

fn render_json(call: &ToolCallMessage) -> String {
    let (server, name) = (Value::from(call.server.as_str()), Value::from(&*call.tool));
    format!(
        r#"{{"server":{server},"name":{name},"arguments":{}}}"#,
        call.arguments.to_json()
    )
}

fn render_xml(call: &ToolCallMessage) -> String {
    let name = escape_xml(&call.xml_name);
    let mut block = format!("<mcp-request>\n  <tool name=\"{name}\" />\n");
    for (key, value) in &call.arguments {
        // Strings are written unquoted, other values as JSON. When the call is parsed, the tool's
        // schema distinguishes them.
        let value = match value {
            Value::String(text) => escape_xml(text),
            _ => escape_xml(&call.arguments.member_json(key)),
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            block,
            "  <param name=\"{}\">{value}</param>",
            escape_xml(key)
        );
    }
    block.push_str("</mcp-request>");
    block
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}
