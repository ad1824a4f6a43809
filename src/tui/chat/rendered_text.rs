//! The laid-out text of an entry, rendered as Markdown or plain. Both variants measure
//! positions in bytes of the same sanitized text, so the reading position survives
//! switching between them.

use crate::text::markdown::{MarkdownGlyphs, MarkdownView, StyledRow};
use crate::tui::chat::plain_text::Wrapped;

#[derive(Debug, Clone)]
pub enum Laid {
    Written(Wrapped),
    Marked(Box<MarkdownView>),
}

/// A position that survives a new layout: a byte offset in the sanitized text, and the
/// number of earlier rows that begin at the same offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    byte: usize,
    nth: usize,
}

impl Laid {
    pub fn written(raw: &str, width: u16) -> Self {
        Self::Written(Wrapped::new(raw, width))
    }

    /// `open`: the text may still grow.
    pub fn marked(raw: &str, width: u16, marks: MarkdownGlyphs, open: bool) -> Self {
        Self::Marked(Box::new(MarkdownView::new(raw, width, marks, open)))
    }

    /// Appends new text. `raw` must have grown only at its end.
    pub fn extend_to(&mut self, raw: &str, open: bool) {
        match self {
            Self::Written(text) => text.extend_to(raw),
            Self::Marked(text) => text.extend_to(raw, open),
        }
    }

    pub fn raw_bytes(&self) -> usize {
        match self {
            Self::Written(text) => text.raw_bytes(),
            Self::Marked(text) => text.raw_bytes(),
        }
    }

    pub fn width(&self) -> u16 {
        match self {
            Self::Written(text) => text.width(),
            Self::Marked(text) => text.width(),
        }
    }

    /// Approximate memory use in bytes.
    pub fn cost(&self) -> usize {
        match self {
            Self::Written(text) => text.cost(),
            Self::Marked(text) => text.memory_bytes(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Written(text) => text.len(),
            Self::Marked(text) => text.len(),
        }
    }

    pub fn row(&self, row: usize) -> StyledRow<'_> {
        match self {
            Self::Written(text) => StyledRow::plain(text.row(row)),
            Self::Marked(text) => text.row(row),
        }
    }

    /// Size of the sanitized text in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Written(text) => text.bytes(),
            Self::Marked(text) => text.text_bytes(),
        }
    }

    /// Number of rows that begin at or after a byte offset.
    pub fn rows_since(&self, byte: usize) -> usize {
        match self {
            Self::Written(text) => text.rows_since(byte),
            Self::Marked(text) => text.rows_since(byte),
        }
    }

    fn byte_of(&self, row: usize) -> usize {
        match self {
            Self::Written(text) => text.byte_of(row),
            Self::Marked(text) => text.row_start_byte(row),
        }
    }

    fn row_of(&self, byte: usize) -> usize {
        match self {
            Self::Written(text) => text.row_of(byte),
            Self::Marked(text) => text.row_at_byte(byte),
        }
    }

    pub fn anchor_of(&self, row: usize) -> Anchor {
        let byte = self.byte_of(row);
        let first = self.row_of(byte).min(row);
        Anchor {
            byte,
            nth: row - first,
        }
    }

    /// The row that contains an anchor.
    pub fn row_at(&self, anchor: Anchor) -> usize {
        let first = self.row_of(anchor.byte);
        let same = |row: usize| row < self.len() && self.byte_of(row) == self.byte_of(first);
        let nth = (1..=anchor.nth).take_while(|nth| same(first + nth)).count();
        first + nth
    }
}
