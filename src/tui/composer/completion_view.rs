//! Draws the completion list over the full width above the message. A description that does
//! not fit beside its label is shown below the list while its row is selected.

use crate::text::grapheme::width;
use crate::tui::composer::completion::{CompletionList, CompletionRow};
use crate::tui::widgets::list::{ListCount, MARK_COLUMNS, rows_in_view};
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::window::draw_titled;
use ratatui::layout::Rect;

const LIST_ROWS_MAX: u16 = 8;
const DESCRIPTION_ROWS_MAX: u16 = 3;
/// Wide enough for the longest command.
const LABEL_COLUMNS_MIN: u16 = 16;
/// Blank columns between label and description.
const GAP_COLUMNS: u16 = 2;
/// Both margins together.
const MARGIN_COLUMNS: u16 = 2;

/// The height of the list in a popup of this width, without its title.
pub fn completion_rows(list: &CompletionList, columns: u16) -> u16 {
    let columns = columns.saturating_sub(MARGIN_COLUMNS);
    list_rows(list) + description_rows(list, columns)
}

fn list_rows(list: &CompletionList) -> u16 {
    let count = u16::try_from(list.rows.len()).unwrap_or(u16::MAX);
    count.min(LIST_ROWS_MAX)
}

/// The height of the longest description that does not fit beside its label. The height does not
/// depend on the selection, so that the rows do not move.
fn description_rows(list: &CompletionList, columns: u16) -> u16 {
    let long = list.rows.iter().filter(|row| !fits_beside(row, columns));
    let heights = long.map(|row| wrapped_description(row, columns).len());
    let height = u16::try_from(heights.max().unwrap_or(0)).unwrap_or(u16::MAX);
    height.min(DESCRIPTION_ROWS_MAX)
}

fn wrapped_description(row: &CompletionRow, columns: u16) -> Vec<String> {
    wrapped_rows(&row.description, columns.saturating_sub(MARK_COLUMNS))
}

/// The width of the label column. The width does not depend on the rows, so descriptions do not
/// move while the user types. A longer label pushes its description to the right.
fn label_columns(columns: u16) -> u16 {
    LABEL_COLUMNS_MIN.max(columns / 5)
}

fn columns_beside(row: &CompletionRow, columns: u16) -> u16 {
    let used = (width(row.label.as_str()) as u16).max(label_columns(columns));
    columns.saturating_sub(MARK_COLUMNS + used + GAP_COLUMNS)
}

fn fits_beside(row: &CompletionRow, columns: u16) -> bool {
    width(row.description.as_str()) <= usize::from(columns_beside(row, columns))
}

pub fn draw(list: &CompletionList, popup: Rect, pen: &mut Painter) {
    // In a small popup, the rows take precedence over the title, and both over the description.
    let title_rows = u16::from(popup.height > 1);
    let rows = list_rows(list).min(popup.height - title_rows);
    let area = match title_rows {
        0 => popup,
        _ => {
            let note = list_count(list, rows).note(&pen.glyphs);
            draw_titled(popup, list.title, &note, pen)
        }
    };
    let list_area = Rect {
        height: rows,
        ..area
    };
    let description_area = Rect {
        x: area.x + MARK_COLUMNS.min(area.width),
        y: area.y + rows,
        width: area.width.saturating_sub(MARK_COLUMNS),
        height: area.height - rows,
    };
    let first = list_count(list, rows).above;
    for row in rows_in_view(list.rows.len(), list.selected, first, list_area, pen) {
        row.put_mark(pen);
        let (line, completion) = (row.line, &list.rows[row.index]);
        let text = row.text_area();
        pen.put_truncated(
            text.x,
            text.y,
            completion.label.as_str(),
            row.style,
            text.width,
        );
        if fits_beside(completion, line.width) {
            draw_beside(
                completion,
                columns_beside(completion, line.width),
                line,
                pen,
            );
        } else if row.is_selected {
            let rows = wrapped_description(completion, area.width);
            for (y, text) in (description_area.top()..description_area.bottom()).zip(rows) {
                pen.put(
                    description_area.x,
                    y,
                    &text,
                    pen.theme.dim,
                    description_area.width,
                );
            }
        }
    }
}

/// Draws the description in the last `columns` columns of the line and, if both fit, the
/// command's syntax at the right.
fn draw_beside(completion: &CompletionRow, columns: u16, line: Rect, pen: &mut Painter) {
    let (x, dim) = (line.right() - columns, pen.theme.dim);
    let used = pen.put(x, line.y, completion.description.as_str(), dim, columns);
    if width(completion.usage.as_str()) + usize::from(used + GAP_COLUMNS) <= usize::from(columns) {
        pen.put_right(line.right(), line.y, completion.usage.as_str(), dim);
    }
}

/// The numbers of rows above and below the visible ones. The list keeps no scroll position: it
/// scrolls only as far as the selected row requires.
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
