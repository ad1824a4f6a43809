//! The laid-out text of an entry, rendered as Markdown or plain. Both variants measure
//! positions in bytes of the same sanitized text, so the reading position survives
//! switching between them.

use crate::text::grapheme::cluster_end;
use crate::text::markdown::{
    MarkdownBlock, MarkdownGlyphs, MarkdownView, RowOffset, RowPlace, StyledRow,
};
use crate::tui::chat::plain_text::PlainText;
use std::ops::RangeInclusive;

#[derive(Debug, Clone)]
pub enum RenderedText {
    Plain(PlainText),
    Markdown(Box<MarkdownView>),
}

/// A position that stays valid after a new layout: a byte offset in the sanitized text, and the
/// number of earlier rows that begin at the same offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextAnchor {
    byte: usize,
    nth_row_at_byte: usize,
}

impl TextAnchor {
    pub fn byte(self) -> usize {
        self.byte
    }
}

impl RenderedText {
    pub fn plain(raw: &str, width: u16) -> Self {
        Self::Plain(PlainText::new(raw, width))
    }

    /// Renders Markdown; `is_open` means that the text may still grow.
    pub fn markdown(raw: &str, width: u16, glyphs: MarkdownGlyphs, is_open: bool) -> Self {
        Self::Markdown(Box::new(MarkdownView::new(raw, width, glyphs, is_open)))
    }

    /// Appends new text. `raw` must have grown only at its end.
    pub fn extend_to(&mut self, raw: &str, is_open: bool) {
        match self {
            Self::Plain(text) => text.extend_to(raw),
            Self::Markdown(text) => text.extend_to(raw, is_open),
        }
    }

    pub fn raw_bytes(&self) -> usize {
        match self {
            Self::Plain(text) => text.raw_bytes(),
            Self::Markdown(text) => text.raw_bytes(),
        }
    }

    pub fn width(&self) -> u16 {
        match self {
            Self::Plain(text) => text.width(),
            Self::Markdown(text) => text.width(),
        }
    }

    /// Approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Plain(text) => text.memory_bytes(),
            Self::Markdown(text) => text.memory_bytes(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Plain(text) => text.len(),
            Self::Markdown(text) => text.len(),
        }
    }

    pub fn row(&self, row: usize) -> StyledRow<'_> {
        match self {
            Self::Plain(text) => StyledRow::plain(text.row(row)),
            Self::Markdown(text) => text.row(row),
        }
    }

    /// Size of the sanitized text in bytes.
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Plain(text) => text.text_bytes(),
            Self::Markdown(text) => text.text_bytes(),
        }
    }

    /// Number of rows that begin at or after a byte offset.
    pub fn rows_since(&self, byte: usize) -> usize {
        match self {
            Self::Plain(text) => text.rows_since(byte),
            Self::Markdown(text) => text.rows_since(byte),
        }
    }

    fn row_start(&self, row: usize) -> usize {
        match self {
            Self::Plain(text) => text.row_start(row),
            Self::Markdown(text) => text.row_start_byte(row),
        }
    }

    pub fn row_at_byte(&self, byte: usize) -> usize {
        match self {
            Self::Plain(text) => text.row_at_byte(byte),
            Self::Markdown(text) => text.row_at_byte(byte),
        }
    }

    /// The rows of the line that a row belongs to: more than one if it is wrapped.
    pub fn line_rows(&self, row: usize) -> RangeInclusive<usize> {
        match self {
            Self::Plain(text) => text.line_rows(row),
            Self::Markdown(text) => text.line_rows(row),
        }
    }

    /// Whether a row continues the line of the row before it.
    pub fn continues_line(&self, row: usize) -> bool {
        match self {
            Self::Plain(text) => text.continues_line(row),
            Self::Markdown(text) => text.continues_line(row),
        }
    }

    /// The first row of the line of plain text with this index, counted from 0; 0 for Markdown.
    pub fn row_of_plain_line(&self, line: usize) -> usize {
        match self {
            Self::Plain(text) => text.row_of_line(line),
            Self::Markdown(_) => 0,
        }
    }

    /// Code blocks and tables, in order.
    pub fn blocks(&self) -> &[MarkdownBlock] {
        match self {
            Self::Plain(_) => &[],
            Self::Markdown(text) => text.blocks(),
        }
    }

    /// The source of the text from `start` to `end`; `raw` is the text that was laid out.
    pub fn excerpt(&self, raw: &str, start: RowPlace, end: RowPlace) -> String {
        match self {
            Self::Plain(text) => text.excerpt(start, end).to_owned(),
            Self::Markdown(text) => text.excerpt(raw, start, end),
        }
    }

    /// The shown text between two places of the same line, with its rows joined.
    pub fn shown_part(&self, start: RowPlace, end: RowPlace) -> String {
        match self {
            Self::Plain(text) => text.excerpt(start, end).to_owned(),
            Self::Markdown(text) => text.shown_part(start, end),
        }
    }

    /// The Markdown of a table, or the code of a code block.
    pub fn block_source(&self, raw: &str, block: usize) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Markdown(text) => text.block_source(raw, block),
        }
    }

    pub fn anchor_of(&self, row: usize) -> TextAnchor {
        let byte = self.row_start(row);
        let first = self.row_at_byte(byte).min(row);
        TextAnchor {
            byte,
            nth_row_at_byte: row - first,
        }
    }

    /// The row and the byte in it that are `offset` bytes after an anchor. Exact unless the text
    /// was laid out again with another width.
    pub fn place_of(&self, anchor: TextAnchor, offset: RowOffset) -> RowPlace {
        let mut row = self.row_of_anchor(anchor).min(self.len().saturating_sub(1));
        let RowOffset::Text(offset) = offset else {
            return RowPlace { row, offset };
        };
        let mut byte = offset + anchor.byte.saturating_sub(self.row_start(row));
        while byte > self.row(row).text.len() && row + 1 < self.len() {
            byte -= self.row(row).text.len();
            row += 1;
        }
        let text = self.row(row).text;
        let byte = cluster_end(text, byte.min(text.len()));
        RowPlace {
            row,
            offset: RowOffset::Text(byte),
        }
    }

    /// The row that contains an anchor.
    pub fn row_of_anchor(&self, anchor: TextAnchor) -> usize {
        let first = self.row_at_byte(anchor.byte);
        let begins_at_byte =
            |row: usize| row < self.len() && self.row_start(row) == self.row_start(first);
        let rows = (1..=anchor.nth_row_at_byte).take_while(|row| begins_at_byte(first + row));
        first + rows.count()
    }
}
