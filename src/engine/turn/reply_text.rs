//! The text of a reply, and the spans extracted from it: calls with their tags and fences. If a
//! span turns out not to be a call, it is restored verbatim at its original position.

use crate::domain::PieceId;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(super) struct ReplyText {
    /// All text so far, without extracted spans.
    text: String,
    /// Each piece of the transcript, and the offset in `text` at which it starts.
    pieces: Vec<(PieceId, usize)>,
    extracted: Vec<ExtractedSpan>,
    last_part: LastPart,
    /// Markup since the last text or thinking. It becomes part of the next call's span.
    markup: String,
}

#[derive(Debug)]
struct ExtractedSpan {
    /// The offset in the text without extracted spans.
    offset: usize,
    /// Markup before the call.
    before: String,
    raw: String,
    /// Markup after the call.
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
    /// The text without extracted spans, even if some were restored.
    pub(super) fn streamed_text(&self) -> &str {
        &self.text
    }

    /// The text including restored spans.
    pub(super) fn text(&self) -> Cow<'_, str> {
        self.text_between(0, self.text.len(), true)
    }

    pub(super) fn push(&mut self, piece: PieceId, text: &str) {
        if self.pieces.last().is_none_or(|(last, _)| *last != piece) {
            self.pieces.push((piece, self.text.len()));
        }
        self.text.push_str(text);
        self.markup.clear();
        self.last_part = LastPart::Text;
    }

    pub(super) fn mark_thinking(&mut self) {
        // The tag that starts the thinking does not belong to the previous call.
        let previous_span = self
            .extracted
            .last_mut()
            .filter(|_| self.last_part == LastPart::Extracted);
        if let Some(span) = previous_span
            && let Some(tag) = span.after.rfind('<')
            && !span.after[tag..].starts_with("</")
        {
            span.after.truncate(tag);
        }
        self.markup.clear();
        self.last_part = LastPart::Thinking;
    }

    pub(super) fn push_markup(&mut self, markup: &str) {
        match (self.last_part, self.extracted.last_mut()) {
            (LastPart::Extracted, Some(span)) => span.after.push_str(markup),
            _ => self.markup.push_str(markup),
        }
    }

    /// Returns the index of the call's span for [`Self::restore`].
    pub(super) fn extract(&mut self, raw: &str) -> usize {
        let mut before = std::mem::take(&mut self.markup);
        if self.last_part == LastPart::Thinking
            && let Some(end) = before.find('>')
        {
            // The tag that ended the thinking does not belong to the call.
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

    /// Clears everything, because the text turned out to be thinking. Returns its pieces.
    pub(super) fn take_as_thinking(&mut self) -> Vec<PieceId> {
        let pieces = std::mem::take(self).pieces;
        pieces.into_iter().map(|(piece, _)| piece).collect()
    }

    /// Returns the changed piece with its text, or `None` if the span was already restored. A
    /// reply without text gets a new piece.
    pub(super) fn restore(
        &mut self,
        span_index: usize,
        new_piece: impl FnOnce() -> PieceId,
    ) -> Option<RestoredText> {
        let span = self
            .extracted
            .get_mut(span_index)
            .filter(|span| !span.is_restored)?;
        span.is_restored = true;
        let offset = span.offset;
        let is_new = self.pieces.is_empty();
        if is_new {
            self.pieces.push((new_piece(), 0));
        }
        // A span between two pieces becomes part of the earlier one.
        let piece_index = self
            .pieces
            .iter()
            .rposition(|(_, start)| *start < offset)
            .unwrap_or(0);
        let (piece, start) = self.pieces[piece_index];
        let end = self
            .pieces
            .get(piece_index + 1)
            .map_or(self.text.len(), |(_, start)| *start);
        Some(RestoredText {
            piece,
            is_new,
            text: self.text_between(start, end, piece_index == 0).into_owned(),
        })
    }

    /// The text from `start` to `end`, including restored spans. A span exactly at `start`
    /// belongs to the previous piece, unless this is the first one.
    fn text_between(&self, start: usize, end: usize, is_first_piece: bool) -> Cow<'_, str> {
        let is_in_range = |span: &&ExtractedSpan| {
            let starts_in_range = span.offset > start || is_first_piece && span.offset == start;
            span.is_restored && starts_in_range && span.offset <= end
        };
        let mut restored = self.extracted.iter().filter(is_in_range).peekable();
        if restored.peek().is_none() {
            return self.text[start..end].into();
        }
        let (mut out, mut from) = (String::new(), start);
        for span in restored {
            out.push_str(&self.text[from..span.offset]);
            for part in [&span.before, &span.raw, &span.after] {
                out.push_str(part);
            }
            from = span.offset;
        }
        out.push_str(&self.text[from..end]);
        out.into()
    }
}

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

    fn restored(piece: u64, is_new: bool, text: &str) -> Option<RestoredText> {
        Some(RestoredText {
            piece: PieceId(piece),
            is_new,
            text: text.to_owned(),
        })
    }

    fn no_new_piece() -> PieceId {
        panic!("the reply already has a piece")
    }

    #[test]
    fn extracted_call_is_restored_in_place_with_its_fence() {
        let mut reply = ReplyText::default();
        reply.push(PieceId(1), "For example:\n");
        reply.push_markup("```json\n");
        let span = reply.extract(CALL);
        reply.push_markup("\n```\n");
        reply.push(PieceId(1), "이렇게요.");
        assert_eq!(reply.text(), "For example:\n이렇게요.");
        let expected = format!("For example:\n```json\n{CALL}\n```\n이렇게요.");
        assert_eq!(
            reply.restore(span, no_new_piece),
            restored(1, false, &expected)
        );
        assert_eq!(reply.text(), expected);
        assert_eq!(
            reply.restore(span, no_new_piece),
            None,
            "a span is restored only once"
        );
        assert_eq!(reply.streamed_text(), "For example:\n이렇게요.");
    }

    #[test]
    fn adjacent_calls_are_restored_to_text_independently() {
        let mut reply = ReplyText::default();
        reply.push_markup("[");
        let first = reply.extract("a");
        reply.push_markup(", ");
        let second = reply.extract("b");
        reply.push_markup("]");
        assert_eq!(
            reply.restore(second, || PieceId(7)),
            restored(7, true, "b]")
        );
        assert_eq!(
            reply.restore(first, no_new_piece),
            restored(7, false, "[a, b]")
        );
    }

    #[test]
    fn restoring_keeps_pieces_separate_and_omits_thinking_tags() {
        let mut reply = ReplyText::default();
        reply.push(PieceId(1), "one ");
        let first = reply.extract("A");
        reply.push_markup("</tool_call>\n<think>");
        reply.mark_thinking();
        reply.push_markup("</think>\n<tool_call>");
        let second = reply.extract("B");
        reply.push_markup("</tool_call>");
        reply.push(PieceId(2), "two");
        assert_eq!(
            reply.restore(second, no_new_piece),
            restored(1, false, "one \n<tool_call>B</tool_call>")
        );
        assert_eq!(
            reply.restore(first, no_new_piece),
            restored(1, false, "one A</tool_call>\n\n<tool_call>B</tool_call>")
        );
        assert_eq!(
            reply.text(),
            "one A</tool_call>\n\n<tool_call>B</tool_call>two"
        );
    }

    #[test]
    fn markup_without_a_following_call_is_dropped() {
        let mut reply = ReplyText::default();
        reply.push_markup("<think>");
        reply.mark_thinking();
        reply.push_markup("</think>\n");
        reply.push(PieceId(1), "text");
        let span = reply.extract("A");
        reply.restore(span, no_new_piece);
        assert_eq!(reply.text(), "textA");
        assert_eq!(reply.take_as_thinking(), [PieceId(1)]);
        assert_eq!(reply.text(), "");
    }
}
