//! Converts the values of a tag call to typed arguments.

use super::super::json_call::{self, ParsedCall};
use super::super::scan_event::ScanEvent;
use super::super::schema_coercion::{self, ArgumentSchema, CoercedValue};
use super::grammar::{TAG_BYTES_MAX, TagGrammar, TagMatch};
use super::value_whitespace;
use crate::domain::{Arguments, OfferedTool, ToolLookup, Toolset};
use crate::text::lenient_json;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of tags inside one value that are checked for a missing end tag.
const INNER_TAGS_MAX: usize = 64;

/// A call as far as it has been parsed; ranges are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct TagCall {
    pub(super) name: Option<String>,
    pub(super) server: Option<String>,
    pub(super) values: Vec<TagArgument>,
    /// Set if the arguments are one JSON object.
    pub(super) json: Option<Range<usize>>,
    /// End of the last complete part.
    pub(super) end: usize,
    /// A tag was missing, but the meaning is unambiguous.
    pub(super) was_repaired: bool,
    pub(super) error: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct TagArgument {
    pub(super) key: String,
    pub(super) text: Range<usize>,
    /// The value, if it is in an attribute.
    pub(super) attribute_value: Option<String>,
    /// Whether the form declares the value a string.
    pub(super) is_string: Option<bool>,
    /// Its end tag was missing. Its end is a guess, so the call is not run.
    pub(super) is_unclosed: bool,
}

/// One value with its final text.
struct ArgumentText<'a> {
    key: Cow<'a, str>,
    text: Cow<'a, str>,
    is_string: Option<bool>,
}

impl TagCall {
    pub(super) fn close_value(&mut self, text: Range<usize>, is_unclosed: bool) {
        if let Some(argument) = self.values.last_mut() {
            argument.text = text;
            argument.is_unclosed = is_unclosed;
        }
    }

    /// The call with the text `raw`, the start of `body`. `None` if it is plain text after all.
    pub(super) fn to_event(
        &self,
        grammar: &TagGrammar,
        raw: &str,
        body: &str,
        is_terminated: bool,
        offered: &Toolset,
    ) -> Option<ScanEvent> {
        let Some(name) = &self.name else {
            return Some(json_call::unusable_call(raw, "it names no tool"));
        };
        if let Some(error) = self.error {
            return Some(json_call::unusable_call(raw, error));
        }
        let mut repaired = self.was_repaired;
        let arguments = match offered.resolve(self.server.as_deref(), name) {
            ToolLookup::Tool(tool) => self.arguments(grammar, body, tool, &mut repaired),
            ToolLookup::Ambiguous | ToolLookup::Unknown => Ok(Value::Null),
        };
        let call = ParsedCall {
            raw,
            server: self.server.clone(),
            name,
            arguments,
            form: grammar.form,
            was_repaired: repaired,
            is_terminated,
            unmistakable: true,
        };
        json_call::resolve_call(call, offered)
    }

    fn arguments(
        &self,
        grammar: &TagGrammar,
        body: &str,
        tool: &OfferedTool,
        repaired: &mut bool,
    ) -> Result<Value, String> {
        if let Some(json) = &self.json {
            let parsed = lenient_json::parse(&body[json.clone()])
                .map_err(|why| format!("its JSON cannot be read: {why}"))?;
            *repaired |= parsed.was_repaired;
            return Ok(parsed.value);
        }
        if let Some(argument) = self.values.iter().find(|argument| argument.is_unclosed) {
            let key: String = argument
                .key
                .chars()
                .take(json_call::NAME_CHARS_MAX)
                .collect();
            return Err(format!("the value of `{key}` was not closed"));
        }
        let mut items = Vec::new();
        let mut keys: HashSet<_> = self
            .values
            .iter()
            .map(|argument| argument.key.clone())
            .collect();
        for argument in &self.values {
            *repaired |= argument.items(grammar, body, tool, &mut keys, &mut items);
        }
        let mut groups: HashMap<&str, usize> = HashMap::new();
        let mut grouped: Vec<Vec<&ArgumentText>> = Vec::new();
        for item in &items {
            let at = *groups.entry(&item.key).or_insert(grouped.len());
            if at == grouped.len() {
                grouped.push(Vec::new());
            }
            grouped[at].push(item);
        }
        let mut arguments = Arguments::new();
        for items in grouped {
            let typed = value_of(&items, tool)?;
            *repaired |= typed.was_repaired;
            arguments.insert(items[0].key.to_string(), typed.value);
        }
        Ok(Value::Object(arguments))
    }
}

