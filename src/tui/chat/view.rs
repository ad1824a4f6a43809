//! Draws the visible rows of the chat and the thinking pane.

use crate::domain::{CallId, WaitReason};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::markdown::MarkdownGlyphs;
use crate::text::numbers::{format_seconds, group_digits};
use crate::tui::chat::draw_row::draw_row;
use crate::tui::chat::find::marks::{self, FindMarks};
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::row_context::RowContext;
use crate::tui::chat::selection::geometry::selected_columns;
use crate::tui::chat::state::Chat;
use crate::tui::chat::timing::RetryCountdown;
use crate::tui::chat::viewport::{ROWS_BELOW_MAX, RowPosition, Viewport};
use crate::tui::panes::{Focus, Pane};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use std::time::Duration;

/// On narrower panes, the label of the rows below is only a number.
const FULL_LABEL_COLUMNS_MIN: u16 = 40;
/// On narrower panes, the position within a long text is not shown.
const POSITION_COLUMNS_MIN: u16 = 56;
/// A text is long if it is this many times as high as the view.
const LONG_TEXT_VIEWS: usize = 3;
/// Minimum width at which the full retry label fits next to the time.
const RETRY_LABEL_COLUMNS_MIN: u16 = 46;

/// Area, focus and time for drawing the chat or the thinking pane.
pub struct ChatPane {
    pub pane: Pane,
    pub has_focus: bool,
    pub now: Duration,
    pub markdown_glyphs: MarkdownGlyphs,
    /// The name of the key that retries at once, while the program waits to retry.
    pub retry_key: Option<String>,
    /// The name of the key that asks the last prompt again.
    pub ask_again_key: Option<String>,
    /// The name of the key that continues an incomplete answer.
    pub continue_key: Option<String>,
    /// The name of the key that drops a turn whose answer was stopped.
    pub drop_key: Option<String>,
    /// While the turn waits for servers: `shop is starting · Enter sends now`.
    pub starting_label: Option<String>,
    /// The call that the open dialog is about.
    pub asked_call: Option<CallId>,
    /// The calls decided so far in the open dialog, and whether they will run.
    pub decided_calls: Vec<(CallId, bool)>,
}

/// Draws the chat, without thinking if `has_thinking_pane`. Returns a label with the number of
/// rows below the view for the rule above the message editor; without that rule (`has_rule` is false),
/// draws the label in the last row.
pub fn draw(
    chat: &mut Chat,
    chat_pane: &ChatPane,
    has_thinking_pane: bool,
    has_rule: bool,
    pen: &mut Painter,
) -> String {
    let mut viewport = std::mem::take(&mut chat.viewport);
    let area = chat_pane.pane.inner;
    let input = chat.layout_input(area.width, has_thinking_pane, chat_pane.markdown_glyphs);
    let height = usize::from(area.height);
    let top = viewport.top_position(&input, height);
    let mut below = rows_below_label(&mut viewport, &input, top, height, pen.glyphs.down);
    if let Some(line) = position_label(&viewport, top, height, area.width)
        && !below.is_empty()
    {
        below = format!("{line} {} {below}", pen.glyphs.dot);
    }
    let positions = viewport.visible_rows(&input, top, height);
    pen.clear(chat_pane.pane.outer);
    let context = RowContext {
        now: chat_pane.now,
        timing: &chat.timing,
        undrawn_rows: chat.undrawn_rows(),
        asked_call: chat_pane.asked_call,
        decided_calls: &chat_pane.decided_calls,
        ask_again_key: chat_pane.ask_again_key.as_deref(),
        continue_key: chat_pane.continue_key.as_deref(),
        drop_key: chat_pane.drop_key.as_deref(),
        marks_stop: chat_pane.has_focus,
    };
    for (y, position) in positions.iter().enumerate() {
        let row = Rect::new(area.x, area.y + y as u16, area.width, 1);
        if position.index == input.count() {
            draw_wait(chat, chat_pane, position.row, row, pen);
        } else if let Some(entry) = input.entry(position.index) {
            draw_row(&context, &viewport, &input, *position, entry, row, pen);
        }
    }
    highlight(
        chat,
        Focus::Chat,
        &mut viewport,
        &input,
        &positions,
        area,
        pen,
    );
    if !has_rule && !below.is_empty() && area.height > 0 {
        let count: String = below.chars().filter(|c| !c.is_alphabetic()).collect();
        let is_narrow = area.width < FULL_LABEL_COLUMNS_MIN;
        let label = format!("  {}", if is_narrow { count.trim() } else { &below });
        pen.put_right(area.right(), area.bottom() - 1, &label, pen.theme.accent);
    }
    chat.viewport = viewport;
    below
}

/// `↓ 12 lines`: the number of rows below the view; `↓ 3 new lines` if some of them were added since
/// the user scrolled up. Empty while the view follows the end.
fn rows_below_label(
    viewport: &mut Viewport,
    input: &LayoutInput,
    top: RowPosition,
    height: usize,
    arrow: &str,
) -> String {
    if viewport.follows_end {
        return String::new();
    }
    let below = viewport.rows_below(input, top, height);
    let new = viewport.new_rows(input).min(below);
    let (count, word) = if new > 0 {
        (new, "new line")
    } else {
        (below, "line")
    };
    let grouped = group_digits(count);
    match count {
        0 => String::new(),
        1 => format!("{arrow} 1 {word}"),
        ROWS_BELOW_MAX.. => format!("{arrow} {grouped}+ {word}s"),
        _ => format!("{arrow} {grouped} {word}s"),
    }
}

