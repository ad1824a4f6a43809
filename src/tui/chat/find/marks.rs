//! Marks the matches in the visible rows, and highlights the current one.

use crate::text::find_query::FindQuery;
use crate::text::grapheme::width;
use crate::text::markdown::RowOffset;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_content::RowContent;
use crate::tui::chat::selection::geometry::selected_columns;
use crate::tui::chat::selection::{LaidOutPlace, PlaceRange};
use crate::tui::chat::viewport::{RowPosition, Viewport};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use std::ops::Range;

/// The matches to mark in one pane.
pub struct FindMarks<'a> {
    pub query: &'a FindQuery,
    pub current: Option<PlaceRange>,
}

/// Marks the matches in the rows at `positions`, which were just drawn.
pub fn draw(
    marks: &FindMarks,
    viewport: &mut Viewport,
    input: &LayoutInput,
    positions: &[RowPosition],
    area: Rect,
    pen: &mut Painter,
) {
    let style = Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD);
    let style = pen.theme.accent.patch(style);
    let cells = |columns: Range<u16>, y: usize| Rect {
        x: area.x + columns.start,
        y: area.y + y as u16,
        width: columns.end.saturating_sub(columns.start),
        height: 1,
    };
    for (y, position) in positions.iter().enumerate() {
        let row = cells(0..area.width, y);
        for columns in matching_columns(marks.query, viewport, input, *position, row, pen) {
            pen.set_style(cells(columns, y), style);
        }
    }
    let Some(current) = marks.current else {
        return;
    };
    let start = viewport.lay_out_place(input, current.start);
    let end = viewport.lay_out_place(input, current.end);
    for (y, position) in positions.iter().enumerate() {
        let columns = selected_columns(viewport, input, *position, (start, end));
        pen.set_style(cells(columns, y), pen.theme.selection);
    }
}

/// The columns of the matches in a row, including parts of matches that are wrapped.
fn matching_columns(
    query: &FindQuery,
    viewport: &Viewport,
    input: &LayoutInput,
    position: RowPosition,
    row: Rect,
    pen: &Painter,
) -> Vec<Range<u16>> {
    match viewport.row_content(position) {
        RowContent::Blank => Vec::new(),
        RowContent::Head(_) | RowContent::Foot => {
            let text = pen.row_text(row);
            let column = |byte: usize| width(&text[..byte]) as u16;
            let ranges = query.ranges_in(&text).into_iter();
            ranges
                .map(|range| column(range.start)..column(range.end))
                .collect()
        }
        RowContent::Text(_) => matches_in_text_row(query, viewport, position)
            .into_iter()
            .map(|range| {
                let place = |byte| LaidOutPlace {
                    position,
                    offset: RowOffset::Text(byte),
                };
                let range = (place(range.start), place(range.end));
                selected_columns(viewport, input, position, range)
            })
            .collect(),
    }
}

/// The bytes of a text row that belong to matches. A match may be wrapped, so the rows before and
/// after this one are searched too.
fn matches_in_text_row(
    query: &FindQuery,
    viewport: &Viewport,
    position: RowPosition,
) -> Vec<Range<usize>> {
    let layout = viewport.layout_at(position.index);
    let Some((layout, text)) = layout.and_then(|layout| Some((layout, layout.text.as_ref()?)))
    else {
        return Vec::new();
    };
    let row = position.row - layout.key.gap_rows - layout.head_rows;
    let has_row_before = text.continues_line(row);
    let has_row_after = text.continues_line(row + 1);
    let first = row - usize::from(has_row_before);
    let last = row + usize::from(has_row_after);
    let line: String = (first..=last).map(|row| text.row(row).text).collect();
    let start = if has_row_before {
        text.row(first).text.len()
    } else {
        0
    };
    let end = start + text.row(row).text.len();
    let ranges = query.ranges_in(&line).into_iter();
    ranges
        .filter(|range| range.start < end && range.end > start)
        .map(|range| range.start.max(start) - start..range.end.min(end) - start)
        .collect()
}
