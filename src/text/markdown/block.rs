//! The rows of a code block or a table.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Code,
    Table,
}

/// A code block or a table as a range of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownBlock {
    pub kind: BlockKind,
    pub first_row: usize,
    /// The first row after the info string, if one is shown; otherwise `first_row`.
    pub first_text_row: usize,
    /// The row after the last one; `usize::MAX` while the block is open.
    pub end_row: usize,
}

impl MarkdownBlock {
    pub(super) fn is_open(&self) -> bool {
        self.end_row == usize::MAX
    }

    pub(super) fn reopen(&mut self) {
        self.end_row = usize::MAX;
    }

    pub fn contains(&self, row: usize) -> bool {
        (self.first_row..self.end_row).contains(&row)
    }
}
