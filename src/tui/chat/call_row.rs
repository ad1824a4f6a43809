//! Draws a tool call in one row: tool, arguments and outcome on the left, server and time on
//! the right. A running call with progress gets a second row.

use crate::domain::progress::{ProgressAmount, ToolProgress};
use crate::domain::tool::{StandingPermission, ToolCall, ToolOutcome, ToolState};
use crate::front_end::call_summary::{argument_summary, outcome_summary};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::text::numbers::{format_row_count, format_seconds};
use crate::tui::chat::row_context::RowContext;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

const BAR_COLUMNS: usize = 10;
/// Minimum row width at which the progress bar is drawn.
const BAR_ROW_COLUMNS_MIN: u16 = 24;
/// Minimum row width at which the server's name is shown.
const SERVER_ROW_COLUMNS_MIN: u16 = 40;
/// Columns reserved for the elapsed time of a running call.
const RUNNING_COLUMNS: usize = 6;

/// `✓ get-sum  17, 25 → 42                     everything  0.1 s`
pub fn draw(context: &RowContext, call: &ToolCall, row: Rect, pen: &mut Painter) {
    let (mark, style) = state_mark(context, call, pen);
    pen.put(row.x, row.y, mark, style, 1);
    if context.asked_call == Some(call.id) && row.x > 0 {
        let (cursor, accent) = (pen.glyphs.cursor, pen.theme.accent);
        pen.put(row.x - 1, row.y, cursor, accent, 1);
    }
    let x = row.x + 2;
    let right_start = draw_right(context, call, row, pen);
    let columns = right_start.saturating_sub(x + 2);
    let tool = Clean::name(&call.tool);
    let used = pen.put_truncated(x, row.y, tool.as_str(), pen.theme.plain, columns);
    let (x, columns) = (x + used + 2, columns.saturating_sub(used + 2));
    let arguments = argument_summary(&call.arguments);
    // Below eight columns, the arguments take the whole width.
    let outcome = outcome_summary(call).filter(|_| columns >= 8);
    let outcome_columns = outcome.as_deref().map_or(0, |text| width(text) + 3) as u16;
    let argument_columns = columns.saturating_sub(outcome_columns.min(columns / 2));
    let dim = pen.theme.dim;
    let used = pen.put_truncated(x, row.y, &arguments, dim, argument_columns);
    let Some(outcome) = outcome else { return };
    // The summary of a successful call is its result; every other summary is a reason.
    let is_reason = !matches!(&call.state, ToolState::Done(ToolOutcome::Succeeded { .. }));
    let separator = match (is_reason, used) {
        (false, 0) => format!("{} ", pen.glyphs.result),
        (false, _) => format!(" {} ", pen.glyphs.result),
        (true, 0) => String::new(),
        (true, _) => "  ".to_owned(),
    };
    let (x, columns) = (x + used, columns.saturating_sub(used));
    let used = pen.put_truncated(x, row.y, &separator, dim, columns);
    let style = if is_reason { style } else { pen.theme.plain };
    let columns = columns.saturating_sub(used);
    pen.put_truncated(x + used, row.y, &outcome, style, columns);
}

/// Draws the permission that let the call run without asking, the server, the number of rows that
/// were not read, and the call's time or state. Returns the column at which they start.
fn draw_right(context: &RowContext, call: &ToolCall, row: Rect, pen: &mut Painter) -> u16 {
    let (theme, glyphs) = (pen.theme, pen.glyphs);
    let (label, style) = state_label(context, call, pen);
    // The elapsed time gets wider; the text to its left must not move.
    let label = match &call.state {
        ToolState::Running { .. } => format!("{label:>RUNNING_COLUMNS$}"),
        _ => label,
    };
    let mut start = pen.put_right(row.right(), row.y, &label, style);
    if let Some(rows) = context
        .undrawn_rows
        .get(&call.id)
        .filter(|_| has_started(call))
    {
        let note = format!("{} not read {} ", format_row_count(*rows, ""), glyphs.dot);
        start = pen.put_right(start, row.y, &note, theme.attention);
    }
    if row.width < SERVER_ROW_COLUMNS_MIN {
        return start;
    }
    let gap = if label.is_empty() { 0 } else { 2 };
    let server = Clean::name(call.server.as_str());
    let columns = (width(server.as_str()) as u16).min(row.width / 4);
    let x = start.saturating_sub(columns + gap);
    pen.put_truncated(x, row.y, server.as_str(), theme.dim, columns);
    let Some(word) = call
        .permission
        .filter(|_| has_started(call))
        .map(permission_word)
    else {
        return x;
    };
    pen.put_right(x.saturating_sub(2), row.y, word, theme.attention)
}

