//! A value between its tags, and its end: its own end tag or, if that is missing, the end tag of
//! something around it. Such a tag may also be part of the value; the text after it decides.

use super::super::recognizer::Advance;
use super::grammar::{self, ValueText};
use super::parser::{TagCursor, TagParser, TagParserState};
use super::xml::{CDATA, CDATA_END};
use std::ops::Range;

/// Maximum whitespace between a value tag and its CDATA section.
const BEFORE_SECTION_BYTES_MAX: usize = 256;
/// Models often write only the end tag of this wrapper around `<function=f>`.
const USUAL_WRAPPER: &str = "<tool_call>";

/// State of the current value; offsets are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct ValueState {
    /// Calls opened inside the value and not closed.
    depth: usize,
    /// A point where the call may have ended.
    pub(super) possible_end: Option<PossibleEnd>,
}

#[derive(Debug, Clone)]
pub(super) struct PossibleEnd {
    /// The tag that may have ended the call.
    pub(super) tag: Range<usize>,
    /// Start of the first non-whitespace after the tag.
    next: usize,
    /// That text is on another line.
    pub(super) is_on_other_line: bool,
}

impl TagParser {
    /// Starts a value at `start`.
    pub(super) fn begin_value(&mut self, start: usize) {
        self.value_state = ValueState::default();
        self.state = TagParserState::Value { start };
    }

    pub(super) fn step_value(&mut self, cursor: TagCursor<'_>, start: usize) -> Advance {
        let body = cursor.body;
        let text = &body[start..];
        if let Some(opener) = self.opener(cursor, text) {
            match self
                .value_state
                .possible_end
                .take_if(|end| end.is_on_other_line || end.next == opener)
            {
                // The text that seemed part of the value is the next call.
                Some(candidate) => {
                    self.end_call_at(body, start, candidate.tag);
                    return Advance::Reject;
                }
                None => self.value_state.depth += 1,
            }
        }
        if cursor.c == '[' && self.grammar.text == ValueText::Xml && opens_section(text) {
            self.state = TagParserState::Cdata { start };
        } else if cursor.c != '>' {
            return Advance::Hold;
        } else if text.ends_with(self.grammar.value_end) {
            let end = body.len() - self.grammar.value_end.len();
            self.call.close_value(start..end, false);
            return self.end_part(cursor);
        } else if let Some(length) = self.closer(text) {
            let (tag, outer) = (body.len() - length..body.len(), None);
            self.state = TagParserState::ValueOrEnd { start, tag, outer };
        }
        Advance::Hold
    }

    /// Ends the call at `tag`, inside the value that began at `start`.
    pub(super) fn end_call_at(&mut self, body: &str, start: usize, tag: Range<usize>) {
        self.call.close_value(start..tag.start, true);
        let is_outside = self.grammar.end_is_outside || body[tag.clone()] != *self.grammar.end;
        self.call.end = if is_outside { tag.start } else { tag.end };
        self.state = TagParserState::Ended;
    }

    fn wrapper_opens(&self) -> Option<&'static str> {
        let head = self.grammar.head.map(|head| head.literal);
        let usual = (head == Some("<function=")).then_some(USUAL_WRAPPER);
        self.wrapper.map(|wrapper| wrapper.opening).or(usual)
    }

    /// Start of a tag that opens a call of this form, if `text` ends with enough of it.
    fn opener(&self, cursor: TagCursor<'_>, text: &str) -> Option<usize> {
        let head = self
            .grammar
            .head
            .and_then(|head| head.text_before_opening(text));
        let wrapper = || text.strip_suffix(self.wrapper_opens()?);
        let before = head.or_else(wrapper)?;
        Some(cursor.body.len() - text.len() + before.len())
    }

    /// Length of the tag at the end of `text` that closes the call or its wrapper.
    fn closer(&self, text: &str) -> Option<usize> {
        let end = self.grammar.end;
        if text.ends_with(end) {
            return Some(end.len());
        }
        let name = self.wrapper_opens()?.strip_prefix('<')?;
        let is_wrapper = text.strip_suffix(name)?.ends_with("</");
        is_wrapper.then_some("</".len() + name.len())
    }

    pub(super) fn step_value_or_end(
        &mut self,
        cursor: TagCursor<'_>,
        start: usize,
        tag: Range<usize>,
        outer: Option<usize>,
    ) -> Advance {
        if outer.is_none() && cursor.c.is_whitespace() {
            return Advance::Hold;
        }
        let from = outer.unwrap_or(cursor.offset());
        let next = &cursor.body[from..];
        // The end tag of a wrapper alone is not enough evidence.
        let is_own = cursor.body[tag.clone()] == *self.grammar.end;
        let closes = |end: &&'static str| match (end.strip_prefix("</"), self.wrapper) {
            _ if !is_own => false,
            (Some(_), _) if self.grammar.end_is_outside => false,
            (Some(end), Some(wrapper)) => wrapper.opening[1..] == *end,
            _ => true,
        };
        let mut outer_ends = grammar::outer_ends().filter(closes);
        if outer_ends.clone().any(|outer| outer == next) {
            if self.value_state.depth >= 2 && next.starts_with("</") {
                // Both tags closed calls opened inside the value.
                self.value_state.depth -= 2;
                self.state = TagParserState::Value { start };
                return Advance::Hold;
            }
            self.end_call_at(cursor.body, start, tag);
            return self.complete(cursor, self.call.end);
        }
        if outer_ends.any(|outer| outer.starts_with(next)) {
            let outer = Some(from);
            self.state = TagParserState::ValueOrEnd { start, tag, outer };
            return Advance::Hold;
        }
        self.may_have_ended(cursor.body, tag, from);
        self.state = TagParserState::Value { start };
        self.step_value(cursor, start)
    }

    /// Records that `tag` may have ended the call; `next` is the start of the text after it.
    fn may_have_ended(&mut self, body: &str, tag: Range<usize>, next: usize) {
        if self.value_state.depth > 0 {
            self.value_state.depth -= 1;
        } else if self
            .value_state
            .possible_end
            .as_ref()
            .is_none_or(|end| !end.is_on_other_line)
        {
            let is_on_other_line = body[tag.end..next].contains('\n');
            self.value_state.possible_end = Some(PossibleEnd {
                tag,
                next,
                is_on_other_line,
            });
        }
    }
}

/// Whether `text`, the value so far, ends with the start of a CDATA section: at the start of the
/// value, or directly after another section. Elsewhere it is more likely part of some code.
fn opens_section(text: &str) -> bool {
    text.strip_suffix(CDATA).is_some_and(|before| {
        let is_near = before.len() <= BEFORE_SECTION_BYTES_MAX;
        is_near && before.trim().is_empty() || before.ends_with(CDATA_END)
    })
}
