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

/// Width of the label before a line of the trace.
const LABEL_WIDTH: u16 = 6;

pub fn draw_log(
    lines: &VecDeque<LogLine>,
    body: Rect,
    lines_from_end: &mut usize,
    pen: &mut Painter,
) {
    let (theme, area) = (pen.theme, draw_window(body, "Log", "", pen));
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
    draw_from_end(
        lines,
        count,
        area,
        lines_from_end,
        "No log entries yet.",
        pen,
    );
}

/// Draws the trace of the last answer, or an empty window until the engine has sent it. Wraps only
/// the lines that it needs to measure or draw.
pub fn draw_trace(
    lines: Option<&[TraceLine]>,
    body: Rect,
    scroll: &mut TraceScroll,
    pen: &mut Painter,
) {
    let area = draw_window(body, "Last answer", "", pen);
    let (plain, dim) = (pen.theme.plain, pen.theme.dim);
    let lines = match lines {
        None => return,
        Some([]) => {
            let placeholder = "No answer yet. This page will show the model's output as received, and how humble split it into parts.";
            pen.paragraph(area, &Clean::from_static(placeholder), dim);
            return;
        }
        Some(lines) => lines,
    };
    let rows = |line: &TraceLine| trace_rows(line, area.width);
    // The last page is full: scrolling ends there.
    let mut free_rows = usize::from(area.height);
    let fits = |line: &&TraceLine| {
        let row_count = rows(line).len();
        let fits = row_count <= free_rows;
        free_rows = free_rows.saturating_sub(row_count);
        fits
    };
    let last_page = lines.iter().rev().take_while(fits).count().max(1);
    scroll.top = scroll.top.min(lines.len().saturating_sub(last_page));
    let mut y = area.y;
    scroll.visible_lines = 0;
    for line in &lines[scroll.top..] {
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
        scroll.visible_lines += 1;
    }
}

/// Wraps a line. Its rows begin after the columns of the label, which only the first row of an
/// entry shows; a heading has none.
fn trace_rows(line: &TraceLine, columns: u16) -> Vec<String> {
    if line.kind == TraceKind::Heading {
        return wrapped_rows(&Clean::escaped(&line.text), columns);
    }
    let text_columns = columns.saturating_sub(LABEL_WIDTH).max(1);
    let mut rows = wrapped_rows(&Clean::escaped(&line.text), text_columns);
    if rows.is_empty() {
        rows.push(String::new());
    }
    let label = |index: usize| match (index, line.starts_entry) {
        (0, true) => line.kind.label(),
        _ => "",
    };
    let rows = rows.into_iter().enumerate();
    let width = usize::from(LABEL_WIDTH);
    rows.map(|(index, row)| format!("{:<width$}{row}", label(index)))
        .collect()
}
