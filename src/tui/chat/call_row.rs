//! Draws a tool call in one line: what was called, with what and what came of it on the left,
//! server and time on the right. A running call with progress gets a second row.

use crate::domain::progress::{ProgressAmount, ToolProgress};
use crate::domain::tool::{StandingPermission, ToolCall, ToolOutcome, ToolState};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::chat::call_summary::{argument_summary, outcome_summary};
use crate::tui::chat::row_context::RowContext;
use crate::tui::widgets::numbers::{format_row_count, format_seconds};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Width of the progress bar, and the row width from which it is drawn.
const BAR_COLUMNS: usize = 10;
const BAR_FROM: u16 = 24;
/// Minimum row width at which the server's name is shown.
const SERVER_FROM: u16 = 40;
/// Columns reserved for the elapsed time of a running call.
const RUNNING_COLUMNS: usize = 6;

/// `✓ get-sum  17, 25 → 42                     everything  0.1 s`
pub fn draw(scene: &RowContext, call: &ToolCall, row: Rect, pen: &mut Painter) {
    let (mark, style) = state_mark(scene, call, pen);
    pen.put(row.x, row.y, mark, style, 1);
    if scene.asked_call == Some(call.id) && row.x > 0 {
        let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
        pen.put(row.x - 1, row.y, cursor, accent, 1);
    }
    let x = row.x + 2;
    let start = draw_right(scene, call, row, pen);
    let room = start.saturating_sub(x + 2);
    let tool = Clean::name(&call.tool);
    let used = pen.put_truncated(x, row.y, tool.as_str(), pen.theme.plain, room);
    let (x, room) = (x + used + 2, room.saturating_sub(used + 2));
    let arguments = argument_summary(&call.arguments);
    // A result needs room for a word; without it, the arguments get all.
    let outcome = outcome_summary(call).filter(|_| room >= 8);
    let outcome_columns = outcome.as_deref().map_or(0, |text| width(text) + 3) as u16;
    let argument_room = match outcome_columns {
        0 => room,
        columns => room.saturating_sub(columns.min(room / 2)),
    };
    let dim = pen.theme.dim;
    let used = pen.put_truncated(x, row.y, &arguments, dim, argument_room);
    let Some(outcome) = outcome else { return };
    // Only a call that succeeded has a result; every other summary is a reason.
    let is_error = !matches!(&call.state, ToolState::Done(ToolOutcome::Succeeded { .. }));
    let arrow = match (is_error, used) {
        (false, 0) => format!("{} ", pen.glyphs.result),
        (false, _) => format!(" {} ", pen.glyphs.result),
        (true, 0) => String::new(),
        (true, _) => "  ".to_owned(),
    };
    let (x, room) = (x + used, room.saturating_sub(used));
    let used = pen.put_truncated(x, row.y, &arrow, dim, room);
    let style = if is_error { style } else { pen.theme.plain };
    pen.put_truncated(x + used, row.y, &outcome, style, room.saturating_sub(used));
}

/// Draws why it ran, its server and its time or state, and returns where they start.
fn draw_right(scene: &RowContext, call: &ToolCall, row: Rect, pen: &mut Painter) -> u16 {
    let (theme, glyphs) = (pen.theme, pen.glyphs);
    let (words, style) = state_label(scene, call, pen);
    // The time of a running call grows; the words to its left must not move.
    let words = match &call.state {
        ToolState::Running { .. } => format!("{words:>RUNNING_COLUMNS$}"),
        _ => words,
    };
    let mut start = pen.put_right(row.right(), row.y, &words, style);
    if let Some(rows) = scene.undrawn_rows.get(&call.id).filter(|_| has_run(call)) {
        let note = format!("{} not read {} ", format_row_count(*rows, ""), glyphs.dot);
        start = pen.put_right(start, row.y, &note, theme.attention);
    }
    if row.width < SERVER_FROM {
        return start;
    }
    let gap = if words.is_empty() { 0 } else { 2 };
    let server = Clean::name(call.server.as_str());
    let columns = (width(server.as_str()) as u16).min(row.width / 4);
    let x = start.saturating_sub(columns + gap);
    pen.put_truncated(x, row.y, server.as_str(), theme.dim, columns);
    let Some(word) = call
        .permission
        .filter(|_| has_run(call))
        .map(permission_word)
    else {
        return x;
    };
    pen.put_right(x.saturating_sub(2), row.y, word, theme.attention)
}

/// Why a call ran without asking, in a word.
fn permission_word(permission: StandingPermission) -> &'static str {
    match permission {
        StandingPermission::AutoMode => "auto",
        StandingPermission::Session => "session",
        StandingPermission::Rule => "always",
        StandingPermission::CommandLine => "allowed",
    }
}

fn has_run(call: &ToolCall) -> bool {
    match &call.state {
        ToolState::Running { .. } => true,
        ToolState::Done(outcome) => outcome.elapsed().is_some(),
        _ => false,
    }
}

