//! The text of an entry as it was laid out: Markdown, or as it was written. Both
//! count places in bytes of the same sanitised text, so that the reading position
//! survives a change from one to the other.

use crate::text::markdown::{MarkdownGlyphs, MarkdownView, StyledRow};
use crate::tui::chat::plain_text::Wrapped;

#[derive(Debug, Clone)]
pub enum Laid {
    Written(Wrapped),
    Marked(Box<MarkdownView>),
}

/// A place in a text that a new layout has too: a byte of the sanitised text, and
/// how many rows that begin with it come before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    byte: usize,
    nth: usize,
}

impl Laid {
    pub fn written(raw: &str, width: u16) -> Self {
        Self::Written(Wrapped::new(raw, width))
    }

    /// `open`: more may follow.
    pub fn marked(raw: &str, width: u16, marks: MarkdownGlyphs, open: bool) -> Self {
        Self::Marked(Box::new(MarkdownView::new(raw, width, marks, open)))
    }

    /// Takes in what came since. The text must have grown at its end only.
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

    /// Memory held, in bytes, nearly.
    pub fn cost(&self) -> usize {
        match self {
            Self::Written(text) => text.cost(),
            Self::Marked(text) => text.memory_bytes(),
        }
    }

    /// Rows.
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

    /// Bytes of sanitised text.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Written(text) => text.bytes(),
            Self::Marked(text) => text.text_bytes(),
        }
    }

    /// Rows that begin at a byte or behind it.
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

    /// The row that holds an anchor.
    pub fn row_at(&self, anchor: Anchor) -> usize {
        let first = self.row_of(anchor.byte);
        let same = |row: usize| row < self.len() && self.byte_of(row) == self.byte_of(first);
        let nth = (1..=anchor.nth).take_while(|nth| same(first + nth)).count();
        first + nth
    }
}
