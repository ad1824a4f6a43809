//! Draws a dialog. It grows upward from the message: a rule that says what is asked, the body,
//! which scrolls, a rule that says how much of it was shown, and the choices, which stay in
//! place. Nothing is ever drawn over an argument.

use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::dialog::body;
use crate::tui::dialog::choice_row;
use crate::tui::dialog::compact::{draw_keys, saturate_u16};
use crate::tui::dialog::dialog_text::{DialogText, dialog_text};
use crate::tui::dialog::input_field::{draw_arguments, draw_field};
use crate::tui::dialog::keys::READABLE_WIDTH;
use crate::tui::dialog::pages;
use crate::tui::dialog::state::{BodyExtras, Dialog, DialogBody, DialogMode, DialogPage};
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::numbers::format_row_count;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::styled_line::StyledLine;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// Columns of a rule that its texts leave free.
const RULE_EDGES: usize = 5;
/// On a narrower area there are no rules, and the choices are only their keys.
const RULES_FROM: u16 = 40;
/// The rules and the choices must leave at least this many rows to the body.
const BODY_ROWS_MIN: u16 = 2;
/// Rows of the argument editor, with its heading and label.
const FIELD_ROWS: u16 = 10;
/// Rows of a field for a word, with its label.
const WORD_ROWS: u16 = 2;
const REASON_LABEL: &str = "Tell the model why (optional):";
const UNREAD_LABEL: &str = "Type run and press Enter to run it unread:";

/// The dialog's height: what it needs, at most `room`; without room for its rules, `most`.
pub fn dialog_height(
    shared: SharedUiState,
    ask: &mut Dialog,
    columns: u16,
    room: u16,
    most: u16,
) -> u16 {
    let words = dialog_text(shared, ask, columns);
    let room = room.max(rules_rows_min(&words, columns)).min(most);
    if is_small(&words, columns, room) || ask.is_full {
        return most;
    }
    lay_out(shared, ask, &words, columns, false);
    // The layout decides whether the choice to run unread is listed.
    let words = dialog_text(shared, ask, columns);
    let lower = 2 + choice_row::choice_rows(&words, columns);
    let rows = saturate_u16(ask.body_rows().len()).max(BODY_ROWS_MIN);
    let wanted = rows.saturating_add(lower);
    let field = match ask.mode {
        DialogMode::EditArguments { .. } => FIELD_ROWS,
        DialogMode::DenialReason(_) | DialogMode::ConfirmUnread(_) => 3 + WORD_ROWS,
        DialogMode::Choosing => 0,
    };
    wanted.max(field).min(room)
}

fn lay_out(
    shared: SharedUiState,
    ask: &mut Dialog,
    words: &DialogText,
    columns: u16,
    is_small: bool,
) {
    if ask.is_stale() {
        body::refresh_arguments(shared, ask);
    }
    let extras = BodyExtras {
        heading: is_small || !words.title_fits,
        notes: is_small || !notes_fit(words, columns),
    };
    ask.lay_out(columns, extras, |ask| match ask.page() {
        DialogPage::Lasting => pages::lasting_choices(shared, ask, &words.rows, columns),
        DialogPage::Values => pages::values(ask, columns),
        DialogPage::Details => pages::details(shared, ask, &words.rows, columns),
        DialogPage::Subject => {
            let mut body = body::dialog_body(shared, ask, columns, extras.heading);
            if extras.notes && !words.notes.is_empty() {
                let notes = wrapped_rows(&Clean::single_line(&words.notes), columns);
                body.rows.extend(notes.into_iter().map(StyledLine::from));
            }
            body
        }
    });
}

/// Whether the notes fit on the rule, beside what it says at its right.
fn notes_fit(words: &DialogText, columns: u16) -> bool {
    width(&words.notes) + 48 <= usize::from(columns)
}

fn is_small(words: &DialogText, columns: u16, height: u16) -> bool {
    columns < RULES_FROM || height < rules_rows_min(words, columns)
}

/// The least height at which there are rules.
fn rules_rows_min(words: &DialogText, columns: u16) -> u16 {
    2 + BODY_ROWS_MIN + choice_row::choice_rows(words, columns)
}

/// Returns the cursor position if a text field is open.
pub fn draw(
    shared: SharedUiState,
    ask: &mut Dialog,
    area: Rect,
    pen: &mut Painter,
) -> Option<Position> {
    let words = dialog_text(shared, ask, area.width);
    let small = is_small(&words, area.width, area.height);
    ask.begin_frame(shared.now);
    pen.clear(area);
    lay_out(shared, ask, &words, area.width.max(1), small);
    if small {
        if matches!(ask.mode, DialogMode::EditArguments { .. }) {
            let head = body::call_heading(shared, ask);
            return draw_arguments(&head, &mut ask.mode, area, pen);
        }
        return draw_small(&words, ask, area, shared.now, pen);
    }
    let title_style = match ask.accepts_keys {
        true => pen.theme.accent,
        false => pen.theme.dim,
    };
    let line = Rect { height: 1, ..area };
    pen.rule(line, &words.title, "", title_style);
    draw_badges(&words, line, pen);
    let below_title = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    if matches!(ask.mode, DialogMode::EditArguments { .. }) {
        let head = body::call_heading(shared, ask);
        let field = Rect {
            x: area.x + 2,
            width: area.width - 3,
            ..below_title
        };
        return draw_arguments(&head, &mut ask.mode, field, pen);
    }
    draw_parts(&words, ask, below_title, shared.now, pen)
}

