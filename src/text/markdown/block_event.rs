//! What the scanner says of a text, for the layout to do.

use super::line_syntax::ColumnAlign;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub enum LeafKind {
    Paragraph,
    Heading(u8),
    /// Fenced or indented; the range is the fence's info string.
    Code {
        info: Range<usize>,
    },
    Table(Vec<ColumnAlign>),
    Rule,
    /// An item with nothing in it.
    EmptyItem,
}

/// Ranges are bytes of the source.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockEvent {
    /// A leaf begins. `gap`: a blank row before it, with what stands in front of it.
    OpenLeaf {
        /// Where it begins.
        at: usize,
        kind: LeafKind,
        prefix: BlockPrefix,
        blank_row_prefix: Option<Vec<PrefixPart>>,
    },
    /// A line of the open leaf.
    Line(Range<usize>),
    /// The last line goes on.
    ContinueLine(Range<usize>),
    /// The open paragraph is a heading, or its last line a table's first row.
    ChangeKind(LeafKind),
    CloseLeaf,
}

/// What stands in front of a leaf's rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockPrefix {
    pub first: Vec<PrefixPart>,
    pub rest: Vec<PrefixPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrefixPart {
    Quote,
    Bullet,
    /// The number, and the sign behind it.
    Number(u64, u8),
    Task(bool),
    /// Columns that a marker takes in the row above.
    Space(usize),
}

impl PrefixPart {
    /// Terminal columns.
    pub fn columns(self) -> usize {
        match self {
            Self::Quote | Self::Bullet => 2,
            Self::Number(number, _) => number.checked_ilog10().unwrap_or(0) as usize + 3,
            Self::Task(_) => 4,
            Self::Space(columns) => columns,
        }
    }
}
