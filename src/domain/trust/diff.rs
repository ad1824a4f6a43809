//! The difference between the definition of a tool that was accepted and the one that
//! its server has now, as a person reads it: the description line by line, the schema
//! property by property. Nothing of it is left out: what cannot be seen cannot be
//! accepted.

use super::{AcceptedDefinition, LaunchId, ServerId, Tool};
use crate::text::common_prefix_suffix::common_prefix_suffix;
use jiff::Timestamp;
use serde_json::{Map, Value};
use similar::{Algorithm, ChangeTag, capture_diff_slices};
use std::sync::Arc;

/// Lines of either side up to which the lines that both have are looked for; longer
/// texts are shown whole, the old one and the new one.
const ALIGNED_LINES_MAX: usize = 400;
/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 2;

/// What of a tool's definition is compared and shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolDefinition {
    pub title: Option<String>,
    pub description: Option<String>,
    pub input_schema: Map<String, Value>,
    /// All else, such as annotations and the output schema.
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

/// A tool whose definition changed since it was accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct PinChange {
    pub server: ServerId,
    pub launch: LaunchId,
    /// What it is now.
    pub tool: Arc<Tool>,
    pub accepted: AcceptedDefinition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffSign {
    Same,
    Removed,
    Added,
    /// Not a line, but how many unchanged ones are left out.
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

/// One part of a definition with its lines, raw. Without lines it is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffSection {
    pub name: String,
    pub lines: Vec<(DiffSign, String)>,
}

impl DiffSection {
    /// The lines that changed and those around them. A change must not hide between
    /// hundreds of lines that are what they were.
    pub fn folded(&self) -> Vec<(DiffSign, String)> {
        let changed = |at: usize| self.lines[at].0 != DiffSign::Same;
        let is_near = |at: usize| {
            let end = (at + CONTEXT_LINES + 1).min(self.lines.len());
            (at.saturating_sub(CONTEXT_LINES)..end).any(changed)
        };
        let (mut folded, mut at) = (Vec::new(), 0);
        while at < self.lines.len() {
            let far = (at..self.lines.len())
                .take_while(|at| !is_near(*at))
                .count();
            // A single line takes no more room than the word about it.
            if far > 1 {
                folded.push((DiffSign::Folded, format!("{far} unchanged lines")));
                at += far;
            } else {
                folded.push(self.lines[at].clone());
                at += 1;
            }
        }
        folded
    }
}

impl PinChange {
    /// Did the person decide to keep this very definition withheld?
    pub fn is_declined(&self) -> bool {
        self.accepted.declined_pin.as_ref() == Some(&self.tool.pin)
    }

    /// Since when it is another, as the end of a sentence about the tool.
    pub fn since_clause(&self) -> String {
        match self.accepted.is_unknown() {
            true => "and trust.json does not say what it was when you accepted it".to_owned(),
            false => format!(
                "since you accepted it on {}",
                self.accepted_at().strftime("%Y-%m-%d")
            ),
        }
    }

    pub fn accepted_at(&self) -> Timestamp {
        self.accepted.accepted_at
    }

    /// The parts of the definition in a fixed order; description and schema always,
    /// the others where they differ.
    pub fn sections(&self) -> Vec<DiffSection> {
        let new = ToolDefinition::from_tool(&self.tool);
        let is_known = self.accepted.definition.is_some();
        let old = self.accepted.definition.clone().unwrap_or_default();
        let mut sections = Vec::new();
        if !is_known {
            sections.push(DiffSection {
                name: "What was accepted was too long to be kept. What it is now:".to_owned(),
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

/// The keys of both, those of the first in its order.
fn merged_keys<'a>(old: &'a Map<String, Value>, new: &'a Map<String, Value>) -> Vec<&'a str> {
    let more = new.keys().filter(|key| !old.contains_key(*key));
    old.keys().chain(more).map(String::as_str).collect()
}

/// The schema by property; what stands beside `properties` by key.
fn schema_lines(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<(DiffSign, String)> {
    let empty = Map::new();
    let properties = |schema: &Map<String, Value>| match schema.get("properties") {
        Some(Value::Object(properties)) => Some(properties.clone()),
        _ => None,
    };
    let (before, after) = (properties(old), properties(new));
    let mut lines = Vec::new();
    for key in merged_keys(old, new) {
        let is_table = key == "properties" && (before.is_some() || after.is_some());
        match is_table {
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
    let of = |key: &str| {
        let path = format!("{path}{}", quote_key(key));
        value_lines(&path, old.get(key), new.get(key))
    };
    merged_keys(old, new).into_iter().flat_map(of).collect()
}

/// One value that came, went or changed. Objects that both sides have are compared
/// member by member, so that a small change in a large one is found.
fn value_lines(path: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<(DiffSign, String)> {
    let line = |sign, value: &Value| {
        let lead = if path.is_empty() { "" } else { ": " };
        (sign, format!("{path}{lead}{value}"))
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

/// A key with unusual characters must not pass for a path or a value.
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

/// The lines of both in order: those that both have once.
fn diff_lines(old: &[&str], new: &[&str]) -> Vec<(DiffSign, String)> {
    // What begins and ends alike needs no search, however long it is.
    let (head, tail) = common_prefix_suffix(old, new);
    let (before, after) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    [
        lines_with_sign(DiffSign::Same, &old[..head]),
        diff_middle(before, after),
        lines_with_sign(DiffSign::Same, &old[old.len() - tail..]),
    ]
    .concat()
}

fn lines_with_sign(sign: DiffSign, lines: &[&str]) -> Vec<(DiffSign, String)> {
    lines
        .iter()
        .map(|line| (sign, (*line).to_owned()))
        .collect()
}

fn diff_middle(old: &[&str], new: &[&str]) -> Vec<(DiffSign, String)> {
    if old.len().max(new.len()) > ALIGNED_LINES_MAX {
        return [
            lines_with_sign(DiffSign::Removed, old),
            lines_with_sign(DiffSign::Added, new),
        ]
        .concat();
    }
    let sign = |tag| match tag {
        ChangeTag::Equal => DiffSign::Same,
        ChangeTag::Delete => DiffSign::Removed,
        ChangeTag::Insert => DiffSign::Added,
    };
    capture_diff_slices(Algorithm::Myers, old, new)
        .iter()
        .flat_map(|op| op.iter_changes(old, new))
        .map(|change| (sign(change.tag()), change.value().to_owned()))
        .collect()
}
