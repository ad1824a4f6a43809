//! Draws a dialog. It grows upward from the input field: a rule with the title, the scrolling body, a
//! rule that shows how much of the body was displayed, and the choices, which stay in place.
//! Nothing is ever drawn over an argument.

use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::styled_line::StyledLine;
use crate::tui::dialog::body;
use crate::tui::dialog::choice_row;
use crate::tui::dialog::compact::{draw_keys, saturate_u16};
use crate::tui::dialog::dialog_text::{DialogText, dialog_text};
use crate::tui::dialog::input_field::{draw_arguments, draw_field};
use crate::tui::dialog::keys::READABLE_COLUMNS_MIN;
use crate::tui::dialog::pages;
use crate::tui::dialog::rule_text::{draw_badges, reading_state, scroll_marks, short_marks};
use crate::tui::dialog::state::{BodyExtras, Dialog, DialogBody, DialogMode, DialogPage};
use crate::tui::elicitation::fields_view::{draw_fields, fields_height};
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// Columns of a rule that remain free of text.
const RULE_EDGE_COLUMNS: usize = 5;
/// In a narrower area there are no rules, and only the keys of the choices are shown.
const RULES_COLUMNS_MIN: u16 = 40;
/// The rules and the choices must leave at least this many rows for the body.
const BODY_ROWS_MIN: u16 = 2;
/// Rows of the argument editor, with its heading and label.
const FIELD_ROWS: u16 = 10;
/// Rows of a single-line text field, with its label.
const WORD_ROWS: u16 = 2;

/// See [`super::dialogs::Dialogs::height`].
pub fn dialog_height(
    shared: SharedUiState,
    dialog: &mut Dialog,
    columns: u16,
    room: u16,
    height_max: u16,
) -> u16 {
    let text = dialog_text(shared, dialog, columns);
    let room = room.max(rules_rows_min(&text, columns)).min(height_max);
    if is_small(&text, columns, room) || dialog.is_full {
        return height_max;
    }
    lay_out(shared, dialog, &text, columns, false);
    // The layout decides whether the choice to run unread is listed.
    let text = dialog_text(shared, dialog, columns);
    let lower = 2 + lower_rows(dialog, &text, columns);
    let rows = saturate_u16(dialog.body_rows().len()).max(BODY_ROWS_MIN);
    let wanted = rows.saturating_add(lower);
    let field = match dialog.mode {
        DialogMode::EditArguments { .. } => FIELD_ROWS,
        DialogMode::DenialReason(_)
        | DialogMode::ConfirmUnread(_)
        | DialogMode::ConfirmSecret(_) => 3 + WORD_ROWS,
        DialogMode::EditForm => form_rows(dialog, columns),
        DialogMode::Choosing => 0,
    };
    wanted.max(field).min(room)
}

fn form_rows(dialog: &Dialog, columns: u16) -> u16 {
    let form = dialog.form.as_ref();
    form.map_or(0, |form| fields_height(form, columns).saturating_add(2))
}

fn lay_out(
    shared: SharedUiState,
    dialog: &mut Dialog,
    text: &DialogText,
    columns: u16,
    is_small: bool,
) {
    if dialog.is_stale() {
        body::refresh_arguments(shared, dialog);
    }
    let extras = BodyExtras {
        has_heading: is_small || !text.title_fits,
        has_notes: is_small || !text.notes_fit(columns),
    };
    dialog.lay_out(columns, extras, |dialog| match dialog.page() {
        DialogPage::Lasting => pages::lasting_choices(shared, dialog, &text.choices, columns),
        DialogPage::Values => pages::values(dialog, columns, shared.glyphs.more),
        DialogPage::Details => pages::details(shared, dialog, &text.choices, columns),
        DialogPage::Subject => {
            let mut body = body::dialog_body(shared, dialog, columns, extras.has_heading);
            if extras.has_notes && !text.notes.is_empty() {
                let notes = wrapped_rows(&Clean::single_line(&text.notes), columns);
                body.rows.extend(notes.into_iter().map(StyledLine::from));
            }
            body
        }
    });
}

