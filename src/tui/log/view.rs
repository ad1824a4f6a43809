//! Draws the log, anchored at its end, and the trace of the last answer.

use crate::domain::reply_trace::{TraceKind, TraceLine};
use crate::protocol::LogLine;
use crate::text::Clean;
use crate::tui::log::state::TraceScroll;
use crate::tui::widgets::log_tail::draw_from_end;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use crate::tui::widgets::window::draw_window;
use ratatui::layout::Rect;
use std::collections::VecDeque;

/// Columns of the label before a line of the trace.
const LABEL_WIDTH: u16 = 6;

pub fn draw_log(lines: &VecDeque<LogLine>, over: Rect, back: &mut usize, pen: &mut Painter) {
    let (theme, area) = (pen.theme, draw_window(over, "Log", "Tab last answer", pen));
    let count = lines.len();
    let lines = lines.iter().rev().map(|line| {
        let style = match line.level {
            tracing::Level::ERROR => theme.failure,
            tracing::Level::WARN => theme.attention,
            tracing::Level::INFO => theme.plain,
            _ => theme.dim,
        };
        (format!("{:5} {}", line.level, line.text), style)
    });
    draw_from_end(lines, count, area, back, "No log entries yet.", pen);
}

/// Draws the trace of the last answer; an empty window until the engine has sent it. Wraps
/// only visible lines.
pub fn draw_trace(
    lines: Option<&[TraceLine]>,
    over: Rect,
    page: &mut TraceScroll,
    pen: &mut Painter,
) {
    let area = draw_window(over, "Last answer", "Tab log", pen);
    let (plain, dim) = (pen.theme.plain, pen.theme.dim);
    let lines = match lines {
        None => return,
        Some([]) => {
            let nothing = "No answer yet. This page will show the model's output as received, and how humble split it into parts.";
            pen.paragraph(area, &Clean::from_static(nothing), dim);
            return;
        }
        Some(lines) => lines,
    };
    let rows = |line: &TraceLine| trace_rows(line, area.width);
    // Scrolling ends at a full last page.
    let mut room = usize::from(area.height);
    let fits = |line: &&TraceLine| {
        let rows = rows(line).len();
        let fits = rows <= room;
        room = room.saturating_sub(rows);
        fits
    };
    let last_page = lines.iter().rev().take_while(fits).count().max(1);
    page.top = page.top.min(lines.len().saturating_sub(last_page));
    let mut y = area.y;
    page.shown = 0;
    for line in &lines[page.top..] {
        let style = match line.kind {
            TraceKind::Heading => pen.theme.accent,
            TraceKind::Text => plain,
            TraceKind::Thinking | TraceKind::Markup => dim,
            TraceKind::Call => pen.theme.success,
            TraceKind::InvalidCall => pen.theme.failure,
            TraceKind::Note => pen.theme.attention,
        };
        for row in rows(line) {
            if y >= area.bottom() {
                return;
            }
            pen.put(area.x, y, &row, style, area.width);
            y += 1;
        }
        page.shown += 1;
    }
}

/// Wraps a line with a hanging indent below its text, after the label.
fn trace_rows(line: &TraceLine, columns: u16) -> Vec<String> {
    if line.kind == TraceKind::Heading {
        return wrapped_rows(&Clean::escaped(&line.text), columns);
    }
    let room = columns.saturating_sub(LABEL_WIDTH).max(1);
    let mut rows = wrapped_rows(&Clean::escaped(&line.text), room);
    if rows.is_empty() {
        rows.push(String::new());
    }
    let label = |at: usize| match (at, line.starts_entry) {
        (0, true) => line.kind.label(),
        _ => "",
    };
    let rows = rows.into_iter().enumerate();
    let width = usize::from(LABEL_WIDTH);
    rows.map(|(at, row)| format!("{:<width$}{row}", label(at)))
        .collect()
}
