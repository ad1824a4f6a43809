//! Reads a value up to its end tag or, if that is missing, up to the end tag of the call or its
//! wrapper. Such a tag may also be part of the value; the text after it decides.

use super::super::recognizer::Advance;
use super::grammar::{self, ValueDecoding};
use super::parser::{TagCursor, TagParser, TagParserState};
use super::xml::{CDATA, CDATA_END};
use std::ops::Range;

/// Maximum length of the whitespace between a value tag and a CDATA section.
const WHITESPACE_BYTES_MAX: usize = 256;
/// The wrapper around `<function=f>`. Models often write only its end tag.
const FUNCTION_WRAPPER: &str = "<tool_call>";

/// Offsets are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct ValueState {
    /// The number of calls that were opened inside the value and not closed.
    depth: usize,
    pub(super) possible_end: Option<PossibleEnd>,
}

#[derive(Debug, Clone)]
pub(super) struct PossibleEnd {
    pub(super) tag: Range<usize>,
    /// The start of the first visible text after the tag.
    next_start: usize,
    /// That text is on a later line than the tag.
    pub(super) is_on_later_line: bool,
}

impl TagParser {
    pub(super) fn begin_value(&mut self, start: usize) {
        self.value_state = ValueState::default();
        self.state = TagParserState::Value { start };
    }

    pub(super) fn step_value(&mut self, cursor: TagCursor<'_>, start: usize) -> Advance {
        let body = cursor.body;
        let text = &body[start..];
        if let Some(opener_start) = self.opener_start(cursor, text) {
            match self
                .value_state
                .possible_end
                .take_if(|end| end.is_on_later_line || end.next_start == opener_start)
            {
                // Another call begins, so the earlier tag did end this one.
                Some(possible_end) => {
                    self.end_call_at(body, start, possible_end.tag);
                    return Advance::Reject;
                }
                None => self.value_state.depth += 1,
            }
        }
        if cursor.c == '[' && self.grammar.value_decoding == ValueDecoding::Xml && opens_cdata(text)
        {
            self.state = TagParserState::Cdata { start };
        } else if cursor.c != '>' {
            return Advance::Hold;
        } else if text.ends_with(self.grammar.value_end) {
            let end = body.len() - self.grammar.value_end.len();
            self.call.close_value(start..end, false);
            return self.end_part(cursor);
        } else if let Some(length) = self.end_tag_length(text) {
            self.state = TagParserState::ValueOrEnd {
                start,
                tag: body.len() - length..body.len(),
                outer_start: None,
            };
        }
        Advance::Hold
    }

    /// Ends the call at `tag`, which is inside the value that began at `start`.
    pub(super) fn end_call_at(&mut self, body: &str, start: usize, tag: Range<usize>) {
        self.call.close_value(start..tag.start, true);
        let is_outside = self.grammar.end_is_outside || body[tag.clone()] != *self.grammar.end;
        self.call.end = if is_outside { tag.start } else { tag.end };
        self.state = TagParserState::Ended;
    }

    /// The opening marker of the wrapper that is, or probably was, around the call.
    fn wrapper_opening(&self) -> Option<&'static str> {
        let head = self.grammar.head.map(|head| head.literal);
        let probable = (head == Some("<function=")).then_some(FUNCTION_WRAPPER);
        self.wrapper.map(|wrapper| wrapper.opening).or(probable)
    }

    /// The start of a tag that opens a call of this form or its wrapper, if `text` ends with enough
    /// of the tag to identify it.
    fn opener_start(&self, cursor: TagCursor<'_>, text: &str) -> Option<usize> {
        let before_head = self
            .grammar
            .head
            .and_then(|head| head.text_before_opening(text));
        let before_wrapper = || text.strip_suffix(self.wrapper_opening()?);
        let before = before_head.or_else(before_wrapper)?;
        Some(cursor.body.len() - text.len() + before.len())
    }

    /// The length of the tag at the end of `text` that closes the call or its wrapper.
    fn end_tag_length(&self, text: &str) -> Option<usize> {
        let end = self.grammar.end;
        if text.ends_with(end) {
            return Some(end.len());
        }
        let name = self.wrapper_opening()?.strip_prefix('<')?;
        let is_wrapper = text.strip_suffix(name)?.ends_with("</");
        is_wrapper.then_some("</".len() + name.len())
    }

    pub(super) fn step_value_or_end(
        &mut self,
        cursor: TagCursor<'_>,
        start: usize,
        tag: Range<usize>,
        outer_start: Option<usize>,
    ) -> Advance {
        if outer_start.is_none() && cursor.c.is_whitespace() {
            return Advance::Hold;
        }
        let next_start = outer_start.unwrap_or(cursor.offset());
        let next = &cursor.body[next_start..];
        // The end tag of a wrapper alone is not enough evidence.
        let is_own_end = cursor.body[tag.clone()] == *self.grammar.end;
        let may_close = |end: &&'static str| match (end.strip_prefix("</"), self.wrapper) {
            _ if !is_own_end => false,
            (Some(_), _) if self.grammar.end_is_outside => false,
            (Some(end), Some(wrapper)) => wrapper.opening[1..] == *end,
            _ => true,
        };
        let mut outer_ends = grammar::outer_ends().filter(may_close);
        if outer_ends.clone().any(|end| end == next) {
            if self.value_state.depth >= 2 && next.starts_with("</") {
                // Both tags closed forms that were opened inside the value.
                self.value_state.depth -= 2;
                self.state = TagParserState::Value { start };
                return Advance::Hold;
            }
            self.end_call_at(cursor.body, start, tag);
            return self.complete(cursor, self.call.end);
        }
        if outer_ends.any(|end| end.starts_with(next)) {
            self.state = TagParserState::ValueOrEnd {
                start,
                tag,
                outer_start: Some(next_start),
            };
            return Advance::Hold;
        }
        self.record_possible_end(cursor.body, tag, next_start);
        self.state = TagParserState::Value { start };
        self.step_value(cursor, start)
    }

    /// Records that `tag` may have ended the call, unless it closed a call inside the value.
    /// `next_start` is the start of the text after it.
    fn record_possible_end(&mut self, body: &str, tag: Range<usize>, next_start: usize) {
        if self.value_state.depth > 0 {
            self.value_state.depth -= 1;
        } else if self
            .value_state
            .possible_end
            .as_ref()
            .is_none_or(|end| !end.is_on_later_line)
        {
            let is_on_later_line = body[tag.end..next_start].contains('\n');
            self.value_state.possible_end = Some(PossibleEnd {
                tag,
                next_start,
                is_on_later_line,
            });
        }
    }
}

/// Whether `text`, the value so far, ends with the start of a CDATA section. A section may begin at
/// the start of the value or directly after another section; elsewhere, such text is more likely
/// part of some code.
fn opens_cdata(text: &str) -> bool {
    text.strip_suffix(CDATA).is_some_and(|before| {
        let is_at_start = before.len() <= WHITESPACE_BYTES_MAX && before.trim().is_empty();
        is_at_start || before.ends_with(CDATA_END)
    })
}
