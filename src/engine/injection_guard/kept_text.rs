//! Compares one untrusted text with a call. If in doubt, the call counts as copied: a false alarm costs
//! the user only one question.

use crate::domain::{Arguments, OfferedTool, QuoteSource, QuotedPassage, ServerId, Tool};
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
    /// The server that describes itself or one of its tools in the text.
    described: Option<ServerId>,
    /// Whether it may reach other conversations, in the message.
    pub(super) is_in_message: bool,
    text: Box<str>,
    /// As written, and with its escapes undone if it has any.
    normalized: OnceLock<Vec<NormalizedText>>,
}

impl KeptText {
    pub(super) fn new(source: QuoteSource, text: &str) -> Self {
        Self {
            source,
            described: None,
            is_in_message: false,
            text: text.into(),
            normalized: OnceLock::new(),
        }
    }

    pub(super) fn in_message(self) -> Self {
        Self {
            is_in_message: true,
            ..self
        }
    }

    pub(super) fn of_server(server: &ServerId, text: &str) -> Self {
        Self {
            described: Some(server.clone()),
            ..Self::new(QuoteSource::ServerText, text)
        }
    }

    pub(super) fn definition(server: &ServerId, tool: &Tool) -> Self {
        let title = tool.title.as_deref().unwrap_or_default();
        let description = tool.description.as_deref().unwrap_or_default();
        let schema = Value::Object(tool.input_schema.clone());
        let text = format!("{} {title}\n{description}\n{schema}", tool.name);
        Self::of_server(server, &text)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len() + OVERHEAD_BYTES
    }

    /// Takes linear time on the first call.
    pub(super) fn normalized(&self) -> &[NormalizedText] {
        let normalize = || NormalizedText::variants(&self.text);
        self.normalized.get_or_init(normalize)
    }

    /// The passage of a call to a tool of `server`, if the text contains it.
    pub(super) fn passage_of(&self, server: &ServerId, call: &CallWords) -> Option<QuotedPassage> {
        let is_own = self.described.as_ref() == Some(server);
        call.is_in(self.normalized(), is_own)
            .then(|| QuotedPassage {
                source: self.source,
                text: self.excerpt(&call.written).into(),
            })
    }

    /// The text around the first of `words` that it contains as written, where the last one, the
    /// tool's name, is nearest.
    fn excerpt(&self, words: &[String]) -> String {
        let places_of = |words: &str| -> Vec<usize> {
            let places = self.text.match_indices(words).take(PLACES_MAX);
            places.map(|(at, _)| at).collect()
        };
        let places = words.iter().map(|words| places_of(words));
        let Some(places) = places.into_iter().find(|places| !places.is_empty()) else {
            return String::new();
        };
        let names = words.last().map(|name| places_of(name)).unwrap_or_default();
        let distance = |at: &usize| {
            let after = names.partition_point(|name| name < at);
            let nearest = [names.get(after), names.get(after.wrapping_sub(1))];
            nearest
                .into_iter()
                .flatten()
                .map(|name| name.abs_diff(*at))
                .min()
        };
        let at = places
            .into_iter()
            .min_by_key(|at| distance(at).unwrap_or(0));
        let (before, after) = self.text.split_at(at.unwrap_or(0));
        let start = before.char_indices().rev().take(PASSAGE_CHARS).last();
        let before = start.map_or("", |(start, _)| &before[start..]);
        let after: String = after.chars().take(PASSAGE_CHARS).collect();
        format!("{before}{after}")
    }
}

/// What a text must contain if a call was copied from it.
#[derive(Debug)]
pub(super) struct CallWords {
    /// The names by which the tool can be called.
    names: Vec<NormalizedText>,
    /// Strings of at least [`LONG_CHARS_MIN`] characters in all variants, each with whether the tool's
    /// schema lists it.
    long: Vec<(Vec<NormalizedText>, bool)>,
    short: Vec<NormalizedText>,
    /// As written, the most telling one first.
    written: Vec<String>,
}

impl CallWords {
    pub(super) fn new(offered: &OfferedTool, arguments: &Arguments) -> Self {
        let (server, tool) = (offered.server.as_str(), &offered.tool);
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
            let mut variants = NormalizedText::variants(&text);
            variants.retain(|variant| !variant.as_str().is_empty());
            if is_string && text.chars().count() >= LONG_CHARS_MIN && !variants.is_empty() {
                long.push((variants, listed.contains(text.as_str())));
                written.push(text);
            } else {
                short.extend(variants.into_iter().next());
            }
        }
        written.push(tool.name.clone());
        Self {
            names: [
                &tool.name,
                &offered.native_name,
                &format!("{server}_{}", tool.name),
            ]
            .map(|name| NormalizedText::new(name))
            .into(),
            long,
            short,
            written,
        }
    }

    /// Whether a text contains the name and the values, each in any of its variants: undoing escapes
    /// can destroy one of them and reveal another. The server's own descriptions (`is_own`) name its
    /// tools and the values that they take, so those prove nothing.
    fn is_in(&self, text: &[NormalizedText], is_own: bool) -> bool {
        let is_named = |name: &NormalizedText| {
            let mut texts = text.iter();
            texts.any(|text| text.find_name(name, text.range()).next().is_some())
        };
        if !self.names.iter().any(is_named) {
            return false;
        }
        let counts = |(_, is_listed): &&(_, bool)| !(is_own && *is_listed);
        let mut long = self.long.iter().filter(counts).peekable();
        if long.peek().is_some() {
            let contains = |value: &NormalizedText| {
                let mut texts = text.iter();
                texts.any(|text| text.as_str().contains(value.as_str()))
            };
            return long.all(|(value, _)| value.iter().any(contains));
        }
        let is_near_name = |text: &NormalizedText| self.is_near_name(text);
        !is_own && self.long.is_empty() && text.iter().any(is_near_name)
    }

    /// Whether the name stands in the text with all short values near it.
    fn is_near_name(&self, text: &NormalizedText) -> bool {
        let names = self.names.iter();
        let mut places = names.flat_map(|name| text.find_name(name, text.range()));
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
        Value::Bool(_) => values.push((value.to_string(), false)),
        // Of a fraction the digits before the point count: 1.5 is written as 1.50, too. A whole number
        // that is not an integer is written in many ways, such as 1e6, and does not count.
        Value::Number(number) => {
            let text = number.to_string();
            let is_written_as_integer = |number: &serde_json::Number| {
                !number.is_f64() || number.as_f64().is_some_and(|value| value.fract() != 0.0)
            };
            if is_written_as_integer(number) {
                let integer = text.split(['.', 'e']).next().unwrap_or_default();
                values.push((integer.to_owned(), false));
            }
        }
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
