//! The laid-out text of an entry, rendered as Markdown or plain. Both variants measure
//! positions in bytes of the same sanitized text, so the reading position survives
//! switching between them.

use crate::text::markdown::{MarkdownGlyphs, MarkdownView, StyledRow};
use crate::tui::chat::plain_text::PlainText;

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
    row_of_byte: usize,
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

    fn row_at_byte(&self, byte: usize) -> usize {
        match self {
            Self::Plain(text) => text.row_at_byte(byte),
            Self::Markdown(text) => text.row_at_byte(byte),
        }
    }

    pub fn anchor_of(&self, row: usize) -> TextAnchor {
        let byte = self.row_start(row);
        let first = self.row_at_byte(byte).min(row);
        TextAnchor {
            byte,
            row_of_byte: row - first,
        }
    }

    /// The row that contains an anchor.
    pub fn row_of_anchor(&self, anchor: TextAnchor) -> usize {
        let first = self.row_at_byte(anchor.byte);
        let begins_at_byte =
            |row: usize| row < self.len() && self.row_start(row) == self.row_start(first);
        let rows = (1..=anchor.row_of_byte).take_while(|row| begins_at_byte(first + row));
        first + rows.count()
    }
}
