//! From a call between tags to its arguments: which text is which value, and of
//! which type.

use super::super::json_call::{self, Written};
use super::super::scan_event::Piece;
use super::super::schema_coercion::{self, CoercedValue, Property};
use super::grammar::{Fit, Grammar, TAG_BYTES_MAX};
use super::value_whitespace;
use crate::domain::{Arguments, Offered, OfferedTool, Resolved};
use crate::text::lenient_json;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Tags inside one value that are looked at for a forgotten end before them.
const INNER_TAGS_MAX: usize = 64;

/// A call as far as it was written; ranges are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) name: Option<String>,
    pub(super) server: Option<String>,
    pub(super) values: Vec<Given>,
    /// The arguments, where they are one JSON object.
    pub(super) json: Option<Range<usize>>,
    /// Behind the last part that is complete.
    pub(super) end: usize,
    /// A tag was missing, and what was meant is plain all the same.
    pub(super) repaired: bool,
    pub(super) fault: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct Given {
    pub(super) key: String,
    pub(super) text: Range<usize>,
    /// The value, where an attribute holds it.
    pub(super) attribute: Option<String>,
    /// What the form itself says of the type.
    pub(super) is_string: Option<bool>,
    /// Its own end was missing: where it ends is a guess, and what is guessed is not run.
    pub(super) is_unclosed: bool,
}

/// One value, its text as it is meant.
struct Item<'a> {
    key: Cow<'a, str>,
    text: Cow<'a, str>,
    is_string: Option<bool>,
}

impl Parts {
    pub(super) fn close_value(&mut self, text: Range<usize>, is_unclosed: bool) {
        if let Some(given) = self.values.last_mut() {
            given.text = text;
            given.is_unclosed = is_unclosed;
        }
    }

    /// The call that is written as `raw`, the start of `body`. None where it is text
    /// after all.
    pub(super) fn piece(
        &self,
        grammar: &Grammar,
        raw: &str,
        body: &str,
        whole: bool,
        offered: &Offered,
    ) -> Option<Piece> {
        let Some(name) = &self.name else {
            return Some(json_call::unusable(raw, "it names no tool"));
        };
        if let Some(fault) = self.fault {
            return Some(json_call::unusable(raw, fault));
        }
        let mut repaired = self.repaired;
        let arguments = match offered.resolve(self.server.as_deref(), name) {
            Resolved::Tool(tool) => self.arguments(grammar, body, tool, &mut repaired),
            Resolved::Ambiguous | Resolved::Unknown => Ok(Value::Null),
        };
        let call = Written {
            raw,
            server: self.server.clone(),
            name,
            arguments,
            form: grammar.form,
            repaired,
            whole,
            unmistakable: true,
        };
        json_call::written(call, offered)
    }

    fn arguments(
        &self,
        grammar: &Grammar,
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
        let mut grouped: Vec<Vec<&Item>> = Vec::new();
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
            *repaired |= typed.repaired;
            arguments.insert(items[0].key.to_string(), typed.value);
        }
        Ok(Value::Object(arguments))
    }
}

impl Given {
    /// Its value begins at `start`.
    pub(super) fn new(key: String, start: usize) -> Self {
        Self {
            key,
            text: start..start,
            attribute: None,
            is_string: None,
            is_unclosed: false,
        }
    }

    /// Adds the values in this one's text, and says whether they are several because
    /// an end was forgotten: a value ends where, on a line of its own, a tag opens the
    /// value of another argument of the tool that is given nowhere else.
    fn items<'a>(
        &'a self,
        grammar: &Grammar,
        body: &'a str,
        tool: &OfferedTool,
        keys: &mut HashSet<String>,
        items: &mut Vec<Item<'a>>,
    ) -> bool {
        if let Some(value) = &self.attribute {
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
            let is_argument = Property::of(&tool.tool, &name).is_listed;
            if before.ends_with('\n') && is_argument && keys.insert(name.clone()) {
                let value = value_whitespace::unclosed(before, grammar.text);
                items.push(self.item(key, value));
                key = Cow::Owned(name);
                start = at + length;
            }
        }
        let is_split = start > self.text.start;
        let text = &body[start..self.text.end];
        items.push(self.item(key, value_whitespace::value(text, grammar.text)));
        is_split
    }

    fn item<'a>(&self, key: Cow<'a, str>, text: Cow<'a, str>) -> Item<'a> {
        Item {
            key,
            text,
            is_string: self.is_string,
        }
    }
}

/// The name in the tag at the start of `text`, and the tag's bytes.
fn inner_tag(grammar: &Grammar, text: &str) -> Option<(String, usize)> {
    let bytes = text.bytes().take(TAG_BYTES_MAX);
    let length = 1 + bytes.into_iter().position(|byte| byte == b'>')?;
    match grammar.value.fit(&text[..length], false) {
        Fit::Whole(tag) => tag.name.map(|name| (name, length)),
        Fit::No | Fit::Partial => None,
    }
}

/// The value of one argument, which may have been given more than once.
fn value_of(items: &[&Item<'_>], tool: &OfferedTool) -> Result<CoercedValue, String> {
    let first = items[0];
    let property = Property::of(&tool.tool, &first.key);
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
        typed.map(|typed| (typed.value, typed.repaired)).unzip();
    Ok(CoercedValue {
        value: Value::Array(values),
        repaired: repaired.contains(&true),
    })
}

fn of_type(item: &Item<'_>, property: &Property<'_>) -> CoercedValue {
    match item.is_string {
        Some(true) => CoercedValue::plain(Value::String(item.text.clone().into_owned())),
        Some(false) => {
            schema_coercion::json(&item.text).unwrap_or_else(|| property.read(&item.text))
        }
        None => property.read(&item.text),
    }
}
