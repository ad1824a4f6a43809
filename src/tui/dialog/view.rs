//! Draws a dialog. The body scrolls; the question and its choices stay in place. Nothing is
//! ever drawn over an argument.

use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::dialog::body;
use crate::tui::dialog::body::DialogText;
use crate::tui::dialog::compact::{choice_key, choice_style, draw_keys, saturate_u16};
use crate::tui::dialog::input_field::{draw_arguments, draw_field};
use crate::tui::dialog::state::{Dialog, DialogBody, DialogChoice, DialogMode};
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::styled_line::StyledLine;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// Columns of a choice's digit and key.
const KEYS_WIDTH: usize = 6;
/// Narrower dialogs indent choices by one column instead of two.
const INDENTED_FROM: u16 = 60;
/// Rows of the argument editor, with its heading and label.
const FIELD_ROWS: u16 = 10;
/// Maximum width, for readable lines.
const WIDTH_MAX: u16 = 96;
/// Narrower dialogs have no frame.
const FRAME_FROM: u16 = 24;
/// A frame must leave at least this many rows for the body.
const BODY_ROWS_MIN: u16 = 3;
/// Dialogs of at least this height get blank rows between their parts.
const ROOMY: u16 = 20;
/// Rows of the denial reason, with its label.
const REASON_ROWS: u16 = 3;
const REASON_LABEL: &str = "Deny. A word to the model:";
const UNREAD_LABEL: &str = "Type run and press Enter to run it unread:";

/// The dialog's height: at most `room`, or `most` if that is too small for a frame.
pub fn dialog_height(
    shared: SharedUiState,
    ask: &mut Dialog,
    columns: u16,
    room: u16,
    most: u16,
) -> u16 {
    let words = body::dialog_text(shared, ask);
    let columns = columns.min(width_max(shared, ask));
    let inner = columns.saturating_sub(4).max(1);
    let room = room.max(framed_rows_min(&words, inner)).min(most);
    if is_small(&words, columns, room) {
        return most;
    }
    lay_out(shared, ask, &words, inner, false);
    // The layout decides whether the choice to run unread is listed.
    let words = body::dialog_text(shared, ask);
    let field = match ask.mode {
        DialogMode::EditArguments { .. } => FIELD_ROWS,
        _ => 0,
    };
    let lower = lower_rows(&words, inner, true);
    let wanted = saturate_u16(ask.body_rows().len()).saturating_add(lower);
    wanted.max(field).saturating_add(2).min(room)
}

/// A question raised from a layer covers its full width; otherwise cut-off parts of the
/// layer would stay visible next to it.
fn width_max(shared: SharedUiState, ask: &Dialog) -> u16 {
    if ask.covers_layer(shared.open_layer) {
        u16::MAX
    } else {
        WIDTH_MAX
    }
}

fn lay_out(
    shared: SharedUiState,
    ask: &mut Dialog,
    words: &DialogText,
    columns: u16,
    with_footer: bool,
) {
    if ask.is_stale() {
        body::refresh_arguments(shared, ask);
    }
    ask.lay_out(columns, with_footer, |ask| {
        if ask.shows_choice_list() {
            return DialogBody {
                rows: choice_list_rows(&words.rows, columns),
                ..DialogBody::default()
            };
        }
        let mut body = body::dialog_body(shared, ask, columns);
        if with_footer && !words.footer.is_empty() {
            let footer = wrapped_rows(&Clean::single_line(&words.footer), columns);
            body.rows.extend(footer.into_iter().map(StyledLine::from));
        }
        body
    });
}

/// The choices with their keys as body rows, for small screens.
fn choice_list_rows(rows: &[DialogChoice], columns: u16) -> Vec<StyledLine> {
    let row = |row: &DialogChoice| {
        let key = choice_key(row).unwrap_or_default();
        wrapped_rows(
            &Clean::single_line(&format!("{key} {}", row.label)),
            columns,
        )
    };
    let rows = rows.iter().flat_map(row);
    rows.map(StyledLine::from).collect()
}

fn is_small(words: &DialogText, columns: u16, height: u16) -> bool {
    let inner = columns.saturating_sub(4).max(1);
    columns < FRAME_FROM || height < framed_rows_min(words, inner)
}

/// Below this height there is no frame and the choices share one row.
fn framed_rows_min(words: &DialogText, columns: u16) -> u16 {
    2 + BODY_ROWS_MIN + lower_rows(words, columns, false)
}

