//! What the scanner says of a text, for the layout to do.

use super::line_syntax::Align;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Paragraph,
    Heading(u8),
    /// Fenced or indented; the range is the fence's info string.
    Code {
        info: Range<usize>,
    },
    Table(Vec<Align>),
    Rule,
    /// An item with nothing in it.
    Empty,
}

/// Ranges are bytes of the source.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockEvent {
    /// A leaf begins. `gap`: a blank row before it, with what stands in front of it.
    Open {
        /// Where it begins.
        at: usize,
        kind: Kind,
        prefix: Prefix,
        gap: Option<Vec<Part>>,
    },
    /// A line of the open leaf.
    Line(Range<usize>),
    /// The last line goes on.
    More(Range<usize>),
    /// The open paragraph is a heading, or its last line a table's first row.
    Become(Kind),
    Close,
}

/// What stands in front of a leaf's rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prefix {
    pub first: Vec<Part>,
    pub rest: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    Quote,
    Bullet,
    /// The number, and the sign behind it.
    Number(u64, u8),
    Task(bool),
    /// Columns that a marker takes in the row above.
    Space(usize),
}

impl Part {
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
