//! Draws a tool call: tool and server on the left, state on the right. A running call with
//! progress gets a second row.

use crate::domain::progress::{ProgressAmount, ToolProgress};
use crate::domain::tool::{ToolCall, ToolOutcome, ToolState};
use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::chat::row_context::RowContext;
use crate::tui::widgets::numbers::{format_row_count, format_seconds};
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Width of the progress bar, and the row width from which it is drawn.
const BAR_COLUMNS: usize = 10;
const BAR_FROM: u16 = 24;
/// Minimum width for both names at which the server's name gets a share.
const SERVER_FROM: u16 = 20;
/// Columns reserved for the elapsed time of a running call.
const RUNNING_COLUMNS: u16 = 8;

/// `▸ get-sum  everything            ✓ 0.1 s`
pub fn draw(scene: &RowContext, call: &ToolCall, unfolded: bool, row: Rect, pen: &mut Painter) {
    let fold = match &call.state {
        ToolState::Running { .. } => pen.glyphs.spinner(scene.now.as_millis()),
        _ if unfolded => pen.glyphs.unfolded,
        _ => pen.glyphs.folded,
    };
    let (mut words, style) = state_label(scene, call, pen);
    if let Some(rows) = scene.undrawn_rows.get(&call.id).filter(|_| has_run(call)) {
        words = format!(
            "{} not read {} {words}",
            format_row_count(*rows, ""),
            pen.glyphs.dot
        );
    }
    let start = pen.put_right(row.right(), row.y, &words, style);
    // The elapsed time grows; the names to its left must not move.
    let start = match &call.state {
        ToolState::Running { .. } => start.min(row.right().saturating_sub(RUNNING_COLUMNS)),
        _ => start,
    };
    let tool = Clean::name(&call.tool);
    let server = Clean::name(call.server.as_str());
    pen.put(row.x, row.y, fold, pen.theme.dim, 1);
    let x = row.x + 2;
    let room = start.saturating_sub(x + 1);
    // Neither name may push the other off the row.
    let share = if room < SERVER_FROM { 0 } else { room / 3 };
    let server_columns = width(server.as_str()).min(usize::from(share)) as u16;
    let tool_columns = match server_columns {
        0 => room,
        columns => room.saturating_sub(columns + 2),
    };
    let used = pen.put_truncated(x, row.y, tool.as_str(), pen.theme.plain, tool_columns);
    let left = room.saturating_sub(used + 2);
    pen.put_truncated(x + used + 2, row.y, server.as_str(), pen.theme.dim, left);
}

fn has_run(call: &ToolCall) -> bool {
    match &call.state {
        ToolState::Running { .. } => true,
        ToolState::Done(outcome) => outcome.elapsed().is_some(),
        _ => false,
    }
}

fn state_label(scene: &RowContext, call: &ToolCall, pen: &Painter) -> (String, Style) {
    let (glyphs, theme) = (pen.glyphs, pen.theme);
    let done = match &call.state {
        ToolState::Proposed => return ("called".to_owned(), theme.dim),
        ToolState::AwaitingApproval => return ("waits for you".to_owned(), theme.attention),
        ToolState::Running { .. } => {
            let since = scene
                .timing
                .call_starts
                .get(&call.id)
                .copied()
                .unwrap_or(scene.now);
            return (format_seconds(scene.now.saturating_sub(since)), theme.dim);
        }
        ToolState::Done(outcome) => outcome,
    };
    let took = done.elapsed().map(format_seconds).unwrap_or_default();
    let (mark, word, style) = match done {
        ToolOutcome::Succeeded { .. } => (glyphs.ok, "", theme.success),
        ToolOutcome::Failed { .. } => (glyphs.failed, "failed ", theme.failure),
        ToolOutcome::Unreachable { .. } => (glyphs.failed, "unreachable ", theme.failure),
        ToolOutcome::TimedOut { .. } => (glyphs.failed, "timed out ", theme.failure),
        ToolOutcome::Refused => (glyphs.refused, "refused", theme.attention),
        ToolOutcome::Denied { .. } => (glyphs.refused, "denied", theme.attention),
        ToolOutcome::Never => (glyphs.refused, "never", theme.attention),
        ToolOutcome::Interrupted => (glyphs.refused, "interrupted", theme.attention),
        ToolOutcome::Cancelled { .. } => (glyphs.refused, "cancelled ", theme.attention),
        ToolOutcome::Reused { .. } => (glyphs.ok, "reused first result", theme.dim),
        ToolOutcome::NotRun { .. } => (glyphs.refused, "not run", theme.attention),
        ToolOutcome::WasText => (glyphs.dot, "treated as text", theme.dim),
    };
    (format!("{mark} {word}{took}").trim_end().to_owned(), style)
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