/// Draws what is below the title: the body, a rule, and the choices or a field.
fn draw_parts(
    words: &DialogText,
    ask: &mut Dialog,
    area: Rect,
    now: Duration,
    pen: &mut Painter,
) -> Option<Position> {
    let lower = match ask.mode {
        DialogMode::DenialReason(_) | DialogMode::ConfirmUnread(_) => WORD_ROWS,
        _ => choice_row::choice_rows(words, area.width),
    };
    let body = Rect {
        height: area.height.saturating_sub(lower + 1),
        ..area
    };
    draw_body(ask, body, now, pen);
    let rule = Rect {
        y: body.bottom(),
        height: 1,
        ..area
    };
    let notes = match notes_fit(words, area.width) {
        true => words.notes.as_str(),
        false => "",
    };
    let attention = pen.theme.attention;
    let notes_columns = match notes.is_empty() {
        true => RULE_EDGES,
        false => RULE_EDGES + width(notes) + 3,
    };
    let room = usize::from(area.width).saturating_sub(notes_columns);
    pen.rule(rule, notes, &reading_state(ask, room, pen), attention);
    let rest = Rect {
        y: rule.bottom(),
        height: lower,
        ..area
    };
    match &mut ask.mode {
        DialogMode::DenialReason(editor) => {
            let field = inset(rest);
            Some(draw_field(REASON_LABEL, editor, None, field, pen))
        }
        DialogMode::ConfirmUnread(editor) => {
            let field = inset(rest);
            Some(draw_field(UNREAD_LABEL, editor, None, field, pen))
        }
        _ => {
            choice_row::draw(words, ask, rest, pen);
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

/// What the server says its tool may do, at the right end of the title.
fn draw_badges(words: &DialogText, line: Rect, pen: &mut Painter) {
    let dot = format!(" {} ", pen.glyphs.dot);
    let texts: Vec<&str> = words.badges.iter().map(|badge| badge.text).collect();
    let text = texts.join(&dot);
    let columns = width(&text) as u16;
    let title_end = line.x + 4 + width(&words.title) as u16;
    let x = line.right().saturating_sub(columns + 2);
    if text.is_empty() || x < title_end + 2 {
        return;
    }
    let (plain, dim) = (pen.theme.plain, pen.theme.dim);
    let mut x = x - 1;
    x += pen.put(x, line.y, " ", plain, 1);
    for (index, badge) in words.badges.iter().enumerate() {
        if index > 0 {
            x += pen.put(x, line.y, &dot, dim, dot.len() as u16);
        }
        let style = match badge.is_harmful {
            true => pen.theme.attention,
            false => dim,
        };
        x += pen.put(x, line.y, badge.text, style, width(badge.text) as u16);
    }
    pen.put(x, line.y, " ", plain, 1);
}

/// `all shown · o full · F5 JSON`, at most `room` columns wide. The scroll marks are kept
/// longest: without them the user would not know that more follows.
fn reading_state(ask: &Dialog, room: usize, pen: &Painter) -> String {
    let marks = scroll_marks(ask, room, pen);
    let is_subject = ask.page() == DialogPage::Subject;
    if is_subject && ask.is_read_first() && ask.was_fully_drawn() {
        let dot = format!(" {} ", pen.glyphs.dot);
        let state = ["all shown", &marks].join(&dot);
        return match (marks.is_empty(), width(&state) <= room) {
            (true, _) => "all shown".to_owned(),
            (false, true) => state,
            (false, false) => marks,
        };
    }
    if ask.call().is_none() || !is_subject {
        return marks;
    }
    let short = short_marks(ask.scroll, ask.last_top() - ask.scroll, pen);
    let state = |marks: &str| match (ask.undrawn_rows, marks.is_empty()) {
        (0, true) => vec!["all shown".to_owned()],
        (0, false) => vec!["all shown".to_owned(), marks.to_owned()],
        (_, false) => vec![marks.to_owned()],
        (left, true) => vec![format_row_count(left, "not shown")],
    };
    let size = if ask.is_full { "o smaller" } else { "o full" };
    let view = match ask.shows_json() {
        true => "F5 readable",
        false => "F5 JSON",
    };
    let keys = [size.to_owned(), view.to_owned()];
    let candidates = [
        [state(&marks), keys.to_vec()].concat(),
        [state(&short), keys.to_vec()].concat(),
        [vec![short], keys.to_vec()].concat(),
        state(&marks),
    ];
    let dot = format!(" {} ", pen.glyphs.dot);
    let mut texts = candidates.iter().map(|parts| parts.join(&dot));
    texts.find(|text| width(text) <= room).unwrap_or(marks)
}

/// Draws without rules: body, question, and the choices' keys.
fn draw_small(
    words: &DialogText,
    ask: &mut Dialog,
    area: Rect,
    now: Duration,
    pen: &mut Painter,
) -> Option<Position> {
    let label = match ask.mode {
        DialogMode::DenialReason(_) => REASON_LABEL,
        DialogMode::ConfirmUnread(_) => UNREAD_LABEL,
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
    // On a narrower screen, rows are cut.
    let is_readable = area.width >= READABLE_WIDTH;
    ask.mark_drawn(area.height.into(), is_readable, now);
    let selected = ask.selected_body_row();
    let rows = ask.body_rows().iter().enumerate().skip(ask.scroll);
    for (y, (index, row)) in (area.top()..area.bottom()).zip(rows) {
        row.draw(area.x, y, area.width, pen);
        let line = Rect::new(area.x, y, area.width, 1);
        if index < ask.heading_rows() {
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

impl DialogBody {
    pub(super) fn from_rows(rows: impl IntoIterator<Item = String>) -> Self {
        Self {
            rows: rows.into_iter().map(StyledLine::from).collect(),
            ..Self::default()
        }
    }
}
