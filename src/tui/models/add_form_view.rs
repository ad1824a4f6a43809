//! Draws the form that adds a model from another server: fields with their problems below them,
//! the offered model names, buttons.

use crate::front_end::advice;
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::models::add_form::{
    ADDRESS, AddModelForm, KEY, MODEL, PROVIDER, SAVE, SAVE_ANYWAY, SaveState,
};
use crate::tui::models::offered_models::ListingState;
use crate::tui::models::rows::model_count;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::draw_window;
use ratatui::layout::{Position, Rect};

/// Rows of the form. The number never changes, so that nothing moves while the user types.
pub const ROWS: u16 = 14;
/// Columns of the mark and the field names, on a wide enough screen.
const NAMES_COLUMNS: u16 = 12;
const PROBLEM_ROWS_MAX: usize = 3;
/// Offered names that are visible at once.
const NAME_ROWS_MAX: usize = 5;

enum Line {
    Field(usize),
    Button(usize),
    /// A row of a problem, and whether it is the first one.
    Problem(String, bool),
    Note(String),
    /// An offered name, and whether it is selected.
    Name(String, bool),
    Gap,
}

/// Returns the cursor position if a text field is selected.
pub fn draw(
    form: &mut AddModelForm,
    area: Rect,
    keymap: &Keymap,
    pen: &mut Painter,
) -> Option<Position> {
    let area = draw_window(area, "Another server", "", pen);
    let names = if area.width >= 30 { NAMES_COLUMNS } else { 8 };
    let value_area = Rect {
        x: area.x + names.min(area.width),
        width: area.width.saturating_sub(names),
        ..area
    };
    let lines = lines(form, value_area.width);
    // A very small screen shows the selected row and the ones above it.
    let focused = lines.iter().position(|line| is_focused(form, line));
    let first = (focused.unwrap_or(0) + 1).saturating_sub(area.height.into());
    let mut cursor = None;
    for (y, line) in (area.top()..area.bottom()).zip(&lines[first..]) {
        let row = Rect {
            y,
            height: 1,
            ..area
        };
        let value_area = Rect {
            y,
            height: 1,
            ..value_area
        };
        match line {
            Line::Field(field) => {
                let at = draw_field(form, *field, row, value_area, pen);
                if *field == PROVIDER {
                    draw_provider_hint(form, value_area, keymap, pen);
                }
                cursor = cursor.or(at.filter(|_| form.at == *field));
            }
            Line::Button(button) => draw_button(form, *button, row, pen),
            Line::Problem(text, is_first) => {
                let (mark, style) = (pen.glyphs.failed, pen.theme.failure);
                let mark = if *is_first { mark } else { " " };
                pen.put(value_area.x, y, mark, style, value_area.width);
                let columns = value_area.width.saturating_sub(2);
                pen.put_truncated(value_area.x + 2, y, text, style, columns);
            }
            Line::Note(text) => {
                let dim = pen.theme.dim;
                pen.put_truncated(value_area.x, y, text, dim, value_area.width);
            }
            Line::Name(name, is_selected) => {
                let (mark, style) = match is_selected {
                    true => (pen.glyphs.cursor, pen.theme.accent),
                    false => (" ", pen.theme.plain),
                };
                pen.put(value_area.x, y, mark, style, value_area.width);
                let columns = value_area.width.saturating_sub(2);
                pen.put_truncated(value_area.x + 2, y, name, style, columns);
            }
            Line::Gap => {}
        }
    }
    cursor
}

fn is_focused(form: &AddModelForm, line: &Line) -> bool {
    match line {
        Line::Field(row) | Line::Button(row) => form.at == *row,
        _ => false,
    }
}

fn lines(form: &AddModelForm, columns: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    for field in [PROVIDER, ADDRESS, KEY, MODEL] {
        lines.push(Line::Field(field));
        let error = form.error(field).map(advice::notice_line);
        let error = error.map(|error| Clean::single_line(&error));
        let rows = error.map(|error| wrapped_rows(&error, columns.saturating_sub(2)));
        let rows = rows
            .into_iter()
            .flatten()
            .take(PROBLEM_ROWS_MAX)
            .enumerate();
        lines.extend(rows.map(|(index, row)| Line::Problem(row, index == 0)));
    }
    let offered = offered_lines(form);
    let used = lines.len() + offered.len();
    lines.extend(offered);
    // The buttons stay at the bottom.
    let buttons = form.last_row() + 1 - SAVE;
    let gaps = usize::from(ROWS).saturating_sub(used + buttons);
    lines.extend((0..gaps).map(|_| Line::Gap));
    lines.extend((SAVE..=form.last_row()).map(Line::Button));
    lines
}