impl TagArgument {
    /// `start` is the start of its value.
    pub(super) fn new(key: String, start: usize) -> Self {
        Self {
            key,
            text: start..start,
            attribute_value: None,
            is_string: None,
            is_unclosed: false,
        }
    }

    /// Adds the values in this argument's text. Returns whether an end tag was missing between
    /// them: a value ends at a tag, on its own line, that opens another argument of the tool that
    /// occurs nowhere else.
    fn items<'a>(
        &'a self,
        grammar: &TagGrammar,
        body: &'a str,
        tool: &OfferedTool,
        keys: &mut HashSet<String>,
        items: &mut Vec<ArgumentText<'a>>,
    ) -> bool {
        if let Some(value) = &self.attribute_value {
            items.push(self.item(Cow::Borrowed(&self.key), value.into()));
            return false;
        }
        let mut key = Cow::Borrowed(self.key.as_str());
        let mut start = self.text.start;
        let text = &body[self.text.clone()];
        let inner = text.match_indices(grammar.value.literal);
        for (at, _) in inner.take(INNER_TAGS_MAX) {
            let at = self.text.start + at;
            let Some((name, length)) = inner_tag(grammar, &body[at..self.text.end]) else {
                continue;
            };
            let before = body[start.min(at)..at].trim_end_matches([' ', '\t']);
            let is_argument = ArgumentSchema::for_argument(&tool.tool, &name).is_listed;
            if before.ends_with('\n') && is_argument && keys.insert(name.clone()) {
                let value = value_whitespace::trim_unclosed_value(before, grammar.text);
                items.push(self.item(key, value));
                key = Cow::Owned(name);
                start = at + length;
            }
        }
        let is_split = start > self.text.start;
        let text = &body[start..self.text.end];
        items.push(self.item(key, value_whitespace::trim_value(text, grammar.text)));
        is_split
    }

    fn item<'a>(&self, key: Cow<'a, str>, text: Cow<'a, str>) -> ArgumentText<'a> {
        ArgumentText {
            key,
            text,
            is_string: self.is_string,
        }
    }
}

/// The name in the tag at the start of `text`, and the length of the tag.
fn inner_tag(grammar: &TagGrammar, text: &str) -> Option<(String, usize)> {
    let bytes = text.bytes().take(TAG_BYTES_MAX);
    let length = 1 + bytes.into_iter().position(|byte| byte == b'>')?;
    match grammar.value.match_text(&text[..length], false) {
        TagMatch::Complete(tag) => tag.name.map(|name| (name, length)),
        TagMatch::No | TagMatch::Partial => None,
    }
}

/// The value of an argument, which may occur more than once.
fn value_of(items: &[&ArgumentText<'_>], tool: &OfferedTool) -> Result<CoercedValue, String> {
    let first = items[0];
    let property = ArgumentSchema::for_argument(&tool.tool, &first.key);
    if items.len() == 1 || items.iter().all(|item| item.text == first.text) {
        return Ok(coerce(first, &property));
    }
    if !property.is_array() {
        let key: String = first.key.chars().take(json_call::NAME_CHARS_MAX).collect();
        return Err(format!("it gives `{key}` more than once"));
    }
    let item_schema = property.items();
    let typed = items.iter().map(|item| coerce(item, &item_schema));
    let (values, repaired): (Vec<_>, Vec<_>) =
        typed.map(|typed| (typed.value, typed.was_repaired)).unzip();
    Ok(CoercedValue {
        value: Value::Array(values),
        was_repaired: repaired.contains(&true),
    })
}

fn coerce(item: &ArgumentText<'_>, property: &ArgumentSchema<'_>) -> CoercedValue {
    match item.is_string {
        Some(true) => CoercedValue::unrepaired(Value::String(item.text.clone().into_owned())),
        Some(false) => {
            schema_coercion::parse_json(&item.text).unwrap_or_else(|| property.coerce(&item.text))
        }
        None => property.coerce(&item.text),
    }
}