/// The mark before the call.
fn state_mark(scene: &RowContext, call: &ToolCall, pen: &Painter) -> (&'static str, Style) {
    let (glyphs, theme) = (pen.glyphs, pen.theme);
    let outcome = match &call.state {
        ToolState::Proposed => return (glyphs.dot, theme.dim),
        ToolState::AwaitingApproval => return ("?", theme.attention),
        ToolState::Running { .. } => {
            return (glyphs.spinner(scene.now.as_millis()), theme.accent);
        }
        ToolState::Done(outcome) => outcome,
    };
    match outcome {
        ToolOutcome::Succeeded { .. } | ToolOutcome::Reused { .. } => (glyphs.ok, theme.success),
        ToolOutcome::Failed { .. }
        | ToolOutcome::Unreachable { .. }
        | ToolOutcome::TimedOut { .. } => (glyphs.failed, theme.failure),
        ToolOutcome::WasText => (glyphs.dot, theme.dim),
        _ => (glyphs.refused, theme.refused),
    }
}

/// The time of a call, or the state in words.
fn state_label(scene: &RowContext, call: &ToolCall, pen: &Painter) -> (String, Style) {
    let theme = pen.theme;
    let outcome = match &call.state {
        ToolState::Proposed => return ("called".to_owned(), theme.dim),
        ToolState::AwaitingApproval => return ("waits for you".to_owned(), theme.attention),
        ToolState::Running { .. } => {
            let started = scene.timing.call_starts.get(&call.id);
            let since = started.copied().unwrap_or(scene.now);
            return (format_seconds(scene.now.saturating_sub(since)), theme.dim);
        }
        ToolState::Done(outcome) => outcome,
    };
    let (word, style) = match outcome {
        ToolOutcome::Succeeded { .. } => ("", theme.dim),
        ToolOutcome::Failed { .. } => ("failed ", theme.failure),
        ToolOutcome::Unreachable { .. } => ("unreachable ", theme.failure),
        ToolOutcome::TimedOut { .. } => ("timed out ", theme.failure),
        ToolOutcome::Refused => ("refused", theme.refused),
        ToolOutcome::Denied { .. } => ("denied", theme.refused),
        ToolOutcome::Never => ("never", theme.refused),
        ToolOutcome::Interrupted => ("interrupted", theme.refused),
        ToolOutcome::Cancelled { .. } => ("cancelled ", theme.refused),
        ToolOutcome::Reused { .. } => ("reused first result", theme.dim),
        ToolOutcome::NotRun { .. } => ("not run", theme.refused),
        ToolOutcome::WasText => ("treated as text", theme.dim),
    };
    let elapsed = outcome.elapsed().map(format_seconds).unwrap_or_default();
    (format!("{word}{elapsed}").trim_end().to_owned(), style)
}

/// `fetching forecast               ▕██████    ▏  60 %`. The bar is right-aligned so that
/// messages of different lengths do not move it.
pub fn draw_progress(call: &ToolCall, row: Rect, pen: &mut Painter) {
    let ToolState::Running {
        progress: Some(progress),
    } = &call.state
    else {
        return;
    };
    let dim = pen.theme.dim;
    let measure = progress_label(progress, row.width, pen);
    let start = pen.put_right(row.right(), row.y, &measure, dim);
    let message = Clean::single_line(progress.message.as_deref().unwrap_or_default());
    let columns = start.saturating_sub(row.x + 4);
    pen.put_truncated(row.x + 2, row.y, message.as_str().trim(), dim, columns);
}

fn progress_label(progress: &ToolProgress, columns: u16, pen: &Painter) -> String {
    let share = match progress.amount() {
        ProgressAmount::Fraction(share) => share,
        ProgressAmount::Count(count) => return format_count(count),
    };
    // Round down: 100 % appears only when the work is complete.
    let percent = (share * 100.0).floor();
    if columns < BAR_FROM {
        return format!("{percent:3.0} %");
    }
    let full = (share * BAR_COLUMNS as f64).round() as usize;
    let [left, right] = pen.glyphs.bar_ends;
    let bar = pen.glyphs.bar_full.repeat(full) + &" ".repeat(BAR_COLUMNS - full);
    format!("{left}{bar}{right} {percent:3.0} %")
}

/// A count whose unit only the server knows.
fn format_count(count: f64) -> String {
    if count >= 1e12 {
        return format!("{count:.1e}");
    }
    let words = format!("{count:.1}");
    words.strip_suffix(".0").unwrap_or(&words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_progress_is_drawn_as_zero() {
        let mut buffer = ratatui::buffer::Buffer::empty(Rect::new(0, 0, 30, 1));
        let model = crate::tui::UiModel::new(&Default::default(), (30, 1));
        let pen = Painter::new(&mut buffer, model.screen.theme, model.screen.glyphs);
        let progress = ToolProgress::new(-5.0, Some(10.0), None);
        assert_eq!(progress_label(&progress, 30, &pen), "▕          ▏   0 %");
        assert_eq!(progress_label(&progress, 20, &pen), "  0 %");
    }

    #[test]
    fn counts_stay_short() {
        let cases = [
            (0.0, "0"),
            (17.0, "17"),
            (2.56, "2.6"),
            (1_048_576.0, "1048576"),
            (1e300, "1.0e300"),
        ];
        for (count, words) in cases {
            assert_eq!(format_count(count), words);
        }
    }
}
