//! The contents of one row of an entry.

use crate::text::markdown::StyledRow;
use crate::tui::chat::viewport::{RowPosition, Viewport};

#[derive(Debug, Clone, Copy)]
pub enum RowContent<'a> {
    Blank,
    Head(usize),
    Text(StyledRow<'a>),
    Foot,
}

impl Viewport {
    pub fn row_content(&self, position: RowPosition) -> RowContent<'_> {
        let Some(layout) = self.layout_at(position.index) else {
            return RowContent::Blank;
        };
        let Some(row) = position.row.checked_sub(layout.key.gap_rows) else {
            return RowContent::Blank;
        };
        let Some(row) = row.checked_sub(layout.head_rows) else {
            return RowContent::Head(row);
        };
        match &layout.text {
            Some(text) if row < text.len() => RowContent::Text(text.row(row)),
            _ => RowContent::Foot,
        }
    }

    /// Whether this row tells how much of a folded prompt is hidden.
    pub fn is_fold_row(&self, position: RowPosition) -> bool {
        let layout = self.layout_at(position.index);
        let row = layout.and_then(|layout| {
            let text_row = layout.key.gap_rows + layout.head_rows;
            Some(text_row + layout.fold_row()?)
        });
        row == Some(position.row)
    }

    /// Whether this is the first row of its entry's text.
    pub fn is_first_text_row(&self, position: RowPosition) -> bool {
        let layout = self.layout_at(position.index);
        layout.is_some_and(|layout| position.row == layout.key.gap_rows + layout.head_rows)
    }
}