fn is_small(text: &DialogText, columns: u16, height: u16) -> bool {
    columns < RULES_COLUMNS_MIN || height < rules_rows_min(text, columns)
}

fn rules_rows_min(text: &DialogText, columns: u16) -> u16 {
    2 + BODY_ROWS_MIN + choice_row::choice_rows(text, columns)
}

/// Returns the cursor position if a text field is open.
pub fn draw(
    shared: SharedUiState,
    dialog: &mut Dialog,
    area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let text = dialog_text(shared, dialog, area.width);
    let small = is_small(&text, area.width, area.height);
    dialog.begin_frame(shared.now);
    pen.clear(area);
    lay_out(shared, dialog, &text, area.width.max(1), small);
    if small {
        if let (DialogMode::EditForm, Some(form)) = (&dialog.mode, &mut dialog.form) {
            return draw_fields(form, area, pen);
        }
        if matches!(dialog.mode, DialogMode::EditArguments { .. }) {
            let head = body::call_heading(shared, dialog);
            return draw_arguments(&head, &mut dialog.mode, area, pen);
        }
        return draw_small(&text, dialog, area, shared.now, pen);
    }
    let title_style = match dialog.accepts_keys {
        true => pen.theme.accent,
        false => pen.theme.dim,
    };
    let line = Rect { height: 1, ..area };
    pen.rule(line, &text.title, "", title_style);
    draw_badges(&text, line, pen);
    let below_title = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    if let (DialogMode::EditForm, Some(form)) = (&dialog.mode, &mut dialog.form) {
        return draw_fields(form, below_title, pen);
    }
    if matches!(dialog.mode, DialogMode::EditArguments { .. }) {
        let head = body::call_heading(shared, dialog);
        let field = Rect {
            x: area.x + 2,
            width: area.width - 3,
            ..below_title
        };
        return draw_arguments(&head, &mut dialog.mode, field, pen);
    }
    draw_parts(&text, dialog, below_title, shared, pen)
}

/// Rows below the rule under the body: the choices, or a single-line text field.
fn lower_rows(dialog: &Dialog, text: &DialogText, columns: u16) -> u16 {
    match dialog.mode {
        DialogMode::DenialReason(_)
        | DialogMode::ConfirmUnread(_)
        | DialogMode::ConfirmSecret(_) => WORD_ROWS,
        _ => choice_row::choice_rows(text, columns),
    }
}

/// Draws everything below the title: the body, a rule, and the choices or a text field.
fn draw_parts(
    text: &DialogText,
    dialog: &mut Dialog,
    area: Rect,
    shared: SharedUiState,
    pen: &mut Painter,
) -> Option<Position> {
    let lower = lower_rows(dialog, text, area.width);
    let body = Rect {
        height: area.height.saturating_sub(lower + 1),
        ..area
    };
    draw_body(dialog, body, shared.now, pen);
    let rule = Rect {
        y: body.bottom(),
        height: 1,
        ..area
    };
    let notes = match text.notes_fit(area.width) {
        true => text.notes.as_str(),
        false => "",
    };
    let attention = pen.theme.attention;
    let notes_columns = match notes.is_empty() {
        true => RULE_EDGE_COLUMNS,
        false => RULE_EDGE_COLUMNS + width(notes) + 3,
    };
    let room = usize::from(area.width).saturating_sub(notes_columns);
    let state = reading_state(dialog, room, shared.keymap, pen);
    pen.rule(rule, notes, &state, attention);
    let rest = Rect {
        y: rule.bottom(),
        height: lower,
        ..area
    };
    match &mut dialog.mode {
        DialogMode::DenialReason(editor)
        | DialogMode::ConfirmUnread(editor)
        | DialogMode::ConfirmSecret(editor) => {
            let label = text.field_label.as_deref().unwrap_or_default();
            Some(draw_field(label, editor, None, inset(rest), pen))
        }
        _ => {
            choice_row::draw(text, dialog, rest, pen);
            None
        }
    }
}

