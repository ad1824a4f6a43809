//! The text of a reply, and what was taken out of it: calls, with the tags and fences
//! around them. What turns out to be text after all is put back in its place, word for
//! word as the model wrote it.

use crate::domain::PieceId;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(super) struct Words {
    /// All text so far, without what was taken out.
    text: String,
    /// Each piece, and where in the text it begins.
    pieces: Vec<(PieceId, usize)>,
    taken: Vec<Taken>,
    last: Last,
    /// Marks since the last text or thinking: those of a call, should one follow.
    marks: String,
}

/// Something that was taken out, in the order of the stream.
#[derive(Debug)]
struct Taken {
    /// Where in the text it stood.
    at: usize,
    before: String,
    raw: String,
    after: String,
    is_text: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    #[default]
    Text,
    Thinking,
    Taken,
}

impl Words {
    /// All text without what was taken out.
    pub(super) fn streamed(&self) -> &str {
        &self.text
    }

    /// The text as it stands, with what was put back.
    pub(super) fn text(&self) -> Cow<'_, str> {
        self.part(0, self.text.len(), true)
    }

    pub(super) fn push(&mut self, piece: PieceId, text: &str) {
        if self.pieces.last().is_none_or(|(last, _)| *last != piece) {
            self.pieces.push((piece, self.text.len()));
        }
        self.text.push_str(text);
        self.marks.clear();
        self.last = Last::Text;
    }

    pub(super) fn thinking(&mut self) {
        // The tag that begins it is no part of the call before it.
        let taken = self.taken.last_mut().filter(|_| self.last == Last::Taken);
        if let Some(taken) = taken
            && let Some(tag) = taken.after.rfind('<')
            && !taken.after[tag..].starts_with("</")
        {
            taken.after.truncate(tag);
        }
        self.marks.clear();
        self.last = Last::Thinking;
    }

    pub(super) fn mark(&mut self, mark: &str) {
        match (self.last, self.taken.last_mut()) {
            (Last::Taken, Some(taken)) => taken.after.push_str(mark),
            _ => self.marks.push_str(mark),
        }
    }

    /// Takes a call out; the result is what [`Self::put_back`] knows it by.
    pub(super) fn take_out(&mut self, raw: &str) -> usize {
        let mut before = std::mem::take(&mut self.marks);
        if self.last == Last::Thinking
            && let Some(end) = before.find('>')
        {
            // The tag that ended the thinking is no part of the call behind it.
            before.drain(..=end);
        }
        self.taken.push(Taken {
            at: self.text.len(),
            before,
            raw: raw.to_owned(),
            after: String::new(),
            is_text: false,
        });
        self.last = Last::Taken;
        self.taken.len() - 1
    }

    /// All text so far was thinking: its pieces.
    pub(super) fn were_thinking(&mut self) -> Vec<PieceId> {
        let pieces = std::mem::take(self).pieces;
        pieces.into_iter().map(|(piece, _)| piece).collect()
    }

    /// It is text after all. The piece that changed by that, and its text; for a reply
    /// without any text a piece is to be made.
    pub(super) fn put_back(
        &mut self,
        place: usize,
        new_piece: impl FnOnce() -> PieceId,
    ) -> Option<Changed> {
        let taken = self.taken.get_mut(place).filter(|taken| !taken.is_text)?;
        taken.is_text = true;
        let at = taken.at;
        let is_new = self.pieces.is_empty();
        if is_new {
            self.pieces.push((new_piece(), 0));
        }
        // At a seam it goes on with the piece before it.
        let index = self.pieces.iter().rposition(|(_, start)| *start < at);
        let index = index.unwrap_or(0);
        let (piece, start) = self.pieces[index];
        let end = self.pieces.get(index + 1);
        let end = end.map_or(self.text.len(), |(_, start)| *start);
        Some(Changed {
            piece,
            is_new,
            text: self.part(start, end, index == 0).into_owned(),
        })
    }

    /// The text from `start` to `end`, with what was put back behind `start`, and at it
    /// where that is the very beginning.
    fn part(&self, start: usize, end: usize, is_first: bool) -> Cow<'_, str> {
        let here = |taken: &&Taken| {
            let begins = taken.at > start || is_first && taken.at == start;
            taken.is_text && begins && taken.at <= end
        };
        let mut back = self.taken.iter().filter(here).peekable();
        if back.peek().is_none() {
            return self.text[start..end].into();
        }
        let (mut out, mut from) = (String::new(), start);
        for taken in back {
            out.push_str(&self.text[from..taken.at]);
            for part in [&taken.before, &taken.raw, &taken.after] {
                out.push_str(part);
            }
            from = taken.at;
        }
        out.push_str(&self.text[from..end]);
        out.into()
    }
}

