//! Draws the visible rows of the chat and the thinking pane.

use crate::domain::{CallId, EntryBody, Severity, TranscriptEntry, WaitReason};
use crate::text::Clean;
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::chat::call_row;
use crate::tui::chat::entry_rows::INDENT;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_context::RowContext;
use crate::tui::chat::state::Chat;
use crate::tui::chat::timing::RetryCountdown;
use crate::tui::chat::viewport::{ROWS_BELOW_MAX, RowContent, RowPosition, Viewport};
use crate::tui::keymap::{Action, key_label};
use crate::tui::panes::Pane;
use crate::tui::widgets::numbers::format_seconds;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::time::Duration;

/// Header and footer around thinking.
const THINKING_HEADER: &str = "<<< Thinking >>>";
const THINKING_FOOTER: &str = "<<< End Thinking >>>";
/// Below this width, only the number of lines below is shown.
const SHORT_BELOW: u16 = 40;
/// Minimum width at which the retry label fits beside the time.
const RETRY_WORDS_FROM: u16 = 46;

/// Area, time and style for drawing the chat or the thinking pane.
pub struct ChatPane {
    pub pane: Pane,
    pub has_focus: bool,
    pub now: Duration,
    pub markdown_glyphs: MarkdownGlyphs,
    /// The call that the open dialog is about.
    pub asked_call: Option<CallId>,
}

/// Draws the chat. It omits thinking if that has its own pane. Returns how many rows are below
/// the view, in words; without `has_rule`, which shows them, they are drawn in the last row.
pub fn draw(
    chat: &mut Chat,
    at: &ChatPane,
    aside: bool,
    has_rule: bool,
    pen: &mut Painter,
) -> String {
    let mut flow = std::mem::take(&mut chat.viewport);
    let area = at.pane.inner;
    let source = chat.layout_input(area.width, aside, at.markdown_glyphs);
    let height = usize::from(area.height);
    let top = flow.top_position(&source, height);
    let below = rows_below_label(&mut flow, &source, top, height, pen.glyphs.down);
    let places = flow.visible_rows(&source, top, height);
    pen.clear(at.pane.outer);
    let scene = RowContext {
        now: at.now,
        timing: &chat.timing,
        undrawn_rows: chat.undrawn_rows(),
        asked_call: at.asked_call,
        selected_entry: flow.selected.filter(|_| at.has_focus),
    };
    for (y, place) in places.iter().enumerate() {
        let row = Rect::new(area.x, area.y + y as u16, area.width, 1);
        if place.index == source.count() {
            draw_wait(chat, at.now, place.row, row, pen);
        } else if let Some(entry) = source.entry(place.index) {
            draw_row(&scene, &flow, &source, *place, entry, row, pen);
        }
    }
    if !has_rule && !below.is_empty() && area.height > 0 {
        let count: String = below.chars().filter(|c| !c.is_alphabetic()).collect();
        let short = area.width < SHORT_BELOW;
        let words = format!("  {}", if short { count.trim() } else { &below });
        pen.put_right(area.right(), area.bottom() - 1, &words, pen.theme.accent);
    }
    chat.viewport = flow;
    below
}

/// `↓ 12 lines`: the number of rows below the view. Rows added since the user scrolled up
/// count as new.
fn rows_below_label(
    flow: &mut Viewport,
    source: &LayoutInput,
    top: RowPosition,
    height: usize,
    arrow: &str,
) -> String {
    if flow.follows_end {
        return String::new();
    }
    let below = flow.rows_below(source, top, height);
    let new = flow.new_rows_below(source).min(below);
    let (count, word) = if new > 0 {
        (new, "new line")
    } else {
        (below, "line")
    };
    match count {
        0 => String::new(),
        1 => format!("{arrow} 1 {word}"),
        ROWS_BELOW_MAX.. => format!("{arrow} {ROWS_BELOW_MAX}+ {word}s"),
        _ => format!("{arrow} {count} {word}s"),
    }
}

