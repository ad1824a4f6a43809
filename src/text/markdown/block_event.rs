//! Events from the block scanner to the layout.

use super::line_syntax::ColumnAlign;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub enum LeafKind {
    Paragraph,
    Heading(u8),
    /// Fenced or indented; the range covers the info string of the fence.
    Code {
        info: Range<usize>,
    },
    Table(Vec<ColumnAlign>),
    Rule,
    EmptyItem,
}

impl LeafKind {
    /// Whether a blank row separates the two leaves even if the source has no blank line there.
    pub fn needs_blank_row_after(&self, previous: &Self) -> bool {
        use LeafKind::{Code, Heading, Rule, Table};
        let is_set_off = |kind: &Self| matches!(kind, Code { .. } | Table(_) | Rule);
        is_set_off(previous) || is_set_off(self) || matches!(self, Heading(_))
    }
}

/// Ranges are byte ranges of the source.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockEvent {
    /// A leaf begins, after a blank row if `blank_row_prefix` is set.
    OpenLeaf {
        source_start: usize,
        kind: LeafKind,
        prefix: BlockPrefix,
        blank_row_prefix: Option<Vec<PrefixPart>>,
    },
    /// A line of the open leaf.
    Line(Range<usize>),
    /// A continuation of the last line.
    ContinueLine(Range<usize>),
    /// The open paragraph becomes a heading, or its last line becomes the header of a table.
    ChangeKind(LeafKind),
    CloseLeaf,
}

/// The prefixes of the first row of a leaf and of its other rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockPrefix {
    pub first: Vec<PrefixPart>,
    pub rest: Vec<PrefixPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrefixPart {
    Quote,
    Bullet,
    /// The number and its delimiter.
    Number(u64, u8),
    /// Whether the task is done.
    Task(bool),
    /// Blank columns below a marker in an earlier row.
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
