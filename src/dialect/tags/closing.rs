//! How a call between tags ends: with its own tag, with one that closes what is
//! around it, or with the stream.

use super::super::json_call;
use super::super::recognizer::{Advance, FormEnd, RecognizedForm};
use super::super::scan_event::ScanEvent;
use super::grammar;
use super::parser::{TagCursor, TagParser, TagParserState};
use crate::domain::{ToolLookup, Toolset};
use std::ops::Range;

const STRAY: &str =
    "there is text between its arguments, or a value has the tag in it that ends a value";

impl TagParser {
    pub(super) fn step_unreadable_json(&mut self, here: TagCursor<'_>, start: usize) -> Advance {
        if !self.names_known_tool(here.offered) {
            return Advance::Reject;
        }
        self.state = TagParserState::UnreadableJson { start };
        match self.end_tag(here) {
            Some((end, raw_end)) => {
                self.call.json = Some(start..end);
                self.complete(here, raw_end)
            }
            None => Advance::Hold,
        }
    }

    pub(super) fn step_stray_text(&mut self, here: TagCursor<'_>) -> Advance {
        match self.end_tag(here) {
            Some((_, raw_end)) => {
                self.call.error = Some(STRAY);
                self.complete(here, raw_end)
            }
            None => Advance::Hold,
        }
    }

    /// Where the call ends, without its end tag and with it, if a tag ends here that
    /// ends it.
    fn end_tag(&self, here: TagCursor<'_>) -> Option<(usize, usize)> {
        if here.c != '>' {
            return None;
        }
        let own = Some(self.grammar.end).filter(|_| !self.grammar.end_is_outside);
        if let Some(inside) = own.and_then(|end| here.body.strip_suffix(end)) {
            return Some((inside.len(), here.body.len()));
        }
        let inside = grammar::outer_ends().find_map(|end| here.body.strip_suffix(end))?;
        let end = inside.trim_end().len();
        Some((end, end))
    }

    /// The call is complete and ends at `raw_end`.
    pub(super) fn complete(&self, here: TagCursor<'_>, raw_end: usize) -> Advance {
        let is_nameless = self.call.name.is_none() && self.call.values.is_empty();
        if is_nameless || self.is_word(here.offered) {
            return Advance::Text;
        }
        match self.piece(here.body, raw_end, true, here.offered) {
            Some(piece) => Advance::Found(RecognizedForm::Calls(vec![piece])),
            None => Advance::Text,
        }
    }

    /// A bare word that names no tool: the tags around it are being talked about.
    fn is_word(&self, offered: &Toolset) -> bool {
        let is_bare = self.grammar.head.is_none() && self.call.values.is_empty();
        let name = self.call.name.as_deref().unwrap_or_default();
        is_bare && self.call.json.is_none() && offered.resolve(None, name) == ToolLookup::Unknown
    }

    fn piece(&self, body: &str, end: usize, whole: bool, offered: &Toolset) -> Option<ScanEvent> {
        self.call
            .to_event(self.grammar, &body[..end], body, whole, offered)
    }

    /// Nothing more comes. None where that leaves text.
    pub(super) fn finish(
        &mut self,
        body: &str,
        offered: &Toolset,
        end: FormEnd,
    ) -> Option<RecognizedForm> {
        match end {
            FormEnd::Stream => self.finish_at_stream_end(body, offered),
            FormEnd::Rejected if !self.is_started() => None,
            FormEnd::Rejected => {
                let call = self.piece(body, self.call.end, true, offered)?;
                Some(RecognizedForm::Calls(vec![call]))
            }
        }
    }

    /// What stands at the end of `body` and is none of this call's.
    pub(super) fn unconsumed_bytes(&self, body: &str) -> usize {
        match self.state {
            TagParserState::Tag { start, .. } => body.len() - start,
            TagParserState::Ended => body.len() - self.call.end,
            _ => 0,
        }
    }

    fn finish_at_stream_end(&mut self, body: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let pieces = match &self.state {
            TagParserState::Value { start } | TagParserState::ValueOrEnd { start, .. }
                if self.ended().is_some() =>
            {
                let (start, tag) = (*start, self.ended()?);
                let rest = tag.end;
                self.end_call_at(body, start, tag);
                let call = self.piece(body, self.call.end, false, offered)?;
                with_rest(call, &body[rest..])
            }
            TagParserState::Between => vec![self.call_without_end(body, offered)?],
            TagParserState::Tag { start, .. } if self.grammar.could_end(&body[*start..]) => {
                vec![self.call_without_end(body, offered)?]
            }
            TagParserState::Tag { .. } if !self.is_started() && !self.names_known_tool(offered) => {
                return None;
            }
            TagParserState::ValueOrEnd { start, tag, .. } => {
                let (start, tag) = (*start, tag.clone());
                self.end_call_at(body, start, tag);
                vec![self.piece(body, self.call.end, false, offered)?]
            }
            TagParserState::Value { start } => match outer_end_offset(&body[*start..]) {
                Some(length) => {
                    let start = *start;
                    let end = start + length;
                    self.call.close_value(start..end, true);
                    vec![self.piece(body, end, false, offered)?]
                }
                None => vec![cut_off_call(body)],
            },
            TagParserState::UnreadableJson { start } => {
                let end = body.trim_end().len();
                self.call.json = Some(*start..end);
                vec![self.piece(body, end, false, offered)?]
            }
            TagParserState::StrayText {
                has_value_end: true,
            } => {
                vec![json_call::unusable_call(body.trim_end(), STRAY)]
            }
            TagParserState::StrayText { .. } => {
                let call = self.call_without_end(body, offered)?;
                let rest = &body[call.raw().len()..];
                with_rest(call, rest)
            }
            _ => vec![cut_off_call(body)],
        };
        Some(RecognizedForm::Calls(pieces))
    }

    /// The tag in the value under way that seems to have ended the call.
    fn ended(&self) -> Option<Range<usize>> {
        let candidate = self.value_state.possible_end.as_ref();
        let candidate = candidate.filter(|candidate| candidate.is_on_other_line)?;
        Some(candidate.tag.clone())
    }

    /// Nothing is open in the call, only its end is missing.
    fn call_without_end(&self, body: &str, offered: &Toolset) -> Option<ScanEvent> {
        let name = self.call.name.as_deref();
        if self.call.values.is_empty() {
            let is_plain = self.is_wrapped() || self.grammar.tool.is_some();
            match offered.resolve(self.call.server.as_deref(), name?) {
                ToolLookup::Tool(tool)
                    if is_plain && tool.tool.required_arguments().next().is_none() => {}
                ToolLookup::Unknown if !is_plain => return None,
                _ => return Some(cut_off_call(body)),
            }
        }
        self.piece(body, self.call.end, false, offered)
    }
}

/// The call, and what came behind it as text.
fn with_rest(call: ScanEvent, rest: &str) -> Vec<ScanEvent> {
    let rest = rest.trim_start().to_owned();
    let text = (!rest.is_empty()).then_some(ScanEvent::Text(rest));
    [call].into_iter().chain(text).collect()
}

fn cut_off_call(body: &str) -> ScanEvent {
    json_call::unusable_call(body.trim_end(), json_call::CUT_OFF)
}

/// The bytes of the value in `text`, where the end of a wrapper is all that ends it.
fn outer_end_offset(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let inside = grammar::outer_ends().find_map(|end| text.strip_suffix(end))?;
    Some(inside.len())
}
