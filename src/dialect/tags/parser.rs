//! Parses a tag call from the end of its first tag or name (its head) to its end tag, in constant
//! time per character.

use super::super::markers::OpeningMarker;
use super::super::recognizer::Advance;
use super::arguments::{TagArgument, TagCall};
use super::grammar::{self, ParsedTag, TAG_BYTES_MAX, TagGrammar, TagRole};
use super::value::ValueState;
use super::xml::CDATA_END;
use crate::domain::{ToolLookup, Toolset};
use crate::text::{JsonEvent, JsonScanner};
use std::ops::Range;

#[derive(Clone, Copy)]
pub(super) struct TagCursor<'a> {
    pub(super) c: char,
    /// From the start of the form through `c`.
    pub(super) body: &'a str,
    pub(super) offered: &'a Toolset,
}

impl TagCursor<'_> {
    pub(super) fn offset(&self) -> usize {
        self.body.len() - self.c.len_utf8()
    }
}

/// The open quote after `c`, given the open quote before it.
pub(super) fn next_quote(open: Option<char>, c: char) -> Option<char> {
    match open {
        Some(quote) if quote == c => None,
        None if matches!(c, '"' | '\'') => Some(c),
        open => open,
    }
}

#[derive(Debug)]
pub(super) struct TagParser {
    pub(super) grammar: &'static TagGrammar,
    pub(super) wrapper: Option<&'static OpeningMarker>,
    pub(super) state: TagParserState,
    pub(super) call: TagCall,
    pub(super) value_state: ValueState,
}

/// Offsets are bytes of the body.
#[derive(Debug)]
pub(super) enum TagParserState {
    /// Between tags, where only whitespace is allowed.
    Between,
    Tag {
        start: usize,
        quote: Option<char>,
    },
    ToolName {
        start: usize,
    },
    /// In an argument name, between tags.
    Key {
        start: usize,
    },
    /// After an argument name and its end tag, which ends at `start`. `tag` is the start of the tag
    /// that should follow.
    BeforeValue {
        start: usize,
        tag: Option<usize>,
    },
    Value {
        start: usize,
    },
    Cdata {
        start: usize,
    },
    /// After `tag` in a value, which may end the call or belong to the value. The text after it
    /// decides. `outer_start` is the start of a possible second end tag.
    ValueOrEnd {
        start: usize,
        tag: Range<usize>,
        outer_start: Option<usize>,
    },
    Json {
        start: usize,
        scanner: Box<JsonScanner>,
    },
    /// The JSON is invalid; only the end of the form matters.
    UnreadableJson {
        start: usize,
    },
    /// After text where only tags are allowed. `has_value_end` if a value's end tag followed it.
    StrayText {
        has_value_end: bool,
    },
    /// The call has ended, before the end of the body.
    Ended,
}

impl TagParser {
    pub(super) fn new(
        grammar: &'static TagGrammar,
        name: Option<String>,
        wrapper: Option<&'static OpeningMarker>,
        head_end: usize,
    ) -> Self {
        Self {
            grammar,
            wrapper,
            state: TagParserState::Between,
            value_state: ValueState::default(),
            call: TagCall {
                name,
                end: head_end,
                ..TagCall::default()
            },
        }
    }