/// Draws the thinking below its heading, which shows how long the model has been thinking.
pub fn draw_thinking(chat: &mut Chat, at: &ChatPane, pen: &mut Painter) {
    let mut flow = std::mem::take(&mut chat.thinking);
    let area = at.pane.inner;
    let source = chat.thinking_layout_input(area.width, at.markdown_glyphs);
    let height = usize::from(area.height);
    let top = flow.top_position(&source, height);
    let places = flow.visible_rows(&source, top, height);
    let times = chat.timing.open_thinking();
    let since = times.map(|(first, _)| format_seconds(at.now.saturating_sub(*first)));
    let right = since.unwrap_or_default();
    pen.heading(at.pane.outer, "Thinking", &right, at.has_focus);
    let scene = RowContext {
        now: at.now,
        timing: &chat.timing,
        undrawn_rows: chat.undrawn_rows(),
        asked_call: None,
        selected_entry: None,
    };
    if source.count() == 0 {
        let dim = pen.theme.dim;
        pen.put(area.x, area.y, "No thinking yet.", dim, area.width);
    }
    for (y, place) in places.iter().enumerate() {
        let row = Rect::new(area.x, area.y + y as u16, area.width, 1);
        if let Some(entry) = source.entry(place.index) {
            draw_row(&scene, &flow, &source, *place, entry, row, pen);
        }
    }
    chat.thinking = flow;
}

fn draw_row(
    scene: &RowContext,
    flow: &Viewport,
    source: &LayoutInput,
    place: RowPosition,
    entry: &TranscriptEntry,
    row: Rect,
    pen: &mut Painter,
) {
    let selected = scene.selected_entry == Some(place.index);
    match flow.row_content(place) {
        RowContent::Blank => {}
        RowContent::Head(line) => {
            let unfolded = flow.is_unfolded(place.index);
            draw_head(scene, source, entry, line, unfolded, row, pen);
            if selected && line == 0 {
                mark_selected(row, pen);
            }
        }
        RowContent::Text(text) => {
            let (indent, style) = indent_and_style(entry, source, pen);
            if let (EntryBody::Note(notice), true) = (&entry.body, flow.is_first_text_row(place)) {
                let (mark, style) = match notice.severity {
                    Severity::Failure => (pen.glyphs.failed, pen.theme.failure),
                    Severity::Warning => ("!", pen.theme.attention),
                    Severity::Info => (pen.glyphs.dot, pen.theme.dim),
                };
                pen.put(row.x, row.y, mark, style, row.width);
            }
            if let EntryBody::Prompt { .. } = &entry.body {
                let (bar, accent) = (pen.glyphs.cursor, pen.theme.accent);
                pen.put(row.x, row.y, bar, accent, 1);
            }
            let columns = row.width.saturating_sub(indent);
            pen.put_line(row.x + indent, row.y, text, style, columns);
        }
        RowContent::Foot => {
            let (word, indent) = match &entry.body {
                EntryBody::Thinking { .. } => {
                    (THINKING_FOOTER, indent_and_style(entry, source, pen).0)
                }
                _ => {
                    let (dot, dim) = (pen.glyphs.dot, pen.theme.dim);
                    pen.put(row.x, row.y, dot, dim, row.width);
                    ("(cancelled)", INDENT)
                }
            };
            let columns = row.width.saturating_sub(indent);
            pen.put(row.x + indent, row.y, word, pen.theme.dim, columns);
        }
    }
}

/// Marks the selected line in the margin, or as a whole without a margin.
fn mark_selected(row: Rect, pen: &mut Painter) {
    if row.x == 0 {
        let selection = pen.theme.selection;
        return pen.set_style(row, selection);
    }
    let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
    pen.put(row.x - 1, row.y, cursor, accent, 1);
}

