//! The output of `humble mcp tools`.

use super::{INDENT, ServerReport, clean_line, token_estimate, wrap_lines};
use crate::domain::Tool;
use crate::text::Clean;
use serde_json::{Map, Value, json};

pub struct ServerTools<'a> {
    pub report: &'a ServerReport,
    /// The usage text of each tool, in the same order as the tools.
    pub usages: Vec<String>,
}

/// `with_schemas` adds each input schema.
pub fn render_text(
    servers: &[ServerTools<'_>],
    with_schemas: bool,
    columns: Option<u16>,
) -> String {
    let blocks: Vec<String> = servers
        .iter()
        .map(|server| render_server(server, with_schemas, columns))
        .collect();
    blocks.join("\n")
}

fn render_server(tools: &ServerTools<'_>, with_schemas: bool, columns: Option<u16>) -> String {
    let report = tools.report;
    let name = Clean::name(report.server.id.as_str());
    let state = match &report.server.peer {
        Some(_) => report.tool_count_texts().join(", "),
        None => report.state_text().to_owned(),
    };
    let mut out = wrap_lines(&clean_line(&format!("{name} ({state})")), 0, columns);
    for remark in report.remarks() {
        out += &wrap_lines(&clean_line(&remark), INDENT / 2, columns);
    }
    for (tool, usage) in report.server.tools.iter().zip(&tools.usages) {
        out += &render_tool(report, tool, usage, columns);
        if with_schemas {
            let pretty = serde_json::to_string_pretty(&tool.input_schema).unwrap_or_default();
            for row in Clean::escaped(&pretty).as_str().lines() {
                out += &format!("{}{row}\n", " ".repeat(INDENT + 2));
            }
        }
    }
    out
}

fn render_tool(report: &ServerReport, tool: &Tool, usage: &str, columns: Option<u16>) -> String {
    let state = match tool_state(report, tool) {
        "on" => "",
        "withheld" => " (withheld: its definition changed)",
        _ => " (off)",
    };
    let heading = format!("{}{state} {usage}", Clean::name(&tool.name));
    let mut out = wrap_lines(clean_line(&heading).trim_end(), INDENT / 2, columns);
    let description = tool.description.as_deref().or(tool.title.as_deref());
    let description = clean_line(description.unwrap_or_default().trim());
    if !description.is_empty() {
        out += &wrap_lines(&description, INDENT + 2, columns);
    }
    out
}

fn tool_state(report: &ServerReport, tool: &Tool) -> &'static str {
    let server = &report.server;
    if server.withheld_tools.contains(&tool.name) {
        "withheld"
    } else if server.disabled_tools.contains(&tool.name) {
        "off"
    } else {
        "on"
    }
}

/// The list as one JSON object, not sanitized.
pub fn render_json(reports: &[ServerReport]) -> Value {
    let servers = reports.iter().map(|report| {
        let tools = report.server.tools.iter().map(|tool| {
            json!({
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.input_schema,
                "annotations": annotations_json(tool),
                "state": tool_state(report, tool),
                "tokens": token_estimate(tool),
                "pin": tool.pin,
            })
        });
        let mut value = report.to_json();
        value["tools"] = tools.collect();
        value
    });
    let servers: Vec<Value> = servers.collect();
    json!({ "servers": servers })
}

fn annotations_json(tool: &Tool) -> Value {
    let annotations = &tool.annotations;
    let hints = [
        ("readOnlyHint", annotations.read_only),
        ("destructiveHint", annotations.destructive),
        ("idempotentHint", annotations.idempotent),
        ("openWorldHint", annotations.open_world),
    ];
    let present = hints
        .into_iter()
        .filter_map(|(name, hint)| Some((name.to_owned(), json!(hint?))));
    Value::Object(present.collect::<Map<_, _>>())
}
