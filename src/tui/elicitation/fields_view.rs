//! Draws the fields of a form while the user fills them in. The field with the focus also shows its
//! description, its rules, its options and its error.

use crate::domain::elicitation::{FieldKind, FieldOption, FormField};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::styled_line::StyledLine;
use crate::tui::elicitation::form_state::{FieldState, FormState};
use crate::tui::elicitation::option_list::OptionList;
use crate::tui::elicitation::review::{label, push_quote, shortened};
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::text_field;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use std::ops::Range;

const LABEL_COLUMNS_MAX: usize = 24;
const DESCRIPTION_ROWS_MAX: usize = 3;
/// Maximum number of options of the focused field that are shown at once.
const OPTION_ROWS_MAX: usize = 7;

enum FieldRow {
    /// The label and the value of a field.
    Field(usize),
    /// A note below the field with the focus.
    Note(StyledLine),
    Error(String),
    /// An option of the field with the focus.
    Option(usize),
}

/// The number of rows that the fields take at this width.
pub fn fields_height(state: &FormState, columns: u16) -> u16 {
    let (rows, _) = field_rows(state, columns);
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

/// Draws the fields, and returns the position of the cursor.
pub fn draw_fields(state: &mut FormState, area: Rect, pen: &mut Painter) -> Option<Position> {
    let (rows, focused) = field_rows(state, area.width);
    let height = usize::from(area.height);
    // The whole block of the field with the focus, if it fits; otherwise its beginning.
    let top = focused.end.saturating_sub(height).min(focused.start);
    let labels = state
        .form()
        .fields
        .iter()
        .map(|field| width(label(field).as_str()));
    let label_columns = labels.max().unwrap_or(0).min(LABEL_COLUMNS_MAX);
    let mut cursor = None;
    for (y, row) in (area.top()..area.bottom()).zip(rows.iter().skip(top)) {
        let line = Rect {
            y,
            height: 1,
            ..area
        };
        let at = draw_row(state, row, label_columns, line, pen);
        cursor = cursor.or(at);
    }
    cursor
}

/// The rows of all fields, and the range of the rows that belong to the focused field.
fn field_rows(state: &FormState, columns: u16) -> (Vec<FieldRow>, Range<usize>) {
    let mut rows = Vec::new();
    let mut focused = 0..0;
    for (index, field) in state.form().fields.iter().enumerate() {
        let start = rows.len();
        rows.push(FieldRow::Field(index));
        if index == state.focus {
            push_details(&mut rows, state, index, field, columns);
            focused = start..rows.len();
        }
    }
    (rows, focused)
}

fn push_details(
    rows: &mut Vec<FieldRow>,
    state: &FormState,
    index: usize,
    field: &FormField,
    columns: u16,
) {
    if let Some(description) = &field.description {
        let mut quote = Vec::new();
        push_quote(&mut quote, description, columns.saturating_sub(2));
        quote.truncate(DESCRIPTION_ROWS_MAX);
        rows.extend(quote.into_iter().map(FieldRow::Note));
    }
    if let Some(why) = &field.invalid_default {
        let room = columns.saturating_sub(6).max(8);
        for text in wrapped_rows(&Clean::unambiguous_line(why), room) {
            let mut row = StyledLine::default();
            row.push_dim(format!("    {text}"));
            rows.push(FieldRow::Note(row));
        }
    }
    let hint = field.hint();
    if !hint.is_empty() {
        let mut row = StyledLine::default();
        row.push_dim(format!("    {hint}"));
        rows.push(FieldRow::Note(row));
    }
    if let Some(FieldState::Options(list)) = state.fields.get(index) {
        push_options(rows, list, field.options());
    }
    if let Some((_, why)) = state.error.as_ref().filter(|(field, _)| *field == index) {
        let room = columns.saturating_sub(4).max(8);
        let error = wrapped_rows(&Clean::single_line(why), room);
        rows.extend(error.into_iter().map(FieldRow::Error));
    }
}

/// The options around the cursor. Filtering does not change the number of rows.
fn push_options(rows: &mut Vec<FieldRow>, list: &OptionList, options: &[FieldOption]) {
    let matching = list.matching(options);
    let place = matching.iter().position(|index| *index == list.at);
    let count = matching.len();
    let first = place.unwrap_or(0).saturating_sub(OPTION_ROWS_MAX / 2);
    let first = first.min(count.saturating_sub(OPTION_ROWS_MAX));
    let shown = &matching[first..count.min(first + OPTION_ROWS_MAX)];
    if OptionList::is_filterable(options) {
        let text = match list.filter() {
            "" => format!("    {} options; type to filter them", options.len()),
            filter => format!(
                "    {count} of {} options contain `{}`",
                options.len(),
                Clean::single_line(filter)
            ),
        };
        let mut row = StyledLine::default();
        row.push_dim(text);
        rows.push(FieldRow::Note(row));
    }
    rows.extend(shown.iter().copied().map(FieldRow::Option));
    let blank_rows = options.len().min(OPTION_ROWS_MAX) - shown.len();
    rows.extend((0..blank_rows).map(|_| FieldRow::Note(StyledLine::default())));
}

fn draw_row(
    state: &mut FormState,
    row: &FieldRow,
    label_columns: usize,
    line: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    match row {
        FieldRow::Field(index) => return draw_field(state, *index, label_columns, line, pen),
        FieldRow::Note(note) => {
            pen.put_styled_line(line.x + 2, line.y, note, line.width.saturating_sub(2))
        }
        FieldRow::Error(text) => {
            let failure = pen.theme.failure;
            pen.put_truncated(
                line.x + 4,
                line.y,
                text,
                failure,
                line.width.saturating_sub(4),
            );
        }
        FieldRow::Option(option) => return draw_option(state, *option, line, pen),
    }
    None
}

/// Draws label and value of a field. Returns the cursor position if the field has the focus, unless
/// it has a list of options: then the cursor is in the list.
fn draw_field(
    state: &mut FormState,
    index: usize,
    label_columns: usize,
    line: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let has_focus = index == state.focus;
    let inputs = state.inputs();
    let field = state.form().fields.get(index)?.clone();
    let style = match has_focus {
        true => pen.theme.accent,
        false => pen.theme.plain,
    };
    if has_focus {
        let cursor = pen.glyphs.cursor;
        pen.put(line.x, line.y, cursor, style, 1);
    }
    let label = shortened(label(&field).as_str(), label_columns);
    pen.put(
        line.x + 2,
        line.y,
        &label,
        style,
        line.width.saturating_sub(2),
    );
    let lead = (label_columns as u16 + 4).min(line.width);
    let value = Rect {
        x: line.x + lead,
        width: line.width.saturating_sub(lead + 1),
        ..line
    };
    if let (true, Some(FieldState::Text(editor))) = (has_focus, state.fields.get_mut(index)) {
        return Some(text_field::draw_text(editor, value, pen));
    }
    let text = field.value_text(inputs.get(index)?);
    let (text, style) = match text.is_empty() {
        true => ("–".to_owned(), pen.theme.dim),
        false => (text, pen.theme.plain),
    };
    let text = Clean::unambiguous_line(&text);
    pen.put_truncated(value.x, value.y, text.as_str(), style, value.width);
    let is_flag = matches!(field.kind, FieldKind::Boolean);
    (has_focus && is_flag).then_some(Position::new(value.x, value.y))
}

fn draw_option(
    state: &FormState,
    option: usize,
    line: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let field = state.form().fields.get(state.focus)?;
    let Some(FieldState::Options(list)) = state.fields.get(state.focus) else {
        return None;
    };
    let is_selected = list.selected.contains(&option);
    let mark = match (&field.kind, is_selected) {
        (FieldKind::Choices { .. }, true) => "[x] ",
        (FieldKind::Choices { .. }, false) => "[ ] ",
        (_, true) => "(o) ",
        (_, false) => "( ) ",
    };
    let style = match option == list.at {
        true => pen.theme.accent,
        false => Style::new(),
    };
    let text = Clean::name(field.options().get(option)?.label());
    let room = line.width.saturating_sub(6);
    let used = pen.put(line.x + 6, line.y, mark, style, room);
    pen.put_truncated(
        line.x + 6 + used,
        line.y,
        text.as_str(),
        style,
        room.saturating_sub(used),
    );
    (option == list.at).then_some(Position::new(line.x + 7, line.y))
}
