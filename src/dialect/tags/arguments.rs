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

/// The call as parsed so far. Offsets and ranges are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct TagCall {
    pub(super) name: Option<String>,
    pub(super) server: Option<String>,
    pub(super) values: Vec<TagArgument>,
    /// Set if the arguments are one JSON object.
    pub(super) json: Option<Range<usize>>,
    /// The end of the last complete tag, name or value.
    pub(super) end: usize,
    /// A tag was missing or repeated, but the meaning is unambiguous.
    pub(super) was_repaired: bool,
    pub(super) error: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct TagArgument {
    pub(super) key: String,
    pub(super) text: Range<usize>,
    /// The value, if it is in an attribute.
    pub(super) attribute_value: Option<String>,
    /// The `string` attribute of the tag: whether the value is a string or JSON.
    pub(super) is_string: Option<bool>,
    /// The value's end tag is missing. The end is a guess, so the call is not run.
    pub(super) is_unclosed: bool,
}

/// The text of one value, without the whitespace that belongs to the layout.
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

    /// The event for the call `raw`, which is the start of `body`. `None` if it is plain text.
    pub(super) fn to_event(
        &self,
        grammar: &TagGrammar,
        raw: &str,
        body: &str,
        has_end: bool,
        offered: &Toolset,
    ) -> Option<ScanEvent> {
        let Some(name) = &self.name else {
            return Some(json_call::unusable_call(raw, "it names no tool"));
        };
        if let Some(error) = self.error {
            return Some(json_call::unusable_call(raw, error));
        }
        let mut was_repaired = self.was_repaired;
        let arguments = match offered.resolve(self.server.as_deref(), name) {
            ToolLookup::Tool(tool) | ToolLookup::Ambiguous(tool) => {
                self.arguments(grammar, body, tool, &mut was_repaired)
            }
            ToolLookup::Unknown => Ok(Value::Null),
        };
        let call = ParsedCall {
            raw,
            server: self.server.clone(),
            name,
            arguments,
            form: grammar.form,
            was_repaired,
            has_end,
            is_unmistakable: true,
        };
        json_call::resolve_call(call, offered)
    }

    fn arguments(
        &self,
        grammar: &TagGrammar,
        body: &str,
        tool: &OfferedTool,
        was_repaired: &mut bool,
    ) -> Result<Value, String> {
        if let Some(json) = &self.json {
            let parsed = lenient_json::parse(&body[json.clone()])
                .map_err(|why| format!("its JSON cannot be read: {why}"))?;
            *was_repaired |= parsed.was_repaired;
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
        let mut texts = Vec::new();
        let mut keys: HashSet<_> = self
            .values
            .iter()
            .map(|argument| argument.key.clone())
            .collect();
        for argument in &self.values {
            *was_repaired |= argument.split(grammar, body, tool, &mut keys, &mut texts);
        }
        let mut group_indices: HashMap<&str, usize> = HashMap::new();
        let mut groups: Vec<Vec<&ArgumentText>> = Vec::new();
        for text in &texts {
            let index = *group_indices.entry(&text.key).or_insert(groups.len());
            if index == groups.len() {
                groups.push(Vec::new());
            }
            groups[index].push(text);
        }
        let mut arguments = Arguments::new();
        for texts in groups {
            let coerced = coerce_group(&texts, tool)?;
            *was_repaired |= coerced.was_repaired;
            arguments.insert(texts[0].key.to_string(), coerced.value);
        }
        Ok(arguments.into())
    }
}

impl TagArgument {
    pub(super) fn new(key: String, start: usize) -> Self {
        Self {
            key,
            text: start..start,
            attribute_value: None,
            is_string: None,
            is_unclosed: false,
        }
    }

    /// Adds the values in this argument's text to `texts`. There are several if end tags are
    /// missing: a value also ends before a tag at the start of a line that opens another argument
    /// of the tool, if that argument is not in `keys`. Returns whether an end tag was missing.
    fn split<'a>(
        &'a self,
        grammar: &TagGrammar,
        body: &'a str,
        tool: &OfferedTool,
        keys: &mut HashSet<String>,
        texts: &mut Vec<ArgumentText<'a>>,
    ) -> bool {
        if let Some(value) = &self.attribute_value {
            texts.push(self.with_text(Cow::Borrowed(&self.key), value.into()));
            return false;
        }
        let mut key = Cow::Borrowed(self.key.as_str());
        let mut start = self.text.start;
        let text = &body[self.text.clone()];
        let inner_tags = text.match_indices(grammar.value.literal);
        for (offset, _) in inner_tags.take(INNER_TAGS_MAX) {
            let tag_start = self.text.start + offset;
            let Some((name, length)) = inner_tag(grammar, &body[tag_start..self.text.end]) else {
                continue;
            };
            let before = body[start.min(tag_start)..tag_start].trim_end_matches([' ', '\t']);
            let is_argument = ArgumentSchema::for_argument(&tool.tool, &name).is_listed;
            if before.ends_with('\n') && is_argument && keys.insert(name.clone()) {
                let value = value_whitespace::trim_unclosed_value(before, grammar.value_decoding);
                texts.push(self.with_text(key, value));
                key = Cow::Owned(name);
                start = tag_start + length;
            }
        }
        let is_split = start > self.text.start;
        let last_text = &body[start..self.text.end];
        texts.push(self.with_text(
            key,
            value_whitespace::trim_value(last_text, grammar.value_decoding),
        ));
        is_split
    }

    fn with_text<'a>(&self, key: Cow<'a, str>, text: Cow<'a, str>) -> ArgumentText<'a> {
        ArgumentText {
            key,
            text,
            is_string: self.is_string,
        }
    }
}

/// The argument name in the value tag at the start of `text`, and the length of the tag.
fn inner_tag(grammar: &TagGrammar, text: &str) -> Option<(String, usize)> {
    let bytes = text.bytes().take(TAG_BYTES_MAX);
    let length = 1 + bytes.into_iter().position(|byte| byte == b'>')?;
    match grammar.value.match_text(&text[..length], false) {
        TagMatch::Complete(tag) => tag.name.map(|name| (name, length)),
        TagMatch::No | TagMatch::Partial => None,
    }
}

/// Several different texts become an array if the schema allows one.
fn coerce_group(texts: &[&ArgumentText<'_>], tool: &OfferedTool) -> Result<CoercedValue, String> {
    let first = texts[0];
    let schema = ArgumentSchema::for_argument(&tool.tool, &first.key);
    if texts.iter().all(|text| text.text == first.text) {
        return Ok(coerce(first, &schema));
    }
    if !schema.is_array() {
        let key: String = first.key.chars().take(json_call::NAME_CHARS_MAX).collect();
        return Err(format!("it gives `{key}` more than once"));
    }
    let item_schema = schema.items();
    let coerced: Vec<_> = texts
        .iter()
        .map(|text| coerce(text, &item_schema))
        .collect();
    Ok(CoercedValue {
        was_repaired: coerced.iter().any(|item| item.was_repaired),
        value: coerced.into_iter().map(|item| item.value).collect(),
    })
}

fn coerce(argument: &ArgumentText<'_>, schema: &ArgumentSchema<'_>) -> CoercedValue {
    let text = &argument.text;
    match argument.is_string {
        Some(true) => CoercedValue::unrepaired(Value::String(text.clone().into_owned())),
        Some(false) => schema_coercion::parse_json(text).unwrap_or_else(|| schema.coerce(text)),
        None => schema.coerce(text),
    }
}
