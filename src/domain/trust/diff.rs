//! A readable diff between a tool's accepted and current definition: the description by
//! line, the schema by property. The diff is complete, because users must not accept changes
//! that they cannot see.

use super::{AcceptedDefinition, LaunchId, ServerId, Tool};
use crate::text::line_diff;
use crate::text::line_diff::LineChange;
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Unchanged lines shown before and after a change.
const CONTEXT_LINES: usize = 2;

/// The parts of a definition that are compared and shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolDefinition {
    pub title: Option<String>,
    pub description: Option<String>,
    pub input_schema: Map<String, Value>,
    /// Everything else, such as annotations and the output schema.
    pub extra: Map<String, Value>,
}

impl ToolDefinition {
    pub fn from_tool(tool: &Tool) -> Self {
        Self {
            title: tool.title.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            extra: tool.extra.clone(),
        }
    }
}

/// A tool whose definition changed after it was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct PinChange {
    pub server: ServerId,
    pub launch: LaunchId,
    /// The current definition.
    pub tool: Arc<Tool>,
    pub accepted: AcceptedDefinition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffSign {
    Same,
    Removed,
    Added,
    /// A line that stands for omitted unchanged lines and states their number.
    Folded,
}

impl DiffSign {
    pub fn glyph(self) -> char {
        match self {
            Self::Same => ' ',
            Self::Removed => '-',
            Self::Added => '+',
            Self::Folded => '…',
        }
    }
}

/// The diff of one part of a definition. It has no lines if the part is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffSection {
    pub name: String,
    pub lines: Vec<(DiffSign, String)>,
}

impl DiffSection {
    /// The changed lines with context, so a change cannot hide among hundreds of unchanged
    /// lines.
    pub fn folded(&self) -> Vec<(DiffSign, String)> {
        let is_changed = |index: usize| self.lines[index].0 != DiffSign::Same;
        let is_near_change = |index: usize| {
            let end = (index + CONTEXT_LINES + 1).min(self.lines.len());
            (index.saturating_sub(CONTEXT_LINES)..end).any(is_changed)
        };
        let (mut folded, mut index) = (Vec::new(), 0);
        while index < self.lines.len() {
            let foldable = (index..self.lines.len())
                .take_while(|index| !is_near_change(*index))
                .count();
            // Folding a single line would save no space.
            if foldable > 1 {
                folded.push((DiffSign::Folded, format!("{foldable} unchanged lines")));
                index += foldable;
            } else {
                folded.push(self.lines[index].clone());
                index += 1;
            }
        }
        folded
    }
}

impl PinChange {
    /// Whether the user already declined this definition.
    pub fn is_declined(&self) -> bool {
        self.accepted.declined_pin.as_ref() == Some(&self.tool.pin)
    }

    /// The end of a sentence about the change: the date of the old definition, if it is known.
    pub fn since_clause(&self) -> String {
        match self.accepted.is_unknown() {
            true => "but trust.json does not contain the accepted definition".to_owned(),
            false => format!(
                "since it was first seen or accepted on {}",
                self.accepted_at().strftime("%Y-%m-%d")
            ),
        }
    }

    pub fn accepted_at(&self) -> Timestamp {
        self.accepted.accepted_at
    }

    /// The diffs of all parts, after a remark if the accepted definition is not available.
    /// Description and schema are always included, others only if they changed.
    pub fn sections(&self) -> Vec<DiffSection> {
        let new = ToolDefinition::from_tool(&self.tool);
        let has_old_definition = self.accepted.definition.is_some();
        let old = self.accepted.definition.clone().unwrap_or_default();
        let mut sections = Vec::new();
        if !has_old_definition {
            sections.push(DiffSection {
                name: "The accepted definition is not available. Current definition:".to_owned(),
                lines: vec![],
            });
        }
        if old.title != new.title {
            let (old, new) = (old.title.as_deref(), new.title.as_deref());
            sections.push(section("title", text_lines(old, new)));
        }
        let (before, after) = (old.description.as_deref(), new.description.as_deref());
        sections.push(section("description", text_lines(before, after)));
        sections.push(section(
            "schema",
            schema_lines(&old.input_schema, &new.input_schema),
        ));
        for key in merged_keys(&old.extra, &new.extra) {
            let (before, after) = (old.extra.get(key), new.extra.get(key));
            let lines = match (before, after) {
                (Some(Value::Object(before)), Some(Value::Object(after))) => {
                    member_lines("", before, after)
                }
                _ => value_lines("", before, after),
            };
            if !lines.is_empty() {
                sections.push(section(key, lines));
            }
        }
        sections
    }
}