/// `line 2,520 of 5,000`: the first row in view of a text that is much longer than the view.
fn position_label(
    viewport: &Viewport,
    top: RowPosition,
    height: usize,
    columns: u16,
) -> Option<String> {
    let layout = viewport.layout_at(top.index)?;
    let total = layout.text.as_ref()?.len();
    let row = top
        .row
        .checked_sub(layout.key.gap_rows + layout.head_rows)?;
    let is_shown = columns >= POSITION_COLUMNS_MIN && total > height * LONG_TEXT_VIEWS;
    let line = group_digits((row + 1).min(total));
    is_shown.then(|| format!("line {line} of {}", group_digits(total)))
}

/// Draws the thinking pane. Its heading shows how long the model has been thinking.
pub fn draw_thinking(chat: &mut Chat, chat_pane: &ChatPane, pen: &mut Painter) {
    let mut viewport = std::mem::take(&mut chat.thinking);
    let area = chat_pane.pane.inner;
    let input = chat.thinking_layout_input(area.width, chat_pane.markdown_glyphs);
    let height = usize::from(area.height);
    let top = viewport.top_position(&input, height);
    let positions = viewport.visible_rows(&input, top, height);
    let elapsed = chat
        .timing
        .open_thinking()
        .map(|(start, _)| format_seconds(chat_pane.now.saturating_sub(*start)))
        .unwrap_or_default();
    pen.heading(
        chat_pane.pane.outer,
        "Thinking",
        &elapsed,
        chat_pane.has_focus,
    );
    let context = RowContext {
        now: chat_pane.now,
        timing: &chat.timing,
        undrawn_rows: chat.undrawn_rows(),
        asked_call: None,
        decided_calls: &[],
        ask_again_key: None,
        continue_key: None,
        drop_key: None,
        marks_stop: false,
    };
    if input.count() == 0 {
        let dim = pen.theme.dim;
        pen.put(area.x, area.y, "No thinking yet.", dim, area.width);
    }
    for (y, position) in positions.iter().enumerate() {
        let row = Rect::new(area.x, area.y + y as u16, area.width, 1);
        if let Some(entry) = input.entry(position.index) {
            draw_row(&context, &viewport, &input, *position, entry, row, pen);
        }
    }
    highlight(
        chat,
        Focus::Thinking,
        &mut viewport,
        &input,
        &positions,
        area,
        pen,
    );
    chat.thinking = viewport;
}

/// Marks the matches of the find bar, and highlights the selection.
fn highlight(
    chat: &Chat,
    pane: Focus,
    viewport: &mut Viewport,
    input: &LayoutInput,
    positions: &[RowPosition],
    area: Rect,
    pen: &mut Painter,
) {
    let find = chat.find.as_ref();
    if let Some((find, query)) = find.and_then(|find| Some((find, find.query()?))) {
        let current = find.current_in(pane);
        let marks = FindMarks { query, current };
        marks::draw(&marks, viewport, input, positions, area, pen);
    }
    let Some(range) = viewport.selected_range(input) else {
        return;
    };
    for (y, position) in positions.iter().enumerate() {
        let columns = selected_columns(viewport, input, *position, range);
        let cells = Rect {
            x: area.x + columns.start,
            y: area.y + y as u16,
            width: columns.end.saturating_sub(columns.start),
            height: 1,
        };
        pen.set_style(cells, pen.theme.selection);
    }
}

/// Draws what the turn waits for, such as `Waiting for response...`, with a spinner and the elapsed
/// time, below a blank row.
fn draw_wait(chat: &Chat, chat_pane: &ChatPane, line: usize, row: Rect, pen: &mut Painter) {
    let now = chat_pane.now;
    if line == 0 {
        return;
    }
    let label = match chat.transcript.wait_reason() {
        Some(WaitReason::ModelLoading) => "Loading model…".to_owned(),
        Some(WaitReason::Retrying) => {
            let label = retry_label(chat.timing.retry, now, row.width);
            match &chat_pane.retry_key {
                Some(key) if row.width >= RETRY_LABEL_COLUMNS_MIN => {
                    format!("{label} {} {key} now", pen.glyphs.dot)
                }
                _ => label,
            }
        }
        _ => match chat.transcript.agent_activity() {
            Some(activity) => format!("{}…", Clean::single_line(activity)),
            None => waiting_label(chat_pane, row.width, pen.glyphs.dot),
        },
    };
    let elapsed = format_seconds(now.saturating_sub(chat.timing.round_started));
    let start = pen.put_right(row.right(), row.y, &elapsed, pen.theme.dim);
    let spinner = pen.glyphs.spinner(now.as_millis());
    pen.put(row.x, row.y, spinner, pen.theme.accent, 1);
    let columns = start.saturating_sub(row.x + 3);
    pen.put_truncated(row.x + 2, row.y, &label, pen.theme.dim, columns);
}

/// `Waiting for response... · shop is starting · Enter sends now`, or only its end on a narrow screen.
fn waiting_label(chat_pane: &ChatPane, columns: u16, dot: &str) -> String {
    const WAITING: &str = "Waiting for response...";
    let Some(starting) = &chat_pane.starting_label else {
        return WAITING.to_owned();
    };
    let full = format!("{WAITING} {dot} {starting}");
    // The spinner, the elapsed time and the gaps.
    match width(&full) + 8 <= usize::from(columns) {
        true => full,
        false => starting.clone(),
    }
}

/// `Retrying in 4 s (2 of 5)`, in whole seconds and never less than one.
fn retry_label(retry: RetryCountdown, now: Duration, columns: u16) -> String {
    let remaining = retry.due_at.saturating_sub(now);
    let seconds = remaining.as_millis().div_ceil(1_000).max(1);
    let (attempt, max) = (retry.attempt, retry.attempts_max);
    if columns < RETRY_LABEL_COLUMNS_MIN {
        return format!("retry: {seconds} s");
    }
    format!("Retrying in {seconds} s ({attempt} of {max})")
}
