//! Text selected in the chat or the thinking pane. A selection is anchored at places in the text,
//! not at rows of the screen, so it stays on its text while more text streams in, while the view
//! scrolls, and when the width changes.

pub mod copied_text;
pub mod geometry;
pub mod mouse;
pub mod row_painter;

use crate::text::markdown::RowOffset;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::rendered_text::TextAnchor;
use crate::tui::chat::row_content::RowContent;
use crate::tui::chat::viewport::{RowPosition, Viewport};

/// A place in an entry that survives a new layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatPlace {
    pub index: usize,
    line: PlaceLine,
    offset: RowOffset,
}

impl ChatPlace {
    /// The byte of the entry's text at which the row of the place begins.
    pub fn source_byte(&self) -> Option<usize> {
        match self.line {
            PlaceLine::Text(anchor) => Some(anchor.byte()),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceLine {
    /// A row above the text, such as the line of a call. Offsets are columns.
    Head(usize),
    /// A row of the text. Offsets are bytes from the anchor on.
    Text(TextAnchor),
    /// The row below the text. Offsets are columns.
    Foot,
}

/// A place in the current layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaidOutPlace {
    pub position: RowPosition,
    pub offset: RowOffset,
}

/// The text from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceRange {
    pub start: ChatPlace,
    pub end: ChatPlace,
}

/// The unit by which a selection grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionUnit {
    Cluster,
    Word,
    Line,
}

/// A selection from the unit at `anchor` to the unit at `head`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextSelection {
    pub unit: SelectionUnit,
    pub anchor: PlaceRange,
    pub head: PlaceRange,
    /// The arrow keys extend it, line by line.
    pub is_from_keyboard: bool,
}

impl TextSelection {
    pub fn new(unit: SelectionUnit, anchor: PlaceRange) -> Self {
        Self {
            unit,
            anchor,
            head: anchor,
            is_from_keyboard: false,
        }
    }
}

impl Viewport {
    /// Converts a place in the text to a place in the current layout.
    pub fn lay_out_place(&mut self, input: &LayoutInput, place: ChatPlace) -> LaidOutPlace {
        let index = place.index.min(input.count().saturating_sub(1));
        self.restore_evicted(input, index);
        let at_row = |row: usize| RowPosition { index, row };
        let Some(layout) = self.entry_layout(input, index) else {
            return LaidOutPlace {
                position: at_row(0),
                offset: RowOffset::BeforeMarker,
            };
        };
        let text_row = layout.key.gap_rows + layout.head_rows;
        match (place.line, &layout.text) {
            (PlaceLine::Head(row), _) => {
                let row = row.min(layout.head_rows.saturating_sub(1));
                LaidOutPlace {
                    position: at_row(layout.key.gap_rows + row),
                    offset: place.offset,
                }
            }
            (PlaceLine::Text(anchor), Some(text)) if text.len() > 0 => {
                let place = text.place_of(anchor, place.offset);
                LaidOutPlace {
                    position: at_row(text_row + place.row),
                    offset: place.offset,
                }
            }
            // The text was folded away.
            (PlaceLine::Text(_), _) => LaidOutPlace {
                position: at_row(text_row.saturating_sub(1)),
                offset: RowOffset::Text(usize::MAX),
            },
            (PlaceLine::Foot, _) => LaidOutPlace {
                position: at_row(layout.height.saturating_sub(1)),
                offset: place.offset,
            },
        }
    }

    /// The start and the end of the selection in the current layout; `None` if it is empty.
    pub fn selected_range(&mut self, input: &LayoutInput) -> Option<(LaidOutPlace, LaidOutPlace)> {
        let selection = self.selection?;
        let TextSelection { anchor, head, .. } = selection;
        let places = [anchor.start, anchor.end, head.start, head.end]
            .map(|place| self.lay_out_place(input, place));
        let start = places.iter().min()?;
        let end = places.iter().max()?;
        (start < end).then_some((*start, *end))
    }

    /// The nearest row above or below `from` that is not blank, across entries.
    pub fn neighbor_row(
        &mut self,
        input: &LayoutInput,
        from: RowPosition,
        step: isize,
    ) -> Option<RowPosition> {
        let mut position = from;
        loop {
            let height = self.height_of(input, position.index) as isize;
            let row = position.row as isize + step.signum();
            if (0..height).contains(&row) {
                position.row = row as usize;
            } else {
                position.index = position.index.checked_add_signed(step.signum())?;
                if position.index >= input.count() {
                    return None;
                }
                let height = self.height_of(input, position.index);
                if height == 0 {
                    position.row = 0;
                    continue;
                }
                position.row = if step > 0 { 0 } else { height - 1 };
            }
            self.restore_evicted(input, position.index);
            if !matches!(self.row_content(position), RowContent::Blank) {
                return Some(position);
            }
        }
    }

    /// Converts a place in the current layout to a place in the text.
    pub fn anchor_place(&self, place: LaidOutPlace) -> ChatPlace {
        let RowPosition { index, row } = place.position;
        let layout = self.layout_at(index);
        let gap = layout.map_or(0, |layout| layout.key.gap_rows);
        let row = row.saturating_sub(gap);
        let head_rows = layout.map_or(0, |layout| layout.head_rows);
        let text = layout.and_then(|layout| layout.text.as_ref());
        let line = match (row.checked_sub(head_rows), text) {
            (None, _) => PlaceLine::Head(row),
            (Some(row), Some(text)) if row < text.len() => PlaceLine::Text(text.anchor_of(row)),
            (Some(_), _) => PlaceLine::Foot,
        };
        ChatPlace {
            index,
            line,
            offset: place.offset,
        }
    }
}
