//! Follows a call between tags from behind its head up to the tag that ends it, in
//! constant time a character.

use super::super::markers::Wrapper;
use super::super::recognizer::Advance;
use super::arguments::{TagArgument, TagCall};
use super::grammar::{self, ParsedTag, TAG_BYTES_MAX, TagGrammar, TagRole};
use super::value::ValueState;
use super::xml::CDATA_END;
use crate::domain::{ToolLookup, Toolset};
use crate::text::{JsonEvent, JsonScanner};
use std::ops::Range;

/// The character under way and all up to it.
#[derive(Clone, Copy)]
pub(super) struct TagCursor<'a> {
    pub(super) c: char,
    /// From the start of the form up to and with `c`.
    pub(super) body: &'a str,
    pub(super) offered: &'a Toolset,
}

impl TagCursor<'_> {
    /// Where in the body `c` begins.
    pub(super) fn offset(&self) -> usize {
        self.body.len() - self.c.len_utf8()
    }
}

/// The quotation mark that is open behind `c`.
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
    pub(super) wrapper: Option<&'static Wrapper>,
    pub(super) state: TagParserState,
    pub(super) call: TagCall,
    /// The value under way.
    pub(super) value_state: ValueState,
}

/// Places are bytes of the body.
#[derive(Debug)]
pub(super) enum TagParserState {
    /// Only white space and tags may come.
    Between,
    Tag {
        start: usize,
        quote: Option<char>,
    },
    /// In the name of the tool, between tags.
    ToolName {
        start: usize,
    },
    /// In the name of a value, between tags.
    Key {
        start: usize,
    },
    /// Behind that name; `tag` is where the tag that must follow begins.
    BeforeValue {
        start: usize,
        tag: Option<usize>,
    },
    Value {
        start: usize,
    },
    /// In a CDATA section of a value.
    Cdata {
        start: usize,
    },
    /// A tag that ends the form, or what is around it, stood in a value; what follows
    /// tells whether it is part of the value.
    ValueOrEnd {
        start: usize,
        tag: Range<usize>,
        outer: Option<usize>,
    },
    Json {
        start: usize,
        outline: Box<JsonScanner>,
    },
    /// Its JSON is unreadable: only the end of the form matters.
    UnreadableJson {
        start: usize,
    },
    /// Text stands where only tags may.
    StrayText {
        has_value_end: bool,
    },
    /// It ended before what came last.
    Ended,
}

impl TagParser {
    /// Behind the head, which is complete at `end`.
    pub(super) fn new(
        grammar: &'static TagGrammar,
        name: Option<String>,
        wrapper: Option<&'static Wrapper>,
        end: usize,
    ) -> Self {
        Self {
            grammar,
            wrapper,
            state: TagParserState::Between,
            value_state: ValueState::default(),
            call: TagCall {
                name,
                end,
                ..TagCall::default()
            },
        }
    }

    pub(super) fn step(&mut self, here: TagCursor<'_>) -> Advance {
        match &mut self.state {
            TagParserState::Between => self.between(here),
            TagParserState::Tag { start, quote } => {
                *quote = next_quote(*quote, here.c);
                let (start, in_quotes) = (*start, quote.is_some());
                self.in_tag(here, start, in_quotes)
            }
            TagParserState::ToolName { start } => {
                let start = *start;
                self.in_tool_name(here, start)
            }
            TagParserState::Key { start } => {
                let start = *start;
                self.in_key(here, start)
            }
            TagParserState::BeforeValue { start, tag } => {
                let (start, tag) = (*start, *tag);
                self.before_value(here, start, tag)
            }
            TagParserState::Value { start } => {
                let start = *start;
                self.step_value(here, start)
            }
            TagParserState::Cdata { start } => {
                if here.c == '>' && here.body.ends_with(CDATA_END) {
                    self.state = TagParserState::Value { start: *start };
                }
                Advance::Hold
            }
            TagParserState::ValueOrEnd { start, tag, outer } => {
                let (start, tag, outer) = (*start, tag.clone(), *outer);
                self.step_value_or_end(here, start, tag, outer)
            }
            TagParserState::Ended => Advance::Reject,
            TagParserState::Json { start, outline } => {
                let (start, event) = (*start, outline.push(here.c));
                self.in_json(here, start, event)
            }
            TagParserState::UnreadableJson { start } => {
                let start = *start;
                self.step_unreadable_json(here, start)
            }
            TagParserState::StrayText { has_value_end } => {
                *has_value_end |= here.c == '>' && here.body.ends_with(self.grammar.value_end);
                self.step_stray_text(here)
            }
        }
    }

    fn in_json(&mut self, here: TagCursor<'_>, start: usize, event: JsonEvent) -> Advance {
        match event {
            JsonEvent::ValueEnd => {
                self.call.json = Some(start..here.body.len());
                self.complete(here, here.body.len())
            }
            JsonEvent::Invalid => self.step_unreadable_json(here, start),
            _ => Advance::Hold,
        }
    }

    /// It is more than a head: whatever follows, it was meant as a call.
    pub(super) fn is_started(&self) -> bool {
        !self.call.values.is_empty() || self.grammar.tool.is_some() && self.call.name.is_some()
    }

    /// A wrapper stands around it that leaves no doubt.
    pub(super) fn is_wrapped(&self) -> bool {
        self.wrapper.is_some_and(|wrapper| wrapper.is_certain)
    }

