//! Locates the servers in `mcp-servers.json`: under `mcpServers`, or in the layouts of other
//! clients and of older humble-ai-cli homes.

use super::ConfigError;
use super::json_document::{JsonDocument, type_description};
use super::json_edit::PathStep;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(super) struct ServerEntry<'a> {
    pub(super) id: String,
    pub(super) location: EntryLocation,
    pub(super) value: &'a Value,
}

/// The location of an existing or new entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryLocation {
    /// A member of the object under this key, or of the root itself.
    Member(Option<&'static str>),
    /// An element of the list under this key, the layout of older homes.
    Element(&'static str, usize),
}

impl EntryLocation {
    pub(super) fn steps<'a>(&'a self, id: &'a str) -> Vec<PathStep<'a>> {
        match self {
            Self::Member(Some(key)) => vec![PathStep::Key(key), PathStep::Key(id)],
            Self::Member(None) => vec![PathStep::Key(id)],
            Self::Element(key, index) => vec![PathStep::Key(key), PathStep::Index(*index)],
        }
    }
}

/// Fails if the container of the servers has the wrong type.
pub(super) fn entries(document: &JsonDocument) -> Result<Vec<ServerEntry<'_>>, ConfigError> {
    let root = document.root();
    let Some(key) = container_key(root) else {
        // The root itself lists the servers. Values that are not objects, such as
        // `$schema`, are skipped.
        let members = root.iter().filter(|(_, value)| value.is_object());
        return Ok(entries_in_object(members, None));
    };
    match root.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(members)) => Ok(entries_in_object(members.iter(), Some(key))),
        Some(Value::Array(items)) => Ok(entries_in_list(items, key)),
        Some(other) => Err(ConfigError::WrongShape {
            path: document.path().to_owned(),
            line: document.line_of(&[PathStep::Key(key)]),
            problem: format!("`{key}` is {}, expected an object", type_description(other)),
        }),
    }
}

pub(super) fn new_entry_location(document: &JsonDocument) -> EntryLocation {
    match container_key(document.root()) {
        None => EntryLocation::Member(None),
        Some(key) => match document.root().get(key) {
            Some(Value::Array(items)) => EntryLocation::Element(key, items.len()),
            _ => EntryLocation::Member(Some(key)),
        },
    }
}

/// The key of the server container; `None` if the root lists the servers.
fn container_key(root: &Map<String, Value>) -> Option<&'static str> {
    let is_server = |value: &Value| value.get("command").is_some() || value.get("url").is_some();
    if root.contains_key("mcpServers") {
        Some("mcpServers")
    } else if root
        .get("servers")
        .is_some_and(|value| value.is_object() && !is_server(value))
    {
        Some("servers")
    } else if root.values().any(Value::is_object) {
        None
    } else {
        Some("mcpServers")
    }
}

fn entries_in_object<'a>(
    members: impl Iterator<Item = (&'a String, &'a Value)>,
    key: Option<&'static str>,
) -> Vec<ServerEntry<'a>> {
    members
        .map(|(id, value)| ServerEntry {
            id: id.clone(),
            location: EntryLocation::Member(key),
            value,
        })
        .collect()
}

fn entries_in_list<'a>(items: &'a [Value], key: &'static str) -> Vec<ServerEntry<'a>> {
    let name_of = |value: &Value| Some(value.get("name")?.as_str()?.to_owned());
    // Explicit names are reserved first, so that no generated name collides with them.
    let mut unassigned: BTreeSet<String> = items.iter().filter_map(name_of).collect();
    let mut used_names = unassigned.clone();
    items
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let id = name_of(value)
                .filter(|name| unassigned.remove(name))
                .unwrap_or_else(|| {
                    let by_index = format!("server-{}", index + 1);
                    let numbered = (2..).map(|count| format!("{by_index}-{count}"));
                    let mut names = std::iter::once(by_index.clone()).chain(numbered);
                    let name = names.find(|name| used_names.insert(name.clone()));
                    name.expect("there are more numbers than servers")
                });
            ServerEntry {
                id,
                location: EntryLocation::Element(key, index),
                value,
            }
        })
        .collect()
}