fn inset(area: Rect) -> Rect {
    Rect {
        x: area.x + 2,
        width: area.width.saturating_sub(2),
        ..area
    }
}

/// Draws without rules: body, question, and the choices' keys.
fn draw_small(
    text: &DialogText,
    dialog: &mut Dialog,
    area: Rect,
    now: Duration,
    pen: &mut Painter,
) -> Option<Position> {
    let label = text.field_label.as_ref().unwrap_or(&text.question);
    let count = dialog.body_rows().len();
    let mut lower = 2.min(area.height.saturating_sub(1));
    let scrolls = count > usize::from(area.height - lower);
    // Position, warning and scroll marks share the question's row, or get their own row if it is
    // too narrow.
    let room = usize::from(area.width).saturating_sub(width(label) + 1);
    let widest_marks = match scrolls {
        true => short_marks(count, count, pen),
        false => String::new(),
    };
    let status = text.short_status();
    let needed = width(&status) + usize::from(!status.is_empty() && scrolls) + width(&widest_marks);
    let own_row = needed > room && area.height > 3;
    lower += u16::from(own_row);
    let body = Rect {
        height: area.height - lower,
        ..area
    };
    draw_body(dialog, body, now, pen);
    let room = if own_row { area.width.into() } else { room };
    let marks = match scrolls {
        true => short_marks(dialog.scroll, dialog.last_top() - dialog.scroll, pen),
        false => String::new(),
    };
    let gap = usize::from(!marks.is_empty());
    let status = text.status(room.saturating_sub(width(&marks) + gap));
    let marks = scroll_marks(dialog, room.saturating_sub(width(&status) + gap), pen);
    let mut rest = Rect {
        y: body.bottom(),
        height: lower,
        ..area
    };
    let attention = pen.theme.attention;
    if lower > 0 {
        pen.put_right(area.right(), rest.y, &marks, attention);
        if own_row {
            pen.put(area.x, rest.y, &status, attention, area.width);
        } else {
            let end = area
                .right()
                .saturating_sub(saturate_u16(width(&marks) + gap));
            pen.put_right(end, rest.y, &status, attention);
        }
    }
    if own_row {
        rest.y += 1;
        rest.height -= 1;
    }
    match &mut dialog.mode {
        DialogMode::DenialReason(editor)
        | DialogMode::ConfirmUnread(editor)
        | DialogMode::ConfirmSecret(editor) => Some(draw_field(label, editor, None, rest, pen)),
        _ => {
            draw_keys(text, dialog, rest, area.width, pen);
            None
        }
    }
}

fn draw_body(dialog: &mut Dialog, area: Rect, now: Duration, pen: &mut Painter) {
    // On a narrower screen, rows are truncated.
    let is_readable = area.width >= READABLE_COLUMNS_MIN;
    dialog.mark_drawn(area.height.into(), is_readable, now);
    let selected = dialog.selected_body_row();
    let rows = dialog.body_rows().iter().enumerate().skip(dialog.scroll);
    for (y, (index, row)) in (area.top()..area.bottom()).zip(rows) {
        pen.put_styled_line(area.x, y, row, area.width);
        let line = Rect::new(area.x, y, area.width, 1);
        if index < dialog.heading_rows() {
            let bold = pen.theme.bold;
            pen.set_style(line, bold);
        }
        if selected == Some(index) {
            let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
            pen.put(area.x, y, cursor, accent, 1);
            pen.set_style(line, accent);
        }
    }
}

impl DialogBody {
    pub(super) fn from_rows(rows: impl IntoIterator<Item = String>) -> Self {
        Self {
            rows: rows.into_iter().map(StyledLine::from).collect(),
            ..Self::default()
        }
    }
}