    pub(super) fn names_known_tool(&self, offered: &Toolset) -> bool {
        let name = self.call.name.as_deref().unwrap_or_default();
        self.is_wrapped()
            || offered.resolve(self.call.server.as_deref(), name) != ToolLookup::Unknown
    }

    /// What stands here is neither white space nor one of the form's tags.
    fn stray(&mut self) -> Advance {
        if !self.is_started() {
            return Advance::Reject;
        }
        let has_value_end = false;
        self.state = TagParserState::StrayText { has_value_end };
        Advance::Hold
    }

    fn between(&mut self, here: TagCursor<'_>) -> Advance {
        let start = here.offset();
        let may_be_json = self.grammar.may_be_json && self.call.values.is_empty();
        self.state = match here.c {
            c if c.is_whitespace() => return Advance::Hold,
            '<' => TagParserState::Tag { start, quote: None },
            '{' if may_be_json => {
                let mut outline = Box::new(JsonScanner::default());
                outline.push(here.c);
                TagParserState::Json { start, outline }
            }
            _ => return self.stray(),
        };
        Advance::Hold
    }

    /// A part of the call is complete.
    pub(super) fn end_part(&mut self, here: TagCursor<'_>) -> Advance {
        self.call.end = here.body.len();
        self.state = TagParserState::Between;
        Advance::Hold
    }

    fn in_tag(&mut self, here: TagCursor<'_>, start: usize, in_quotes: bool) -> Advance {
        let tag = &here.body[start..];
        match self.grammar.role(tag, in_quotes) {
            TagRole::Partial if tag.len() <= TAG_BYTES_MAX => Advance::Hold,
            // Another call begins, and this one was not closed.
            TagRole::None if self.is_started() && grammar::opens_call(tag) => Advance::Reject,
            TagRole::None if self.is_started() && grammar::could_open_call(tag) => Advance::Hold,
            TagRole::None | TagRole::Partial => self.stray(),
            TagRole::Tool(tag) => self.tool(here, tag),
            TagRole::ToolEnd => self.end_part(here),
            TagRole::Value(tag) => self.value(here, tag),
            TagRole::End if !self.grammar.end_is_outside => self.complete(here, here.body.len()),
            TagRole::End | TagRole::OuterEnd => self.complete(here, self.call.end),
        }
    }

    fn tool(&mut self, here: TagCursor<'_>, mut tag: ParsedTag) -> Advance {
        self.call.server = tag.attributes.take("server").or(self.call.server.take());
        match tag.name {
            Some(name) => self.name(here, name),
            None if tag.is_self_closing => self.stray(),
            None => {
                let start = here.body.len();
                self.state = TagParserState::ToolName { start };
                Advance::Hold
            }
        }
    }

    fn name(&mut self, here: TagCursor<'_>, name: String) -> Advance {
        if self.call.name.is_some() {
            self.call.error = Some("it names two tools");
        }
        self.call.name = Some(name).filter(|name| !name.is_empty());
        self.end_part(here)
    }

    fn in_tool_name(&mut self, here: TagCursor<'_>, start: usize) -> Advance {
        let name = &here.body[start..];
        let end = self.grammar.tool_end.filter(|_| here.c == '>');
        match end.and_then(|end| name.strip_suffix(end)) {
            Some(name) => self.name(here, name.trim().to_owned()),
            None if name.len() > TAG_BYTES_MAX => self.stray(),
            None => Advance::Hold,
        }
    }

    /// A tag opens the value of an argument, or the argument's name.
    fn value(&mut self, here: TagCursor<'_>, mut tag: ParsedTag) -> Advance {
        let start = here.body.len();
        if self.grammar.key.is_some() {
            self.state = TagParserState::Key { start };
            return Advance::Hold;
        }
        let Some(key) = tag.name else {
            return self.stray();
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
            return self.end_part(here);
        }
        self.begin_value(start);
        Advance::Hold
    }

    fn in_key(&mut self, here: TagCursor<'_>, start: usize) -> Advance {
        let key = &here.body[start..];
        let end = self.grammar.key.filter(|_| here.c == '>');
        match end.and_then(|(end, _)| key.strip_suffix(end)) {
            Some(key) if !key.trim().is_empty() && !key.contains('<') => {
                let start = here.body.len();
                self.call
                    .values
                    .push(TagArgument::new(key.trim().to_owned(), start));
                self.state = TagParserState::BeforeValue { start, tag: None };
                Advance::Hold
            }
            None if key.len() <= TAG_BYTES_MAX => Advance::Hold,
            _ => self.stray(),
        }
    }

    /// Models forget the tag that opens a value, and double the one before it.
    fn before_value(&mut self, here: TagCursor<'_>, start: usize, tag: Option<usize>) -> Advance {
        if tag.is_none() && here.c.is_whitespace() {
            return Advance::Hold;
        }
        let from = tag.unwrap_or(here.offset());
        let tag = &here.body[from..];
        let (key_end, opens) = self.grammar.key.unwrap_or_default();
        let behind = here.body.len();
        self.state = if tag == opens {
            self.begin_value(behind);
            return Advance::Hold;
        } else if tag == key_end {
            self.call.was_repaired = true;
            TagParserState::BeforeValue {
                start: behind,
                tag: None,
            }
        } else if opens.starts_with(tag) || key_end.starts_with(tag) {
            let tag = Some(from);
            TagParserState::BeforeValue { start, tag }
        } else {
            self.call.was_repaired = true;
            self.begin_value(start);
            return self.step_value(here, start);
        };
        Advance::Hold
    }
}
