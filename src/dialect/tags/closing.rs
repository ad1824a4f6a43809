//! Handles the end of a tag call: its own end tag, the end tag of a wrapper around it, or the end of
//! the stream.

use super::super::json_call;
use super::super::recognizer::{Advance, FormEnd, RecognizedForm};
use super::super::scan_event::ScanEvent;
use super::grammar;
use super::parser::{TagCursor, TagParser, TagParserState};
use crate::domain::{ToolLookup, Toolset};
use std::ops::Range;

const STRAY_TEXT: &str = "there is text between its arguments, or a value contains its own end tag";

impl TagParser {
    pub(super) fn step_unreadable_json(&mut self, cursor: TagCursor<'_>, start: usize) -> Advance {
        if !self.is_certain(cursor.offered) {
            return Advance::Reject;
        }
        self.state = TagParserState::UnreadableJson { start };
        match self.end_tag(cursor) {
            Some((end, raw_end)) => {
                self.call.json = Some(start..end);
                self.complete(cursor, raw_end)
            }
            None => Advance::Hold,
        }
    }

    pub(super) fn step_stray_text(&mut self, cursor: TagCursor<'_>) -> Advance {
        match self.end_tag(cursor) {
            Some((_, raw_end)) => {
                self.call.error = Some(STRAY_TEXT);
                self.complete(cursor, raw_end)
            }
            None => Advance::Hold,
        }
    }

    /// If `cursor` is at the end of a tag that ends the call: the end of the call without its own
    /// end tag, and with it.
    fn end_tag(&self, cursor: TagCursor<'_>) -> Option<(usize, usize)> {
        if cursor.c != '>' {
            return None;
        }
        let own_end = Some(self.grammar.end).filter(|_| !self.grammar.end_is_outside);
        if let Some(before) = own_end.and_then(|end| cursor.body.strip_suffix(end)) {
            return Some((before.len(), cursor.body.len()));
        }
        let before = grammar::outer_ends().find_map(|end| cursor.body.strip_suffix(end))?;
        let end = before.trim_end().len();
        Some((end, end))
    }

    /// Ends the call, whose text ends at `raw_end`.
    pub(super) fn complete(&self, cursor: TagCursor<'_>, raw_end: usize) -> Advance {
        let is_empty = self.call.name.is_none() && self.call.values.is_empty();
        if is_empty || self.is_bare_word(cursor.offered) {
            return Advance::Text;
        }
        match self.to_event(cursor.body, raw_end, true, cursor.offered) {
            Some(event) => Advance::Found(RecognizedForm::Calls(vec![event])),
            None => Advance::Text,
        }
    }

    /// Whether the wrapper contains only a word that names no tool, so the text mentions the
    /// wrapper instead of using it.
    fn is_bare_word(&self, offered: &Toolset) -> bool {
        let has_no_tags = self.grammar.head.is_none() && self.call.values.is_empty();
        let name = self.call.name.as_deref().unwrap_or_default();
        has_no_tags
            && self.call.json.is_none()
            && offered.resolve(None, name) == ToolLookup::Unknown
    }

    fn to_event(
        &self,
        body: &str,
        end: usize,
        has_end: bool,
        offered: &Toolset,
    ) -> Option<ScanEvent> {
        self.call
            .to_event(self.grammar, &body[..end], body, has_end, offered)
    }

    /// Returns `None` if `body` is plain text.
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
                let call = self.to_event(body, self.call.end, true, offered)?;
                Some(RecognizedForm::Calls(vec![call]))
            }
        }
    }

    /// The number of bytes at the end of `body` that do not belong to this call.
    pub(super) fn unconsumed_bytes(&self, body: &str) -> usize {
        match self.state {
            TagParserState::Tag { start, .. } => body.len() - start,
            TagParserState::Ended => body.len() - self.call.end,
            _ => 0,
        }
    }

    fn finish_at_stream_end(&mut self, body: &str, offered: &Toolset) -> Option<RecognizedForm> {
        let events = match &self.state {
            TagParserState::Value { start } | TagParserState::ValueOrEnd { start, .. }
                if self.probable_end().is_some() =>
            {
                let (start, tag) = (*start, self.probable_end()?);
                let rest_start = tag.end;
                self.end_call_at(body, start, tag);
                let call = self.to_event(body, self.call.end, false, offered)?;
                with_rest(call, &body[rest_start..])
            }
            TagParserState::Between => vec![self.call_without_end(body, offered)?],
            TagParserState::Tag { start, .. } if self.grammar.could_end(&body[*start..]) => {
                vec![self.call_without_end(body, offered)?]
            }
            TagParserState::Tag { .. } if !self.is_started() && !self.is_certain(offered) => {
                return None;
            }
            TagParserState::ValueOrEnd { start, tag, .. } => {
                let (start, tag) = (*start, tag.clone());
                self.end_call_at(body, start, tag);
                vec![self.to_event(body, self.call.end, false, offered)?]
            }
            TagParserState::Value { start } => match length_before_outer_end(&body[*start..]) {
                Some(length) => {
                    let start = *start;
                    let end = start + length;
                    self.call.close_value(start..end, true);
                    vec![self.to_event(body, end, false, offered)?]
                }
                None => vec![cut_off_call(body)],
            },
            TagParserState::UnreadableJson { start } => {
                let end = body.trim_end().len();
                self.call.json = Some(*start..end);
                vec![self.to_event(body, end, false, offered)?]
            }
            TagParserState::StrayText {
                has_value_end: true,
            } => {
                vec![json_call::unusable_call(body.trim_end(), STRAY_TEXT)]
            }
            TagParserState::StrayText { .. } => {
                let call = self.call_without_end(body, offered)?;
                let rest = &body[call.raw().len()..];
                with_rest(call, rest)
            }
            _ => vec![cut_off_call(body)],
        };
        Some(RecognizedForm::Calls(events))
    }

    /// The tag in the current value that probably ended the call.
    fn probable_end(&self) -> Option<Range<usize>> {
        let candidate = self
            .value_state
            .possible_end
            .as_ref()
            .filter(|candidate| candidate.is_on_later_line)?;
        Some(candidate.tag.clone())
    }

    /// The event for a call without its end tag; the call is unusable if more than that is missing.
    /// `None` if the text is not a call.
    fn call_without_end(&self, body: &str, offered: &Toolset) -> Option<ScanEvent> {
        let name = self.call.name.as_deref();
        if self.call.values.is_empty() {
            let is_certain = self.is_wrapped() || self.grammar.tool.is_some();
            match offered.resolve(self.call.server.as_deref(), name?) {
                ToolLookup::Tool(tool)
                    if is_certain && tool.tool.required_arguments().next().is_none() => {}
                ToolLookup::Unknown if !is_certain => return None,
                _ => return Some(cut_off_call(body)),
            }
        }
        self.to_event(body, self.call.end, false, offered)
    }
}

fn with_rest(call: ScanEvent, rest: &str) -> Vec<ScanEvent> {
    let rest = rest.trim_start().to_owned();
    let text = (!rest.is_empty()).then_some(ScanEvent::Text(rest));
    [call].into_iter().chain(text).collect()
}

fn cut_off_call(body: &str) -> ScanEvent {
    json_call::unusable_call(body.trim_end(), json_call::CUT_OFF)
}

/// The length of `text` before the end tag of a wrapper, if `text` ends with one.
fn length_before_outer_end(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let before = grammar::outer_ends().find_map(|end| text.strip_suffix(end))?;
    Some(before.len())
}
