//! The text of a reply, and what was taken out of it: calls, with the tags and fences
//! around them. What turns out to be text after all is put back in its place, word for
//! word as the model wrote it.

use crate::domain::PieceId;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(super) struct ReplyText {
    /// All text so far, without what was taken out.
    text: String,
    /// Each piece, and where in the text it begins.
    pieces: Vec<(PieceId, usize)>,
    extracted: Vec<ExtractedSpan>,
    last_part: LastPart,
    /// Marks since the last text or thinking: those of a call, should one follow.
    markup: String,
}

/// Something that was taken out, in the order of the stream.
#[derive(Debug)]
struct ExtractedSpan {
    /// Where in the text it stood.
    offset: usize,
    before: String,
    raw: String,
    after: String,
    is_restored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LastPart {
    #[default]
    Text,
    Thinking,
    Extracted,
}

impl ReplyText {
    /// All text without what was taken out.
    pub(super) fn streamed_text(&self) -> &str {
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
        self.markup.clear();
        self.last_part = LastPart::Text;
    }

    pub(super) fn note_thinking(&mut self) {
        // The tag that begins it is no part of the call before it.
        let taken = self
            .extracted
            .last_mut()
            .filter(|_| self.last_part == LastPart::Extracted);
        if let Some(taken) = taken
            && let Some(tag) = taken.after.rfind('<')
            && !taken.after[tag..].starts_with("</")
        {
            taken.after.truncate(tag);
        }
        self.markup.clear();
        self.last_part = LastPart::Thinking;
    }

    pub(super) fn push_markup(&mut self, mark: &str) {
        match (self.last_part, self.extracted.last_mut()) {
            (LastPart::Extracted, Some(taken)) => taken.after.push_str(mark),
            _ => self.markup.push_str(mark),
        }
    }

    /// Takes a call out; the result is what [`Self::put_back`] knows it by.
    pub(super) fn extract(&mut self, raw: &str) -> usize {
        let mut before = std::mem::take(&mut self.markup);
        if self.last_part == LastPart::Thinking
            && let Some(end) = before.find('>')
        {
            // The tag that ended the thinking is no part of the call behind it.
            before.drain(..=end);
        }
        self.extracted.push(ExtractedSpan {
            offset: self.text.len(),
            before,
            raw: raw.to_owned(),
            after: String::new(),
            is_restored: false,
        });
        self.last_part = LastPart::Extracted;
        self.extracted.len() - 1
    }

    /// All text so far was thinking: its pieces.
    pub(super) fn take_as_thinking(&mut self) -> Vec<PieceId> {
        let pieces = std::mem::take(self).pieces;
        pieces.into_iter().map(|(piece, _)| piece).collect()
    }

    /// It is text after all. The piece that changed by that, and its text; for a reply
    /// without any text a piece is to be made.
    pub(super) fn restore(
        &mut self,
        span: usize,
        new_piece: impl FnOnce() -> PieceId,
    ) -> Option<RestoredText> {
        let taken = self
            .extracted
            .get_mut(span)
            .filter(|taken| !taken.is_restored)?;
        taken.is_restored = true;
        let at = taken.offset;
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
        Some(RestoredText {
            piece,
            is_new,
            text: self.part(start, end, index == 0).into_owned(),
        })
    }

    /// The text from `start` to `end`, with what was put back behind `start`, and at it
    /// where that is the very beginning.
    fn part(&self, start: usize, end: usize, is_first: bool) -> Cow<'_, str> {
        let here = |taken: &&ExtractedSpan| {
            let begins = taken.offset > start || is_first && taken.offset == start;
            taken.is_restored && begins && taken.offset <= end
        };
        let mut back = self.extracted.iter().filter(here).peekable();
        if back.peek().is_none() {
            return self.text[start..end].into();
        }
        let (mut out, mut from) = (String::new(), start);
        for taken in back {
            out.push_str(&self.text[from..taken.offset]);
            for part in [&taken.before, &taken.raw, &taken.after] {
                out.push_str(part);
            }
            from = taken.offset;
        }
        out.push_str(&self.text[from..end]);
        out.into()
    }
}

/// A piece whose text is another now.
#[derive(Debug, PartialEq)]
pub(super) struct RestoredText {
    pub(super) piece: PieceId,
    pub(super) is_new: bool,
    pub(super) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"name": "f"}"#;

    fn changed(piece: u64, is_new: bool, text: &str) -> Option<RestoredText> {
        Some(RestoredText {
            piece: PieceId(piece),
            is_new,
            text: text.to_owned(),
        })
    }

    fn no_piece() -> PieceId {
        panic!("there is a piece")
    }

    #[test]
    fn extracted_call_is_restored_in_place_with_its_fence() {
        let mut words = ReplyText::default();
        words.push(PieceId(1), "For example:\n");
        words.push_markup("```json\n");
        let place = words.extract(CALL);
        words.push_markup("\n```\n");
        words.push(PieceId(1), "이렇게요.");
        assert_eq!(words.text(), "For example:\n이렇게요.");
        let whole = format!("For example:\n```json\n{CALL}\n```\n이렇게요.");
        assert_eq!(words.restore(place, no_piece), changed(1, false, &whole));
        assert_eq!(words.text(), whole);
        assert_eq!(words.restore(place, no_piece), None, "once is enough");
        assert_eq!(words.streamed_text(), "For example:\n이렇게요.");
    }

    #[test]
    fn adjacent_calls_are_restored_independently() {
        let mut words = ReplyText::default();
        words.push_markup("[");
        let first = words.extract("a");
        words.push_markup(", ");
        let second = words.extract("b");
        words.push_markup("]");
        assert_eq!(words.restore(second, || PieceId(7)), changed(7, true, "b]"));
        assert_eq!(words.restore(first, no_piece), changed(7, false, "[a, b]"));
    }

    #[test]
    fn restored_text_keeps_pieces_apart_and_omits_thinking_tags() {
        let mut words = ReplyText::default();
        words.push(PieceId(1), "one ");
        let first = words.extract("A");
        words.push_markup("</tool_call>\n<think>");
        words.note_thinking();
        words.push_markup("</think>\n<tool_call>");
        let second = words.extract("B");
        words.push_markup("</tool_call>");
        words.push(PieceId(2), "two");
        assert_eq!(
            words.restore(second, no_piece),
            changed(1, false, "one \n<tool_call>B</tool_call>")
        );
        assert_eq!(
            words.restore(first, no_piece),
            changed(1, false, "one A</tool_call>\n\n<tool_call>B</tool_call>")
        );
        assert_eq!(
            words.text(),
            "one A</tool_call>\n\n<tool_call>B</tool_call>two"
        );
    }

    #[test]
    fn markup_without_a_following_call_is_dropped() {
        let mut words = ReplyText::default();
        words.push_markup("<think>");
        words.note_thinking();
        words.push_markup("</think>\n");
        words.push(PieceId(1), "text");
        let place = words.extract("A");
        words.restore(place, no_piece);
        assert_eq!(words.text(), "textA");
        assert_eq!(words.take_as_thinking(), [PieceId(1)]);
        assert_eq!(words.text(), "");
    }
}
