//! From a call between tags to its arguments: which text is which value, and of
//! which type.

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

/// Tags inside one value that are looked at for a forgotten end before them.
const INNER_TAGS_MAX: usize = 64;

/// A call as far as it was written; ranges are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct TagCall {
    pub(super) name: Option<String>,
    pub(super) server: Option<String>,
    pub(super) values: Vec<TagArgument>,
    /// The arguments, where they are one JSON object.
    pub(super) json: Option<Range<usize>>,
    /// Behind the last part that is complete.
    pub(super) end: usize,
    /// A tag was missing, and what was meant is plain all the same.
    pub(super) was_repaired: bool,
    pub(super) error: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct TagArgument {
    pub(super) key: String,
    pub(super) text: Range<usize>,
    /// The value, where an attribute holds it.
    pub(super) attribute_value: Option<String>,
    /// What the form itself says of the type.
    pub(super) is_string: Option<bool>,
    /// Its own end was missing: where it ends is a guess, and what is guessed is not run.
    pub(super) is_unclosed: bool,
}

/// One value, its text as it is meant.
struct ArgumentText<'a> {
    key: Cow<'a, str>,
    text: Cow<'a, str>,
    is_string: Option<bool>,
}

impl TagCall {
    pub(super) fn close_value(&mut self, text: Range<usize>, is_unclosed: bool) {
        if let Some(given) = self.values.last_mut() {
            given.text = text;
            given.is_unclosed = is_unclosed;
        }
    }

    /// The call that is written as `raw`, the start of `body`. None where it is text
    /// after all.
    pub(super) fn to_event(
        &self,
        grammar: &TagGrammar,
        raw: &str,
        body: &str,
        whole: bool,
        offered: &Toolset,
    ) -> Option<ScanEvent> {
        let Some(name) = &self.name else {
            return Some(json_call::unusable_call(raw, "it names no tool"));
        };
        if let Some(fault) = self.error {
            return Some(json_call::unusable_call(raw, fault));
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
            is_terminated: whole,
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
        if let Some(given) = self.values.iter().find(|given| given.is_unclosed) {
            let key: String = given.key.chars().take(json_call::NAME_CHARS_MAX).collect();
            return Err(format!("the value of `{key}` was not closed"));
        }
        let mut items = Vec::new();
        let mut keys: HashSet<_> = self.values.iter().map(|given| given.key.clone()).collect();
        for given in &self.values {
            *repaired |= given.items(grammar, body, tool, &mut keys, &mut items);
        }
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut grouped: Vec<Vec<&ArgumentText>> = Vec::new();
        for item in &items {
            let at = *places.entry(&item.key).or_insert(grouped.len());
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
    /// Its value begins at `start`.
    pub(super) fn new(key: String, start: usize) -> Self {
        Self {
            key,
            text: start..start,
            attribute_value: None,
            is_string: None,
            is_unclosed: false,
        }
    }

    /// Adds the values in this one's text, and says whether they are several because
    /// an end was forgotten: a value ends where, on a line of its own, a tag opens the
    /// value of another argument of the tool that is given nowhere else.
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

/// The name in the tag at the start of `text`, and the tag's bytes.
fn inner_tag(grammar: &TagGrammar, text: &str) -> Option<(String, usize)> {
    let bytes = text.bytes().take(TAG_BYTES_MAX);
    let length = 1 + bytes.into_iter().position(|byte| byte == b'>')?;
    match grammar.value.match_text(&text[..length], false) {
        TagMatch::Complete(tag) => tag.name.map(|name| (name, length)),
        TagMatch::No | TagMatch::Partial => None,
    }
}

/// The value of one argument, which may have been given more than once.
fn value_of(items: &[&ArgumentText<'_>], tool: &OfferedTool) -> Result<CoercedValue, String> {
    let first = items[0];
    let property = ArgumentSchema::for_argument(&tool.tool, &first.key);
    if items.len() == 1 || items.iter().all(|item| item.text == first.text) {
        return Ok(of_type(first, &property));
    }
    if !property.is_array() {
        let key: String = first.key.chars().take(json_call::NAME_CHARS_MAX).collect();
        return Err(format!("it gives `{key}` more than once"));
    }
    let of_items = property.items();
    let typed = items.iter().map(|item| of_type(item, &of_items));
    let (values, repaired): (Vec<_>, Vec<_>) =
        typed.map(|typed| (typed.value, typed.was_repaired)).unzip();
    Ok(CoercedValue {
        value: Value::Array(values),
        was_repaired: repaired.contains(&true),
    })
}

fn of_type(item: &ArgumentText<'_>, property: &ArgumentSchema<'_>) -> CoercedValue {
    match item.is_string {
        Some(true) => CoercedValue::unrepaired(Value::String(item.text.clone().into_owned())),
        Some(false) => {
            schema_coercion::parse_json(&item.text).unwrap_or_else(|| property.coerce(&item.text))
        }
        None => property.coerce(&item.text),
    }
}