    pub(super) fn step(&mut self, cursor: TagCursor<'_>) -> Advance {
        match &mut self.state {
            TagParserState::Between => self.step_between(cursor),
            TagParserState::Tag { start, quote } => {
                *quote = next_quote(*quote, cursor.c);
                let (start, is_in_quotes) = (*start, quote.is_some());
                self.step_tag(cursor, start, is_in_quotes)
            }
            TagParserState::ToolName { start } => {
                let start = *start;
                self.step_tool_name(cursor, start)
            }
            TagParserState::Key { start } => {
                let start = *start;
                self.step_key(cursor, start)
            }
            TagParserState::BeforeValue { start, tag } => {
                let (start, tag) = (*start, *tag);
                self.step_before_value(cursor, start, tag)
            }
            TagParserState::Value { start } => {
                let start = *start;
                self.step_value(cursor, start)
            }
            TagParserState::Cdata { start } => {
                if cursor.c == '>' && cursor.body.ends_with(CDATA_END) {
                    self.state = TagParserState::Value { start: *start };
                }
                Advance::Hold
            }
            TagParserState::ValueOrEnd {
                start,
                tag,
                outer_start,
            } => {
                let (start, tag, outer_start) = (*start, tag.clone(), *outer_start);
                self.step_value_or_end(cursor, start, tag, outer_start)
            }
            TagParserState::Ended => Advance::Reject,
            TagParserState::Json { start, scanner } => {
                let (start, event) = (*start, scanner.push(cursor.c));
                self.step_json(cursor, start, event)
            }
            TagParserState::UnreadableJson { start } => {
                let start = *start;
                self.step_unreadable_json(cursor, start)
            }
            TagParserState::StrayText { has_value_end } => {
                *has_value_end |= cursor.c == '>' && cursor.body.ends_with(self.grammar.value_end);
                self.step_stray_text(cursor)
            }
        }
    }

    fn step_json(&mut self, cursor: TagCursor<'_>, start: usize, event: JsonEvent) -> Advance {
        match event {
            JsonEvent::ValueEnd => {
                self.call.json = Some(start..cursor.body.len());
                self.complete(cursor, cursor.body.len())
            }
            JsonEvent::Invalid => self.step_unreadable_json(cursor, start),
            _ => Advance::Hold,
        }
    }

    /// Whether more than the head was read, so the text is certainly meant as a call.
    pub(super) fn is_started(&self) -> bool {
        !self.call.values.is_empty() || self.grammar.tool.is_some() && self.call.name.is_some()
    }

    /// Whether the form is in a wrapper that always means a call.
    pub(super) fn is_wrapped(&self) -> bool {
        self.wrapper.is_some_and(|wrapper| wrapper.is_certain)
    }

    /// Whether the text is meant as a call even if its contents cannot be read: it is in a wrapper
    /// that always means a call, or names an available tool.
    pub(super) fn is_certain(&self, offered: &Toolset) -> bool {
        let name = self.call.name.as_deref().unwrap_or_default();
        self.is_wrapped()
            || offered.resolve(self.call.server.as_deref(), name) != ToolLookup::Unknown
    }

    /// Handles text that is neither whitespace nor one of the form's tags.
    fn on_stray_text(&mut self) -> Advance {
        if !self.is_started() {
            return Advance::Reject;
        }
        let has_value_end = false;
        self.state = TagParserState::StrayText { has_value_end };
        Advance::Hold
    }

    fn step_between(&mut self, cursor: TagCursor<'_>) -> Advance {
        let start = cursor.offset();
        let may_be_json = self.grammar.may_be_json && self.call.values.is_empty();
        self.state = match cursor.c {
            c if c.is_whitespace() => return Advance::Hold,
            '<' => TagParserState::Tag { start, quote: None },
            '{' if may_be_json => {
                let mut scanner = Box::new(JsonScanner::default());
                scanner.push(cursor.c);
                TagParserState::Json { start, scanner }
            }
            _ => return self.on_stray_text(),
        };
        Advance::Hold
    }

    /// Handles the end of the tool name or of a value.
    pub(super) fn end_part(&mut self, cursor: TagCursor<'_>) -> Advance {
        self.call.end = cursor.body.len();
        self.state = TagParserState::Between;
        Advance::Hold
    }

    fn step_tag(&mut self, cursor: TagCursor<'_>, start: usize, is_in_quotes: bool) -> Advance {
        let tag = &cursor.body[start..];
        match self.grammar.role(tag, is_in_quotes) {
            TagRole::Partial if tag.len() <= TAG_BYTES_MAX => Advance::Hold,
            // Another call begins, so this one was not closed.
            TagRole::None if self.is_started() && grammar::opens_call(tag) => Advance::Reject,
            TagRole::None if self.is_started() && grammar::could_open_call(tag) => Advance::Hold,
            TagRole::None | TagRole::Partial => self.on_stray_text(),
            TagRole::Tool(tag) => self.on_tool_tag(cursor, tag),
            TagRole::ToolEnd => self.end_part(cursor),
            TagRole::Value(tag) => self.on_value_tag(cursor, tag),
            TagRole::End if !self.grammar.end_is_outside => {
                self.complete(cursor, cursor.body.len())
            }
            TagRole::End | TagRole::OuterEnd => self.complete(cursor, self.call.end),
        }
    }

