//! Text fields stacked vertically, each with its name, as in a form.

use crate::text::Clean;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list::{column_width, rows_in_view};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use ratatui::layout::{Position, Rect};

/// Maximum width of the column of names.
const NAME_COLUMNS_MAX: u16 = 24;

/// The fields in the last frame, for the mouse.
#[derive(Debug, Default)]
pub struct DrawnFields(Vec<(Rect, usize)>);

impl DrawnFields {
    /// The index of the field at a position of the screen.
    pub fn field_at(&self, at: Position) -> Option<usize> {
        let clicked = self.0.iter().find(|(line, _)| line.contains(at));
        clicked.map(|(_, field)| *field)
    }
}

/// Draws the fields that fit, with the selected one among them. Also returns the position of the
/// cursor.
pub fn draw_labeled_fields<'a>(
    names: impl Iterator<Item = &'a str>,
    fields: &mut [Editor],
    selected: usize,
    area: Rect,
    pen: &mut Painter,
) -> (DrawnFields, Option<Position>) {
    let names: Vec<Clean> = names.map(Clean::single_line).collect();
    let names_max = NAME_COLUMNS_MAX.min(area.width / 3);
    let name_columns = column_width(names.iter().map(Clean::as_str), names_max) + 2;
    let first = (selected + 1).saturating_sub(area.height.into());
    let mut drawn = DrawnFields::default();
    let mut cursor = None;
    for row in rows_in_view(fields.len(), Some(selected), first, area, pen) {
        row.put_mark(pen);
        let text = row.text_area();
        let name = names[row.index].as_str();
        pen.put_truncated(text.x, text.y, name, row.style, name_columns - 1);
        let taken = name_columns.min(text.width);
        let value = Rect {
            x: text.x + taken,
            width: text.width - taken,
            ..text
        };
        let at = text_field::draw_text(&mut fields[row.index], value, pen);
        if row.is_selected {
            cursor = Some(at);
        }
        drawn.0.push((row.line, row.index));
    }
    (drawn, cursor)
}