/// Rows of question, choices and footer, with optional blank rows between them.
fn lower_rows(words: &DialogText, columns: u16, gaps: bool) -> u16 {
    let footer = u16::from(!words.footer.is_empty());
    let gaps = if gaps { 2 + footer } else { 0 };
    1 + choice_rows(&words.rows, columns) + footer + gaps
}

/// Number of choice columns: two if every label fits.
fn choice_columns(rows: &[DialogChoice], columns: u16) -> u16 {
    let widest = rows.iter().map(|row| width(&row.label)).max();
    let column = indent(columns) + KEYS_WIDTH + widest.unwrap_or(0);
    // Strictly less: one column stays free between the two.
    let fits = column < usize::from(columns) / 2;
    if fits { 2 } else { 1 }
}

fn indent(columns: u16) -> usize {
    if columns < INDENTED_FROM { 1 } else { 2 }
}

fn choice_rows(rows: &[DialogChoice], columns: u16) -> u16 {
    saturate_u16(rows.len()).div_ceil(choice_columns(rows, columns))
}

/// Returns the cursor position if a text field is open.
pub fn draw(
    shared: SharedUiState,
    ask: &mut Dialog,
    area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let now = shared.now;
    let area = Rect {
        width: area.width.min(width_max(shared, ask)),
        ..area
    };
    let words = body::dialog_text(shared, ask);
    let small = is_small(&words, area.width, area.height);
    ask.begin_frame(small, now);
    let style = if ask.accepts_keys {
        pen.theme.accent
    } else {
        pen.theme.dim
    };
    let inner = if small {
        pen.clear(area);
        area
    } else {
        pen.frame(area, words.title, "", style)
    };
    lay_out(shared, ask, &words, inner.width.max(1), small);
    if matches!(ask.mode, DialogMode::EditArguments { .. }) {
        let head = body::call_heading(shared, ask);
        return draw_arguments(&head, &mut ask.mode, inner, pen);
    }
    if small {
        draw_small(&words, ask, inner, now, pen)
    } else {
        draw_framed(&words, ask, area, inner, now, pen)
    }
}

fn draw_framed(
    words: &DialogText,
    ask: &mut Dialog,
    area: Rect,
    inner: Rect,
    now: Duration,
    pen: &mut Painter,
) -> Option<Position> {
    let roomy = lower_rows(words, inner.width, true);
    let fits = saturate_u16(ask.body_rows().len()).saturating_add(roomy) <= inner.height;
    let gap = u16::from(fits || area.height >= ROOMY);
    let lower = match ask.mode {
        DialogMode::DenialReason(_) | DialogMode::ConfirmUnread(_) => REASON_ROWS + gap,
        _ => lower_rows(words, inner.width, gap > 0),
    };
    let body = Rect {
        height: inner.height.saturating_sub(lower),
        ..inner
    };
    let rest = Rect {
        y: body.bottom() + gap,
        height: lower.saturating_sub(gap),
        ..inner
    };
    draw_body(ask, body, now, pen);
    let marks = scroll_marks(ask, usize::from(area.width.saturating_sub(6)), pen);
    if !marks.is_empty() {
        let (right, y) = (area.right().saturating_sub(2), area.bottom() - 1);
        pen.put_right(right, y, &format!(" {marks} "), pen.theme.attention);
    }
    let label = field_label(&ask.mode);
    if let DialogMode::DenialReason(editor) | DialogMode::ConfirmUnread(editor) = &mut ask.mode {
        return Some(draw_field(label, editor, None, rest, pen));
    }
    draw_choices(words, ask, rest, gap, pen);
    None
}

fn field_label(form: &DialogMode) -> &'static str {
    match form {
        DialogMode::ConfirmUnread(_) => UNREAD_LABEL,
        _ => REASON_LABEL,
    }
}

