//! The tool `find_tools`, with which a model finds tools that are held back. The engine answers it
//! from its own list of tools: no server is asked, so no approval is needed.

use crate::domain::{OfferedTool, ServerId, Tool, Toolset};
use crate::text::Clean;
use serde_json::{Value, json};
use std::fmt::Write;

/// Maximum number of tools that one search adds.
pub(super) const FOUND_MAX: usize = 5;
/// Maximum characters of a description in the answer.
const DESCRIPTION_CHARS_MAX: usize = 200;
/// Maximum number of servers named if nothing was found.
const SERVERS_MAX: usize = 20;

/// Never changes, because a change would invalidate the server's prompt cache.
pub(super) fn definition() -> Tool {
    let definition = json!({
        "name": OfferedTool::TOOL_SEARCH_NAME,
        "title": "Find tools",
        "description": "Finds further tools that you can call. Only some tools are listed here. \
            If none of them fits, call this before you answer that something is not possible.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "English keywords: what the tool does and with what, such as \
                        `create calendar event`",
                },
            },
            "required": ["query"],
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    });
    Tool::from_definition(&definition).expect("a valid definition")
}

pub(super) fn query(arguments: &serde_json::Map<String, Value>) -> &str {
    let query = arguments.get("query").and_then(Value::as_str);
    query.unwrap_or_default()
}

/// Names and descriptions come from servers, so each is reduced to one line.
pub(super) fn answer(toolset: &Toolset, keys: &[(ServerId, String)]) -> String {
    let mut text = String::new();
    for offered in keys
        .iter()
        .filter_map(|(server, name)| toolset.get(server, name))
    {
        if text.is_empty() {
            text.push_str("These tools can be called now:\n");
        }
        let server = Clean::single_line(offered.server.as_str());
        let name = Clean::single_line(&offered.tool.name);
        let description = offered.tool.description.as_deref().unwrap_or_default();
        let description: String = description.chars().take(DESCRIPTION_CHARS_MAX).collect();
        let description = Clean::single_line(&description);
        let _ = writeln!(text, "- {name} of {server}: {description}");
    }
    match text.is_empty() {
        true => nothing_found(toolset),
        false => text,
    }
}

fn nothing_found(toolset: &Toolset) -> String {
    let mut servers: Vec<&ServerId> = Vec::new();
    for offered in toolset.tools() {
        if !servers.contains(&&offered.server) && servers.len() < SERVERS_MAX {
            servers.push(&offered.server);
        }
    }
    let names: Vec<String> = servers
        .iter()
        .map(|id| Clean::single_line(id.as_str()).as_str().to_owned())
        .collect();
    format!(
        "No tool matches these words. Try other words. There are tools of these servers: {}.",
        names.join(", ")
    )
}
