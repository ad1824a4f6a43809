//! Draws the form that adds a model of another server: four fields, buttons, error.

use crate::text::Clean;
use crate::tui::advice;
use crate::tui::models::add_form::{
    ADDRESS, AddModelForm, KEY, MODEL, PROVIDER, SAVE, SAVE_ANYWAY,
};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::{bottom_rows, draw_window};
use ratatui::layout::{Position, Rect};

/// Columns of the field names, on a wide enough screen.
const NAMES: u16 = 10;
const FAULT_ROWS_MAX: u16 = 4;

/// Returns the cursor position if a text field is selected.
pub fn draw(form: &mut AddModelForm, over: Rect, pen: &mut Painter) -> Option<Position> {
    let fault = form
        .fault
        .as_ref()
        .map(|fault| Clean::single_line(&advice::notice_line(fault)));
    let columns = over.width.saturating_sub(4).min(72);
    let fault_rows = fault
        .as_ref()
        .map_or(0, |fault| wrapped_rows(fault, columns).len() as u16)
        .min(FAULT_ROWS_MAX);
    let last = form.last() as u16;
    let gap = u16::from(over.height >= 12);
    let wanted = last + 1 + 2 * gap + fault_rows;
    let area = draw_window(bottom_rows(over, wanted + 1), "Another server", "", pen);
    // A very small screen shows the selected row and the ones above it.
    let height = area.height;
    let first = if height > last {
        0
    } else {
        (form.at as u16 + 1).saturating_sub(height)
    };
    let mut cursor = None;
    let mut y = area.y;
    for row in first..=last {
        if row == SAVE as u16 && height >= wanted {
            y += gap;
        }
        if y >= area.bottom() {
            break;
        }
        let line = Rect {
            y,
            height: 1,
            ..area
        };
        let at = field(form, usize::from(row), line, pen);
        if form.at == usize::from(row) {
            cursor = at;
        }
        y += 1;
    }
    if let Some(fault) = fault
        && area.bottom() > y
    {
        y += if area.bottom() > y + fault_rows {
            gap
        } else {
            0
        };
        let rest = Rect {
            y,
            height: area.bottom() - y,
            ..area
        };
        let style = pen.theme.failure;
        pen.paragraph(rest, &fault, style);
    }
    cursor
}

fn field(form: &mut AddModelForm, row: usize, line: Rect, pen: &mut Painter) -> Option<Position> {
    let focused = form.at == row;
    let style = if focused {
        pen.theme.accent
    } else {
        pen.theme.dim
    };
    let names = if line.width >= 30 { NAMES } else { 6 };
    let name = match row {
        PROVIDER => "Provider",
        MODEL => "Model",
        ADDRESS => "Address",
        KEY => "Key",
        _ => return button(form, row, focused, line, pen),
    };
    pen.put_truncated(line.x, line.y, name, style, names - 1);
    let area = Rect {
        x: line.x + names,
        width: line.width.saturating_sub(names),
        ..line
    };
    if row == PROVIDER {
        let label = format!("< {} >", form.provider().label());
        pen.put_truncated(area.x, area.y, &label, pen.theme.plain, area.width);
        return None;
    }
    let empty = match row {
        MODEL => "its name on the server",
        ADDRESS => form.provider().default_base_url(),
        _ => "optional; ${NAME} uses a variable",
    };
    let mut masked = Editor::new(&form.masked_key());
    let field = match row {
        MODEL => &mut form.model,
        ADDRESS => &mut form.address,
        _ => &mut masked,
    };
    if field.is_empty() {
        pen.put_truncated(area.x, area.y, empty, pen.theme.dim, area.width);
        return Some(Position::new(area.x, area.y));
    }
    Some(text_field::draw_text(field, area, pen))
}

fn button(
    form: &AddModelForm,
    row: usize,
    focused: bool,
    line: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let label = match row {
        SAVE_ANYWAY => "Save anyway",
        _ if form.query.is_some() => "Checking …",
        _ => "Check and save",
    };
    let (mark, style) = if focused {
        (pen.glyphs.cursor, pen.theme.accent)
    } else {
        (" ", pen.theme.plain)
    };
    pen.put(line.x, line.y, mark, style, 1);
    let columns = line.width.saturating_sub(2);
    pen.put_truncated(line.x + 2, line.y, label, style, columns);
    None
}