fn indent_and_style(entry: &TranscriptEntry, source: &LayoutInput, pen: &Painter) -> (u16, Style) {
    match &entry.body {
        EntryBody::Prompt { .. } => (INDENT, pen.theme.plain),
        EntryBody::Text { .. } => (0, pen.theme.plain),
        EntryBody::Thinking { .. }
            if source.is_thinking_pane() || source.is_expanded_thinking(entry) =>
        {
            (0, pen.theme.dim)
        }
        EntryBody::Thinking { .. } | EntryBody::Tool(_) => (INDENT, pen.theme.dim),
        EntryBody::Note(notice) if notice.severity == Severity::Info => (2, pen.theme.dim),
        EntryBody::Note(_) => (2, pen.theme.plain),
    }
}

fn draw_head(
    scene: &RowContext,
    source: &LayoutInput,
    entry: &TranscriptEntry,
    line: usize,
    unfolded: bool,
    row: Rect,
    pen: &mut Painter,
) {
    match &entry.body {
        EntryBody::Prompt { .. } => {}
        EntryBody::Text { model, .. } => {
            let name = Clean::single_line(model);
            pen.put_truncated(row.x, row.y, name.as_str(), pen.theme.dim, row.width);
        }
        EntryBody::Thinking { .. }
            if source.is_thinking_pane() || source.is_expanded_thinking(entry) =>
        {
            pen.put(row.x, row.y, THINKING_HEADER, pen.theme.dim, row.width);
        }
        EntryBody::Thinking { .. } if line > 0 => {
            let columns = row.width.saturating_sub(INDENT);
            pen.put(
                row.x + INDENT,
                row.y,
                THINKING_HEADER,
                pen.theme.dim,
                columns,
            );
        }
        EntryBody::Thinking { piece, .. } => {
            let fold = if unfolded {
                pen.glyphs.unfolded
            } else {
                pen.glyphs.folded
            };
            let times = scene.timing.thinking_spans.get(piece);
            let seconds = times.map_or(0.0, |(first, last)| (*last - *first).as_secs_f64());
            let words = match seconds.round() {
                0.0 => format!("{fold} thought"),
                seconds => format!("{fold} thought {seconds} s"),
            };
            pen.put(row.x, row.y, &words, pen.theme.dim, row.width);
        }
        EntryBody::Tool(call) if line == 0 => call_row::draw(scene, call, row, pen),
        EntryBody::Tool(call) => call_row::draw_progress(call, row, pen),
        EntryBody::Note(_) => {}
    }
}

/// Draws `Waiting for response...` with a spinner and the elapsed time, below a blank row.
fn draw_wait(chat: &Chat, now: Duration, line: usize, row: Rect, pen: &mut Painter) {
    if line == 0 {
        return;
    }
    let words = match chat.transcript.wait() {
        Some(WaitReason::ModelLoading) => "Loading model…".to_owned(),
        Some(WaitReason::Retrying) => {
            retry_label(chat.timing.retry, now, row.width, pen.glyphs.dot)
        }
        _ => "Waiting for response...".to_owned(),
    };
    let since = now.saturating_sub(chat.timing.round_started);
    let start = pen.put_right(row.right(), row.y, &format_seconds(since), pen.theme.dim);
    let spinner = pen.glyphs.spinner(now.as_millis());
    pen.put(row.x, row.y, spinner, pen.theme.accent, 1);
    let columns = start.saturating_sub(row.x + 3);
    pen.put_truncated(row.x + 2, row.y, &words, pen.theme.dim, columns);
}

/// `Retrying in 4 s (2 of 5)`, in whole seconds down to one.
fn retry_label(retry: RetryCountdown, now: Duration, columns: u16, dot: &str) -> String {
    let left = retry.due_at.saturating_sub(now);
    let seconds = left.as_millis().div_ceil(1_000).max(1);
    let (attempt, max) = (retry.attempt, retry.attempts_max);
    if columns < RETRY_WORDS_FROM {
        return format!("retry: {seconds} s");
    }
    let key = key_label(Action::Retry);
    format!("Retrying in {seconds} s ({attempt} of {max}) {dot} {key} now")
}