    fn on_tool_tag(&mut self, cursor: TagCursor<'_>, mut tag: ParsedTag) -> Advance {
        self.call.server = tag.attributes.take("server").or(self.call.server.take());
        match tag.name {
            Some(name) => self.set_name(cursor, name),
            None if tag.is_self_closing => self.on_stray_text(),
            None => {
                let start = cursor.body.len();
                self.state = TagParserState::ToolName { start };
                Advance::Hold
            }
        }
    }

    fn set_name(&mut self, cursor: TagCursor<'_>, name: String) -> Advance {
        if self.call.name.is_some() {
            self.call.error = Some("it names two tools");
        }
        self.call.name = Some(name).filter(|name| !name.is_empty());
        self.end_part(cursor)
    }

    fn step_tool_name(&mut self, cursor: TagCursor<'_>, start: usize) -> Advance {
        let name = &cursor.body[start..];
        let end = self.grammar.tool_end.filter(|_| cursor.c == '>');
        match end.and_then(|end| name.strip_suffix(end)) {
            Some(name) => self.set_name(cursor, name.trim().to_owned()),
            None if name.len() > TAG_BYTES_MAX => self.on_stray_text(),
            None => Advance::Hold,
        }
    }

    fn on_value_tag(&mut self, cursor: TagCursor<'_>, mut tag: ParsedTag) -> Advance {
        let start = cursor.body.len();
        if self.grammar.key.is_some() {
            self.state = TagParserState::Key { start };
            return Advance::Hold;
        }
        let Some(key) = tag.name else {
            return self.on_stray_text();
        };
        let is_string = match tag.attributes.take("string").as_deref() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        let value = tag.attributes.take("value");
        self.call.values.push(TagArgument {
            attribute_value: tag.is_self_closing.then(|| value.unwrap_or_default()),
            is_string,
            ..TagArgument::new(key, start)
        });
        if tag.is_self_closing {
            return self.end_part(cursor);
        }
        self.begin_value(start);
        Advance::Hold
    }

    fn step_key(&mut self, cursor: TagCursor<'_>, start: usize) -> Advance {
        let key = &cursor.body[start..];
        let end = self.grammar.key.filter(|_| cursor.c == '>');
        match end.and_then(|(end, _)| key.strip_suffix(end)) {
            Some(key) if !key.trim().is_empty() && !key.contains('<') => {
                let start = cursor.body.len();
                self.call
                    .values
                    .push(TagArgument::new(key.trim().to_owned(), start));
                self.state = TagParserState::BeforeValue { start, tag: None };
                Advance::Hold
            }
            None if key.len() <= TAG_BYTES_MAX => Advance::Hold,
            _ => self.on_stray_text(),
        }
    }

    /// Models sometimes omit the tag that opens the value, or repeat the one that ends the
    /// argument name.
    fn step_before_value(
        &mut self,
        cursor: TagCursor<'_>,
        start: usize,
        tag: Option<usize>,
    ) -> Advance {
        if tag.is_none() && cursor.c.is_whitespace() {
            return Advance::Hold;
        }
        let tag_start = tag.unwrap_or(cursor.offset());
        let tag = &cursor.body[tag_start..];
        let (key_end, value_start) = self.grammar.key.unwrap_or_default();
        let tag_end = cursor.body.len();
        self.state = if tag == value_start {
            self.begin_value(tag_end);
            return Advance::Hold;
        } else if tag == key_end {
            self.call.was_repaired = true;
            TagParserState::BeforeValue {
                start: tag_end,
                tag: None,
            }
        } else if value_start.starts_with(tag) || key_end.starts_with(tag) {
            let tag = Some(tag_start);
            TagParserState::BeforeValue { start, tag }
        } else {
            self.call.was_repaired = true;
            self.begin_value(start);
            return self.step_value(cursor, start);
        };
        Advance::Hold
    }
}