/// Draws without a frame: body, question, and the choices' keys.
fn draw_small(
    words: &DialogText,
    ask: &mut Dialog,
    area: Rect,
    now: Duration,
    pen: &mut Painter,
) -> Option<Position> {
    let label = match ask.mode {
        DialogMode::DenialReason(_) | DialogMode::ConfirmUnread(_) => field_label(&ask.mode),
        _ => words.question,
    };
    let count = ask.body_rows().len();
    let mut lower = 2.min(area.height.saturating_sub(1));
    let scrolls = count > usize::from(area.height - lower);
    // The scroll marks share the question's row, or get their own row if it is too narrow.
    let room = usize::from(area.width).saturating_sub(width(label) + 2);
    let own_row = scrolls && area.height > 3 && width(&short_marks(count, count, pen)) > room;
    lower += u16::from(own_row);
    let body = Rect {
        height: area.height - lower,
        ..area
    };
    draw_body(ask, body, now, pen);
    let room = if own_row { area.width.into() } else { room };
    let marks = scroll_marks(ask, room, pen);
    let mut rest = Rect {
        y: body.bottom(),
        height: lower,
        ..area
    };
    if lower > 0 {
        pen.put_right(area.right(), rest.y, &marks, pen.theme.attention);
    }
    if own_row {
        rest.y += 1;
        rest.height -= 1;
    } else if scrolls {
        rest.width = rest.width.saturating_sub(saturate_u16(width(&marks)) + 1);
    }
    match &mut ask.mode {
        DialogMode::DenialReason(editor) | DialogMode::ConfirmUnread(editor) => {
            Some(draw_field(label, editor, None, rest, pen))
        }
        _ => {
            draw_keys(words, ask, rest, area.width, pen);
            None
        }
    }
}

/// Draws the visible part of the body and records what was drawn.
fn draw_body(ask: &mut Dialog, area: Rect, now: Duration, pen: &mut Painter) {
    ask.mark_drawn(area.height.into(), now);
    let rows = ask.body_rows().iter().enumerate().skip(ask.scroll);
    for (y, (index, row)) in (area.top()..area.bottom()).zip(rows) {
        row.draw(area.x, y, area.width, pen);
        if index < ask.heading_rows() {
            let line = Rect::new(area.x, y, area.width, 1);
            let bold = pen.theme.bold;
            pen.set_style(line, bold);
        }
    }
}

/// The number of rows above and below the visible ones.
fn scroll_marks(ask: &Dialog, room: usize, pen: &Painter) -> String {
    let (above, below) = (ask.scroll, ask.last_top() - ask.scroll);
    let mark = |arrow, count| (count > 0).then(|| format!("{arrow} {count} more"));
    let (up, down) = (mark(pen.glyphs.up, above), mark(pen.glyphs.down, below));
    let long: Vec<_> = up.into_iter().chain(down).collect();
    let long = long.join("  ");
    if width(&long) <= room {
        long
    } else {
        short_marks(above, below, pen)
    }
}

fn short_marks(above: usize, below: usize, pen: &Painter) -> String {
    let mark = |arrow, count| (count > 0).then(|| format!("{arrow}{count}"));
    let (up, down) = (mark(pen.glyphs.up, above), mark(pen.glyphs.down, below));
    up.into_iter().chain(down).collect::<Vec<_>>().join(" ")
}

fn draw_choices(words: &DialogText, ask: &Dialog, area: Rect, gap: u16, pen: &mut Painter) {
    let style = choice_style(ask, pen);
    pen.put(area.x, area.y, words.question, pen.theme.bold, area.width);
    let first = area.y + 1 + gap;
    let per_column = choice_rows(&words.rows, area.width).max(1);
    let column_width = area.width / choice_columns(&words.rows, area.width);
    for (index, row) in (0..).zip(&words.rows) {
        let (column, y) = (index / per_column, first + index % per_column);
        let x = area.x + column * column_width;
        if y >= area.bottom() {
            continue;
        }
        let digit = row.digit.unwrap_or(' ');
        let key = row.key.unwrap_or(' ');
        let lead = " ".repeat(indent(area.width));
        let words = format!("{lead}{digit}  {key}  {}", row.label);
        let columns = column_width.saturating_sub(1);
        pen.put_truncated(x, y, &words, style, columns);
        if ask.selected_choice == Some(index.into()) {
            let line = Rect::new(x, y, (saturate_u16(width(&words)) + 1).min(columns), 1);
            let selection = pen.theme.selection;
            pen.set_style(line, selection);
        }
    }
    if !words.footer.is_empty() && area.height > 0 {
        let (footer, y) = (Clean::single_line(&words.footer), area.bottom() - 1);
        pen.put_truncated(area.x, y, footer.as_str(), pen.theme.dim, area.width);
    }
}
