//! A value between its tags, and where it ends: at its own closing tag, or, where
//! that is missing, at one that closes what is around it. Such a tag may also be part
//! of the value; what follows it tells.

use super::super::recognizer::Advance;
use super::grammar::{self, ValueText};
use super::parser::{TagCursor, TagParser, TagParserState};
use super::xml::{CDATA, CDATA_END};
use std::ops::Range;

/// White space between a value's tag and the CDATA section that it holds.
const BEFORE_SECTION_BYTES_MAX: usize = 256;
/// Models write its end alone around `<function=f>`.
const USUAL_WRAPPER: &str = "<tool_call>";

/// What came so far in a value; places are bytes of the body.
#[derive(Debug, Default)]
pub(super) struct ValueState {
    /// Calls that were opened in it and not closed.
    depth: usize,
    /// Where the call may have ended.
    pub(super) possible_end: Option<PossibleEnd>,
}

#[derive(Debug, Clone)]
pub(super) struct PossibleEnd {
    /// The tag that may have ended the call.
    pub(super) tag: Range<usize>,
    /// Where more than white space comes behind it.
    next: usize,
    /// On another line.
    pub(super) is_on_other_line: bool,
}

impl TagParser {
    /// A value begins at `start`.
    pub(super) fn begin_value(&mut self, start: usize) {
        self.value_state = ValueState::default();
        self.state = TagParserState::Value { start };
    }

    pub(super) fn step_value(&mut self, here: TagCursor<'_>, start: usize) -> Advance {
        let body = here.body;
        let text = &body[start..];
        if let Some(opener) = self.opener(here, text) {
            match self
                .value_state
                .possible_end
                .take_if(|end| end.is_on_other_line || end.next == opener)
            {
                // What seemed to be in the value is the next call.
                Some(candidate) => {
                    self.end_call_at(body, start, candidate.tag);
                    return Advance::Reject;
                }
                None => self.value_state.depth += 1,
            }
        }
        if here.c == '[' && self.grammar.text == ValueText::Xml && opens_section(text) {
            self.state = TagParserState::Cdata { start };
        } else if here.c != '>' {
            return Advance::Hold;
        } else if text.ends_with(self.grammar.value_end) {
            let end = body.len() - self.grammar.value_end.len();
            self.call.close_value(start..end, false);
            return self.end_part(here);
        } else if let Some(length) = self.closer(text) {
            let (tag, outer) = (body.len() - length..body.len(), None);
            self.state = TagParserState::ValueOrEnd { start, tag, outer };
        }
        Advance::Hold
    }

    /// The call ended at `tag`, in the value that began at `start`.
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

    /// Where a tag that opens a call of this form begins, if `text` shows it at its end.
    fn opener(&self, here: TagCursor<'_>, text: &str) -> Option<usize> {
        let head = self
            .grammar
            .head
            .and_then(|head| head.text_before_opening(text));
        let wrapper = || text.strip_suffix(self.wrapper_opens()?);
        let before = head.or_else(wrapper)?;
        Some(here.body.len() - text.len() + before.len())
    }

    /// The bytes of the tag at the end of `text` that closes the call or its wrapper.
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
        here: TagCursor<'_>,
        start: usize,
        tag: Range<usize>,
        outer: Option<usize>,
    ) -> Advance {
        if outer.is_none() && here.c.is_whitespace() {
            return Advance::Hold;
        }
        let from = outer.unwrap_or(here.offset());
        let next = &here.body[from..];
        // The end of a wrapper alone shows too little.
        let is_own = here.body[tag.clone()] == *self.grammar.end;
        let closes = |end: &&'static str| match (end.strip_prefix("</"), self.wrapper) {
            _ if !is_own => false,
            (Some(_), _) if self.grammar.end_is_outside => false,
            (Some(end), Some(wrapper)) => wrapper.opening[1..] == *end,
            _ => true,
        };
        let mut outer_ends = grammar::outer_ends().filter(closes);
        if outer_ends.clone().any(|outer| outer == next) {
            if self.value_state.depth >= 2 && next.starts_with("</") {
                // Both closed what the value itself opened.
                self.value_state.depth -= 2;
                self.state = TagParserState::Value { start };
                return Advance::Hold;
            }
            self.end_call_at(here.body, start, tag);
            return self.complete(here, self.call.end);
        }
        if outer_ends.any(|outer| outer.starts_with(next)) {
            let outer = Some(from);
            self.state = TagParserState::ValueOrEnd { start, tag, outer };
            return Advance::Hold;
        }
        self.may_have_ended(here.body, tag, from);
        self.state = TagParserState::Value { start };
        self.step_value(here, start)
    }

    /// `tag` did not end the call for certain; `next` is where more comes.
    fn may_have_ended(&mut self, body: &str, tag: Range<usize>, next: usize) {
        if self.value_state.depth > 0 {
            self.value_state.depth -= 1;
        } else if self
            .value_state
            .possible_end
            .as_ref()
            .is_none_or(|end| !end.is_on_other_line)
        {
            let is_lined = body[tag.end..next].contains('\n');
            self.value_state.possible_end = Some(PossibleEnd {
                tag,
                next,
                is_on_other_line: is_lined,
            });
        }
    }
}

/// Whether a CDATA section opens at the end of `text`, a value so far: at its start,
/// or right behind another. Elsewhere it is more likely part of some code.
fn opens_section(text: &str) -> bool {
    text.strip_suffix(CDATA).is_some_and(|before| {
        let is_near = before.len() <= BEFORE_SECTION_BYTES_MAX;
        is_near && before.trim().is_empty() || before.ends_with(CDATA_END)
    })
}
