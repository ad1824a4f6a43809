//! Text fields stacked vertically, each with its name, as in a form.

use crate::text::Clean;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::list::{column_width, rows_in_view};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use ratatui::layout::{Position, Rect};

const NAME_COLUMNS_MAX: u16 = 24;
/// Stands at the right end of a field that must have a value.
const REQUIRED: &str = "required";
/// Blank columns between a value and [`REQUIRED`].
const GAP_COLUMNS: u16 = 2;

#[derive(Debug, Clone, Copy)]
pub struct FieldLabel<'a> {
    /// Unsanitized.
    pub name: &'a str,
    pub is_required: bool,
}

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
    labels: impl Iterator<Item = FieldLabel<'a>>,
    fields: &mut [Editor],
    selected: usize,
    area: Rect,
    pen: &mut Painter,
) -> (DrawnFields, Option<Position>) {
    let labels: Vec<(Clean, bool)> = labels
        .map(|label| (Clean::name(label.name), label.is_required))
        .collect();
    let names = labels.iter().map(|(name, _)| name.as_str());
    let names_max = NAME_COLUMNS_MAX.min(area.width / 3);
    let name_columns = column_width(names, names_max) + 2;
    let first = (selected + 1).saturating_sub(area.height.into());
    let mut drawn = DrawnFields::default();
    let mut cursor = None;
    for row in rows_in_view(fields.len(), Some(selected), first, area, pen) {
        row.put_mark(pen);
        let text = row.text_area();
        let (name, is_required) = &labels[row.index];
        pen.put_truncated(text.x, text.y, name.as_str(), row.style, name_columns - 1);
        let taken = name_columns.min(text.width);
        let mut value = Rect {
            x: text.x + taken,
            width: text.width - taken,
            ..text
        };
        let required_columns = GAP_COLUMNS + REQUIRED.len() as u16;
        if *is_required && value.width >= 2 * required_columns {
            value.width -= required_columns;
            let x = value.right() + GAP_COLUMNS;
            pen.put(x, text.y, REQUIRED, pen.theme.dim, REQUIRED.len() as u16);
        }
        let at = text_field::draw_text(&mut fields[row.index], value, pen);
        if row.is_selected {
            cursor = Some(at);
        }
        drawn.0.push((row.line, row.index));
    }
    (drawn, cursor)
}
