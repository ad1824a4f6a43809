//! Finds the servers in a parsed file, by the keys that clients use.

use super::error::ImportError;
use serde_json::{Map, Value};
use std::path::Path;

/// Files with more servers are refused.
const SERVERS_MAX: usize = 500;

/// The name and the entry of each server.
///
/// # Errors
/// The file lists no servers, or too many.
pub(super) fn entries<'a>(
    path: &Path,
    root: &'a Map<String, Value>,
    current_folder: &Path,
) -> Result<Vec<(String, &'a Value)>, ImportError> {
    let mut entries = Vec::new();
    for container in containers(root, current_folder) {
        match container {
            Value::Object(members) => {
                entries.extend(members.iter().map(|(name, value)| (name.clone(), value)));
            }
            Value::Array(items) => entries.extend(items.iter().enumerate().map(named_item)),
            _ => {}
        }
    }
    match entries.len() {
        0 => Err(ImportError::NoServers {
            path: path.to_owned(),
        }),
        count if count > SERVERS_MAX => Err(ImportError::TooManyServers {
            path: path.to_owned(),
            count,
            count_max: SERVERS_MAX,
        }),
        _ => Ok(entries),
    }
}

/// The values that hold servers. A file may have several.
fn containers<'a>(root: &'a Map<String, Value>, current_folder: &Path) -> Vec<&'a Value> {
    let current_folder = current_folder.to_string_lossy();
    let project = root
        .get("projects")
        .and_then(|projects| projects.get(current_folder.as_ref())?.get("mcpServers"));
    let mut containers: Vec<&Value> = [
        // Claude, Cursor, Gemini CLI, LM Studio, Windsurf
        root.get("mcpServers"),
        // Claude Code, for one folder
        project,
        // VS Code
        root.get("servers"),
        // Codex
        root.get("mcp_servers"),
        // Zed
        root.get("context_servers"),
    ]
    .into_iter()
    .flatten()
    .collect();
    // opencode has the servers directly under `mcp`, VS Code's settings.json one level deeper.
    if let Some(mcp) = root.get("mcp") {
        containers.push(match mcp.get("servers") {
            Some(servers) if !is_server(servers) => servers,
            _ => mcp,
        });
    }
    // goose. Other programs use the key for lists of names.
    if let Some(extensions) = root.get("extensions") {
        let has_server = match extensions {
            Value::Object(members) => members.values().any(is_goose_extension),
            Value::Array(items) => items.iter().any(is_goose_extension),
            _ => false,
        };
        containers.extend(has_server.then_some(extensions));
    }
    containers
}

fn is_server(value: &Value) -> bool {
    ["command", "url", "type"]
        .iter()
        .any(|key| value.get(key).is_some_and(|field| !field.is_object()))
}

fn is_goose_extension(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string) || value.get("config").is_some()
}

fn named_item((index, item): (usize, &Value)) -> (String, &Value) {
    let name = item.get("name").and_then(Value::as_str);
    let name = name.map_or_else(|| format!("server-{}", index + 1), str::to_owned);
    (name, item)
}