fn offered_lines(form: &AddModelForm) -> Vec<Line> {
    let list = match form.offered.state() {
        ListingState::Loading(_) => {
            return vec![Line::Note("Asking the server for its models …".to_owned())];
        }
        ListingState::Listed(list) if !list.models.is_empty() => list,
        _ => return Vec::new(),
    };
    let count = model_count(list.models.len());
    if form.at != MODEL {
        let is_open = form.at < MODEL;
        let note = format!("The server lists {count}.");
        return Vec::from_iter(is_open.then_some(Line::Note(note)));
    }
    let typed = form.model.text();
    let names = form.offered.matches(&typed);
    if names.is_empty() {
        let is_known = list.models.iter().any(|model| model.name == typed.trim());
        let note = format!("The server lists {count}, but none with this name.");
        return Vec::from_iter((!is_known).then_some(Line::Note(note)));
    }
    let selected = form.offered.selected(&typed);
    let first = selected.map_or(0, |at| (at + 1).saturating_sub(NAME_ROWS_MAX));
    let shown = names.iter().enumerate().skip(first).take(NAME_ROWS_MAX);
    let mut lines: Vec<Line> = shown
        .map(|(index, name)| {
            let name = Clean::single_line(name).as_str().to_owned();
            Line::Name(name, selected == Some(index))
        })
        .collect();
    if let Some(hidden) = names.len().checked_sub(first + NAME_ROWS_MAX)
        && hidden > 0
    {
        lines.push(Line::Note(format!("  {hidden} more; type to filter")));
    }
    lines
}

/// Returns the cursor position in a text field.
fn draw_field(
    form: &mut AddModelForm,
    row: usize,
    line: Rect,
    value_area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let is_focused = form.at == row;
    let (mark, style) = match is_focused {
        true => (pen.glyphs.cursor, pen.theme.accent),
        false => (" ", pen.theme.dim),
    };
    let name = match row {
        PROVIDER => "Provider",
        MODEL => "Model",
        ADDRESS => "Address",
        _ => "Key",
    };
    pen.put(line.x, line.y, mark, style, 1);
    let columns = value_area.x.saturating_sub(line.x + 3);
    pen.put_truncated(line.x + 2, line.y, name, style, columns);
    if row == PROVIDER {
        let label = provider_label(form);
        let plain = pen.theme.plain;
        pen.put_truncated(value_area.x, line.y, &label, plain, value_area.width);
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
        pen.put_truncated(value_area.x, line.y, empty, pen.theme.dim, value_area.width);
        return Some(Position::new(value_area.x, line.y));
    }
    Some(text_field::draw_text(field, value_area, pen))
}

fn provider_label(form: &AddModelForm) -> String {
    format!("< {} >", form.provider().label())
}

fn draw_provider_hint(form: &AddModelForm, value_area: Rect, keymap: &Keymap, pen: &mut Painter) {
    let keys = [LayerKey::Left, LayerKey::Right];
    let Some(hint) = keymap.layer_pair_hint(KeyContext::Form, keys, "changes it") else {
        return;
    };
    let used = (width(&provider_label(form)) as u16 + 2).min(value_area.width);
    let (dim, columns) = (pen.theme.dim, value_area.width - used);
    pen.put_truncated(value_area.x + used, value_area.y, &hint, dim, columns);
}

fn draw_button(form: &AddModelForm, row: usize, line: Rect, pen: &mut Painter) {
    let label = match (row, form.saving) {
        (SAVE_ANYWAY, _) => "Save anyway",
        (_, SaveState::Checking) => "Checking …",
        (_, SaveState::Sent) => "Saving …",
        _ => "Check and save",
    };
    let (mark, style) = match form.at == row {
        true => (pen.glyphs.cursor, pen.theme.accent),
        false => (" ", pen.theme.plain),
    };
    pen.put(line.x, line.y, mark, style, 1);
    let columns = line.width.saturating_sub(2);
    pen.put_truncated(line.x + 2, line.y, label, style, columns);
}