/// A piece whose text is another now.
#[derive(Debug, PartialEq)]
pub(super) struct Changed {
    pub(super) piece: PieceId,
    pub(super) is_new: bool,
    pub(super) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"name": "f"}"#;

    fn changed(piece: u64, is_new: bool, text: &str) -> Option<Changed> {
        Some(Changed {
            piece: PieceId(piece),
            is_new,
            text: text.to_owned(),
        })
    }

    fn no_piece() -> PieceId {
        panic!("there is a piece")
    }

    #[test]
    fn what_was_taken_out_goes_back_to_its_place_with_its_fence() {
        let mut words = Words::default();
        words.push(PieceId(1), "For example:\n");
        words.mark("```json\n");
        let place = words.take_out(CALL);
        words.mark("\n```\n");
        words.push(PieceId(1), "이렇게요.");
        assert_eq!(words.text(), "For example:\n이렇게요.");
        let whole = format!("For example:\n```json\n{CALL}\n```\n이렇게요.");
        assert_eq!(words.put_back(place, no_piece), changed(1, false, &whole));
        assert_eq!(words.text(), whole);
        assert_eq!(words.put_back(place, no_piece), None, "once is enough");
        assert_eq!(words.streamed(), "For example:\n이렇게요.");
    }

    #[test]
    fn of_several_each_goes_back_by_itself_and_all_of_them_are_what_was_written() {
        let mut words = Words::default();
        words.mark("[");
        let first = words.take_out("a");
        words.mark(", ");
        let second = words.take_out("b");
        words.mark("]");
        assert_eq!(
            words.put_back(second, || PieceId(7)),
            changed(7, true, "b]")
        );
        assert_eq!(words.put_back(first, no_piece), changed(7, false, "[a, b]"));
    }

    #[test]
    fn pieces_are_told_apart_and_tags_of_thinking_stay_out() {
        let mut words = Words::default();
        words.push(PieceId(1), "one ");
        let first = words.take_out("A");
        words.mark("</tool_call>\n<think>");
        words.thinking();
        words.mark("</think>\n<tool_call>");
        let second = words.take_out("B");
        words.mark("</tool_call>");
        words.push(PieceId(2), "two");
        assert_eq!(
            words.put_back(second, no_piece),
            changed(1, false, "one \n<tool_call>B</tool_call>")
        );
        assert_eq!(
            words.put_back(first, no_piece),
            changed(1, false, "one A</tool_call>\n\n<tool_call>B</tool_call>")
        );
        assert_eq!(
            words.text(),
            "one A</tool_call>\n\n<tool_call>B</tool_call>two"
        );
    }

    #[test]
    fn a_mark_that_no_call_follows_is_forgotten() {
        let mut words = Words::default();
        words.mark("<think>");
        words.thinking();
        words.mark("</think>\n");
        words.push(PieceId(1), "text");
        let place = words.take_out("A");
        words.put_back(place, no_piece);
        assert_eq!(words.text(), "textA");
        assert_eq!(words.were_thinking(), [PieceId(1)]);
        assert_eq!(words.text(), "");
    }
}