fn section(name: &str, lines: Vec<(DiffSign, String)>) -> DiffSection {
    DiffSection {
        name: name.to_owned(),
        lines,
    }
}

/// The keys of both maps, those of `old` first.
fn merged_keys<'a>(old: &'a Map<String, Value>, new: &'a Map<String, Value>) -> Vec<&'a str> {
    let added = new.keys().filter(|key| !old.contains_key(*key));
    old.keys().chain(added).map(String::as_str).collect()
}

/// Compares two schemas property by property, and their other keywords by value.
fn schema_lines(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<(DiffSign, String)> {
    let empty = Map::new();
    let properties = |schema: &Map<String, Value>| match schema.get("properties") {
        Some(Value::Object(properties)) => Some(properties.clone()),
        _ => None,
    };
    let (before, after) = (properties(old), properties(new));
    let mut lines = Vec::new();
    for key in merged_keys(old, new) {
        let is_properties_object = key == "properties" && (before.is_some() || after.is_some());
        match is_properties_object {
            true => lines.extend(member_lines(
                "",
                before.as_ref().unwrap_or(&empty),
                after.as_ref().unwrap_or(&empty),
            )),
            false => lines.extend(value_lines(key, old.get(key), new.get(key))),
        }
    }
    lines
}

fn member_lines(
    path: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Vec<(DiffSign, String)> {
    let lines_of_key = |key: &str| {
        let path = format!("{path}{}", quote_key(key));
        value_lines(&path, old.get(key), new.get(key))
    };
    merged_keys(old, new)
        .into_iter()
        .flat_map(lines_of_key)
        .collect()
}

/// Objects are compared by member to show small changes in large ones.
fn value_lines(path: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<(DiffSign, String)> {
    let line = |sign, value: &Value| {
        let separator = if path.is_empty() { "" } else { ": " };
        (sign, format!("{path}{separator}{value}"))
    };
    match (old, new) {
        (Some(old), Some(new)) if old == new => Vec::new(),
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            member_lines(&format!("{path}."), old, new)
        }
        _ => {
            let old = old.map(|value| line(DiffSign::Removed, value));
            old.into_iter()
                .chain(new.map(|value| line(DiffSign::Added, value)))
                .collect()
        }
    }
}

/// Quotes a key with unusual characters, because it could look like a path or a value.
fn quote_key(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '$';
    match !key.is_empty() && key.chars().all(is_plain) {
        true => key.to_owned(),
        false => Value::from(key).to_string(),
    }
}

pub(super) fn text_lines(old: Option<&str>, new: Option<&str>) -> Vec<(DiffSign, String)> {
    if old == new {
        return Vec::new();
    }
    diff_lines(&split_lines(old), &split_lines(new))
}

fn split_lines(text: Option<&str>) -> Vec<&str> {
    text.map_or_else(Vec::new, |text| text.split('\n').collect())
}

fn diff_lines(old: &[&str], new: &[&str]) -> Vec<(DiffSign, String)> {
    let sign = |change| match change {
        LineChange::Same => DiffSign::Same,
        LineChange::Removed => DiffSign::Removed,
        LineChange::Added => DiffSign::Added,
    };
    line_diff::diff_lines(old, new)
        .into_iter()
        .map(|(change, line)| (sign(change), line.to_owned()))
        .collect()
}