fn permission_word(permission: StandingPermission) -> &'static str {
    match permission {
        StandingPermission::AutoMode => "auto",
        StandingPermission::Session => "session",
        StandingPermission::Rule => "always",
        StandingPermission::CommandLine => "allowed",
        StandingPermission::ToolSearch => "built in",
    }
}

fn has_started(call: &ToolCall) -> bool {
    match &call.state {
        ToolState::Running { .. } => true,
        ToolState::Done(outcome) => outcome.elapsed().is_some(),
        _ => false,
    }
}

fn state_mark(context: &RowContext, call: &ToolCall, pen: &Painter) -> (&'static str, Style) {
    let (glyphs, theme) = (pen.glyphs, pen.theme);
    let outcome = match &call.state {
        ToolState::Proposed => return (glyphs.dot, theme.dim),
        ToolState::AwaitingApproval => return ("?", theme.attention),
        ToolState::Running { .. } => {
            return (glyphs.spinner(context.now.as_millis()), theme.accent);
        }
        ToolState::Done(outcome) => outcome,
    };
    match outcome {
        ToolOutcome::Succeeded { .. } | ToolOutcome::Reused { .. } => (glyphs.ok, theme.success),
        ToolOutcome::Failed { .. }
        | ToolOutcome::Unreachable { .. }
        | ToolOutcome::TimedOut { .. } => (glyphs.failed, theme.failure),
        ToolOutcome::WasText | ToolOutcome::Left { .. } => (glyphs.dot, theme.dim),
        _ => (glyphs.refused, theme.refused),
    }
}

/// The state of a decided call while the dialog still asks about others.
fn decided_label(runs: bool) -> &'static str {
    match runs {
        true => "approved, not yet run",
        false => "will not run",
    }
}

fn state_label(context: &RowContext, call: &ToolCall, pen: &Painter) -> (String, Style) {
    let theme = pen.theme;
    let outcome = match &call.state {
        ToolState::Proposed => return ("called".to_owned(), theme.dim),
        ToolState::AwaitingApproval => {
            let decided = context.decided_calls.iter().find(|(id, _)| *id == call.id);
            return match decided {
                Some((_, runs)) => (decided_label(*runs).to_owned(), theme.dim),
                None => ("waits for you".to_owned(), theme.attention),
            };
        }
        ToolState::Running { .. } => {
            let started_at = context.timing.call_starts.get(&call.id);
            let started_at = started_at.copied().unwrap_or(context.now);
            let elapsed = context.now.saturating_sub(started_at);
            return (format_seconds(elapsed), theme.dim);
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
        ToolOutcome::Interrupted => ("may have run", theme.attention),
        ToolOutcome::Cancelled { .. } => ("cancelled ", theme.refused),
        ToolOutcome::Left { .. } => ("left running ", theme.attention),
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
    // A task without a count has a status, which is the message.
    let is_uncounted = call.task.is_some() && progress.amount() == ProgressAmount::Count(0.0);
    let label = match is_uncounted {
        true => "task".to_owned(),
        false => progress_label(progress, row.width, pen),
    };
    let start = pen.put_right(row.right(), row.y, &label, dim);
    let message = Clean::single_line(progress.message.as_deref().unwrap_or_default());
    let columns = start.saturating_sub(row.x + 4);
    pen.put_truncated(row.x + 2, row.y, message.as_str().trim(), dim, columns);
}

fn progress_label(progress: &ToolProgress, columns: u16, pen: &Painter) -> String {
    let fraction = match progress.amount() {
        ProgressAmount::Fraction(fraction) => fraction,
        ProgressAmount::Count(count) => return format_count(count),
    };
    // Round down: 100 % appears only when the work is complete.
    let percent = (fraction * 100.0).floor();
    if columns < BAR_ROW_COLUMNS_MIN {
        return format!("{percent:3.0} %");
    }
    let full = (fraction * BAR_COLUMNS as f64).round() as usize;
    let [left, right] = pen.glyphs.bar_ends;
    let bar = pen.glyphs.bar_full.repeat(full) + &" ".repeat(BAR_COLUMNS - full);
    format!("{left}{bar}{right} {percent:3.0} %")
}

/// Formats a count of unknown unit.
fn format_count(count: f64) -> String {
    if count >= 1e12 {
        return format!("{count:.1e}");
    }
    let text = format!("{count:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
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
    fn progress_counts_stay_short() {
        let cases = [
            (0.0, "0"),
            (17.0, "17"),
            (2.56, "2.6"),
            (1_048_576.0, "1048576"),
            (1e300, "1.0e300"),
        ];
        for (count, expected) in cases {
            assert_eq!(format_count(count), expected);
        }
    }
}
