//! Compares one untrusted text with a call. If in doubt, the call counts as copied: a false alarm costs
//! the user only one question.

use crate::domain::{Arguments, QuoteSource, QuotedPassage, ServerId, Tool};
use crate::text::normalize::NormalizedText;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::OnceLock;

/// A value with fewer characters could stand in any text, so it must stand near the tool's name.
const LONG_CHARS_MIN: usize = 4;
/// How far from the tool's name a short value may stand, in bytes of normalized text.
const NEAR_BYTES: usize = 200;
/// Maximum number of values that are searched, longest first.
const VALUES_MAX: usize = 64;
/// Maximum number of places of the tool's name that are searched for short values.
const PLACES_MAX: usize = 1_000;
/// Characters of a passage on either side of what was found.
const PASSAGE_CHARS: usize = 80;
/// Size of a kept text besides the text itself, approximately.
const OVERHEAD_BYTES: usize = 256;

#[derive(Debug)]
pub(super) struct KeptText {
    source: QuoteSource,
    /// What a server describes in the text: one of its tools, or itself.
    described: Option<(ServerId, Option<String>)>,
    text: Box<str>,
    normalized: OnceLock<NormalizedText>,
}

impl KeptText {
    pub(super) fn new(source: QuoteSource, text: &str) -> Self {
        Self {
            source,
            described: None,
            text: text.into(),
            normalized: OnceLock::new(),
        }
    }

    pub(super) fn instructions(server: &ServerId, text: &str) -> Self {
        Self {
            described: Some((server.clone(), None)),
            ..Self::new(QuoteSource::ServerText, text)
        }
    }

    pub(super) fn definition(server: &ServerId, tool: &Tool) -> Self {
        let title = tool.title.as_deref().unwrap_or_default();
        let description = tool.description.as_deref().unwrap_or_default();
        let schema = Value::Object(tool.input_schema.clone());
        let text = format!("{} {title}\n{description}\n{schema}", tool.name);
        Self {
            described: Some((server.clone(), Some(tool.name.clone()))),
            ..Self::new(QuoteSource::ServerText, &text)
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len() + OVERHEAD_BYTES
    }

    /// What distinguishes it from other texts.
    pub(super) fn identity(&self) -> impl std::hash::Hash + '_ {
        let described = self.described.as_ref();
        let described = described.map(|(server, tool)| (server.as_str(), tool));
        (described, &self.text)
    }

    /// Takes linear time on the first call.
    pub(super) fn normalized(&self) -> &NormalizedText {
        let normalize = || NormalizedText::new(&self.text);
        self.normalized.get_or_init(normalize)
    }

    /// The passage of a call to a tool of `server`, if the text contains it.
    pub(super) fn passage_of(&self, server: &ServerId, call: &CallWords) -> Option<QuotedPassage> {
        let is_own = match &self.described {
            // A tool of this name on any server.
            Some((_, Some(tool))) => *tool == call.tool,
            Some((described, None)) => described == server,
            None => false,
        };
        call.is_in(self.normalized(), is_own)
            .then(|| QuotedPassage {
                source: self.source,
                text: self.excerpt(&call.written).into(),
            })
    }

    /// The text around the first of `words` that it contains as written.
    fn excerpt(&self, words: &[String]) -> String {
        let found = words.iter().find_map(|words| self.text.find(&**words));
        let Some(at) = found else {
            return String::new();
        };
        let (before, after) = self.text.split_at(at);
        let start = before.char_indices().rev().take(PASSAGE_CHARS).last();
        let before = start.map_or("", |(start, _)| &before[start..]);
        let after: String = after.chars().take(PASSAGE_CHARS).collect();
        format!("{before}{after}")
    }
}

/// What a text must contain if a call was copied from it.
#[derive(Debug)]
pub(super) struct CallWords {
    tool: String,
    name: NormalizedText,
    /// Strings of at least [`LONG_CHARS_MIN`] characters, each with whether the tool's schema lists it.
    long: Vec<(NormalizedText, bool)>,
    short: Vec<NormalizedText>,
    /// As written, the most telling one first.
    written: Vec<String>,
}

impl CallWords {
    pub(super) fn new(tool: &Tool, arguments: &Arguments) -> Self {
        let mut values = Vec::new();
        for value in arguments.values() {
            collect_values(value, &mut values);
        }
        values.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        values.dedup();
        values.truncate(VALUES_MAX);
        let mut listed = HashSet::new();
        collect_listed(&tool.input_schema, &mut listed);
        let (mut long, mut short) = (Vec::new(), Vec::new());
        let mut written = Vec::new();
        for (text, is_string) in values {
            let normalized = NormalizedText::new(&text);
            if is_string && normalized.as_str().chars().count() >= LONG_CHARS_MIN {
                long.push((normalized, listed.contains(text.as_str())));
                written.push(text);
            } else if !normalized.as_str().is_empty() {
                short.push(normalized);
            }
        }
        written.push(tool.name.clone());
        Self {
            tool: tool.name.clone(),
            name: NormalizedText::new(&tool.name),
            long,
            short,
            written,
        }
    }

    /// Whether `text` contains the name and the values. Its own description (`is_own`) names
    /// the tool and the values that it takes, so those prove nothing.
    fn is_in(&self, text: &NormalizedText, is_own: bool) -> bool {
        if !text.as_str().contains(self.name.as_str()) {
            return false;
        }
        let counts = |(_, is_listed): &&(_, bool)| !(is_own && *is_listed);
        let mut long = self.long.iter().filter(counts).peekable();
        if long.peek().is_some() {
            return long.all(|(value, _)| text.as_str().contains(value.as_str()));
        }
        !is_own && self.long.is_empty() && self.is_near_name(text)
    }

    /// Whether the name stands in the text with all short values near it.
    fn is_near_name(&self, text: &NormalizedText) -> bool {
        let mut places = text.find_words(&self.name, 0..text.as_str().len());
        let has_values = |at: usize| {
            let range = text.range_around(at, NEAR_BYTES);
            let mut values = self.short.iter();
            values.all(|value| text.find_words(value, range.clone()).next().is_some())
        };
        places.by_ref().take(PLACES_MAX).any(has_values) || places.next().is_some()
    }
}

/// The strings, numbers and booleans in a value, each with whether it is a string.
fn collect_values(value: &Value, values: &mut Vec<(String, bool)>) {
    match value {
        Value::String(text) => values.push((text.clone(), true)),
        Value::Array(items) => {
            for item in items {
                collect_values(item, values);
            }
        }
        Value::Object(members) => {
            for member in members.values() {
                collect_values(member, values);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => values.push((value.to_string(), false)),
    }
}

/// The strings that a schema lists as possible values.
fn collect_listed<'a>(schema: &'a Map<String, Value>, listed: &mut HashSet<&'a str>) {
    for (key, value) in schema {
        match value {
            Value::Object(members) => collect_listed(members, listed),
            Value::Array(items) => {
                let is_list = matches!(key.as_str(), "enum" | "examples");
                listed.extend(items.iter().filter(|_| is_list).filter_map(Value::as_str));
                for member in items.iter().filter_map(Value::as_object) {
                    collect_listed(member, listed);
                }
            }
            Value::String(text) if matches!(key.as_str(), "const" | "default") => {
                listed.insert(text);
            }
            _ => {}
        }
    }
}
