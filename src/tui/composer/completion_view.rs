//! Draws the completion list over the full width above the message. A description that does
//! not fit beside its label is shown whole below the list, for the selected row only.

use crate::text::grapheme::width;
use crate::tui::composer::completion::{CompletionList, CompletionRow};
use crate::tui::widgets::list::{ListCount, MARK_COLUMNS, rows_in_view};
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::window::draw_titled;
use ratatui::layout::Rect;

/// Maximum number of visible completions.
const LIST_ROWS_MAX: u16 = 8;
/// Maximum height of a description below the list.
const DESCRIPTION_ROWS_MAX: u16 = 3;
/// Minimum width of the column of labels. The longest commands fit in it.
const LABEL_COLUMNS: u16 = 16;
/// Blank columns before a description.
const GAP: u16 = 2;
/// Columns of the title's margins.
const MARGINS: u16 = 2;

/// The height of the list in a popup of this width, without its title.
pub fn completion_rows(list: &CompletionList, columns: u16) -> u16 {
    let columns = columns.saturating_sub(MARGINS);
    list_rows(list) + description_rows(list, columns)
}

fn list_rows(list: &CompletionList) -> u16 {
    let count = u16::try_from(list.rows.len()).unwrap_or(u16::MAX);
    count.min(LIST_ROWS_MAX)
}

/// The height of the longest description that does not fit beside its label. It is the same
/// for each selection, so that the rows keep their places.
fn description_rows(list: &CompletionList, columns: u16) -> u16 {
    let below = list.rows.iter().filter(|row| !fits_beside(row, columns));
    let heights = below.map(|row| wrapped_description(row, columns).len());
    let most = u16::try_from(heights.max().unwrap_or(0)).unwrap_or(u16::MAX);
    most.min(DESCRIPTION_ROWS_MAX)
}

fn wrapped_description(row: &CompletionRow, columns: u16) -> Vec<String> {
    wrapped_rows(&row.description, columns.saturating_sub(MARK_COLUMNS))
}

/// The width of the column of labels, whatever is listed: descriptions keep their place while
/// the user types. Longer labels push their description to the right.
fn label_columns(columns: u16) -> u16 {
    LABEL_COLUMNS.max(columns / 5)
}

/// The columns left beside a row's label.
fn room_beside(row: &CompletionRow, columns: u16) -> u16 {
    let used = (width(row.label.as_str()) as u16).max(label_columns(columns));
    columns.saturating_sub(MARK_COLUMNS + used + GAP)
}

fn fits_beside(row: &CompletionRow, columns: u16) -> bool {
    let room = room_beside(row, columns);
    width(row.description.as_str()) <= usize::from(room)
}

pub fn draw(list: &CompletionList, over: Rect, pen: &mut Painter) {
    // On a small screen the rows come first, then the title, then the description below.
    let title_rows = u16::from(over.height > 1);
    let rows = list_rows(list).min(over.height - title_rows);
    let area = match title_rows {
        0 => over,
        _ => {
            let note = list_count(list, rows).note(&pen.glyphs);
            draw_titled(over, list.title, &note, pen)
        }
    };
    let listed = Rect {
        height: rows,
        ..area
    };
    let below = Rect {
        x: area.x + MARK_COLUMNS.min(area.width),
        y: area.y + rows,
        width: area.width.saturating_sub(MARK_COLUMNS),
        height: area.height - rows,
    };
    let first = list_count(list, rows).above;
    for row in rows_in_view(list.rows.len(), list.selected, first, listed, pen) {
        row.put_mark(pen);
        let (line, shown) = (row.line, &list.rows[row.index]);
        let text = row.text_area();
        pen.put_truncated(text.x, text.y, shown.label.as_str(), row.style, text.width);
        if fits_beside(shown, line.width) {
            draw_beside(shown, room_beside(shown, line.width), line, pen);
        } else if row.is_selected {
            let rows = wrapped_description(shown, area.width);
            for (y, text) in (below.top()..below.bottom()).zip(rows) {
                pen.put(below.x, y, &text, pen.theme.dim, below.width);
            }
        }
    }
}

/// Draws the description in the last `room` columns of the line and, where both fit, the
/// command's syntax at the right.
fn draw_beside(shown: &CompletionRow, room: u16, line: Rect, pen: &mut Painter) {
    let (x, dim) = (line.right() - room, pen.theme.dim);
    let used = pen.put(x, line.y, shown.description.as_str(), dim, room);
    if width(shown.usage) + usize::from(used + GAP) <= usize::from(room) {
        pen.put_right(line.right(), line.y, shown.usage, dim);
    }
}

/// The list keeps no state: the selected row is at the bottom at the latest.
fn list_count(list: &CompletionList, visible: u16) -> ListCount {
    let (count, visible) = (list.rows.len(), usize::from(visible));
    let above = list
        .selected
        .map_or(0, |row| (row + 1).saturating_sub(visible));
    ListCount {
        listed: count,
        total: count,
        above,
        below: count.saturating_sub(above + visible),
    }
}
