//! The latest lines of the log, or of a server's stderr, read from their end; and what
//! the last answer was made of, read from its beginning.

use crate::domain::trace::{TraceLine, TraceSort};
use crate::text::Clean;
use crate::tui::log::state::{LogPane, LogTab};
use crate::tui::model::Model;
use crate::tui::widgets::list::dialog;
use crate::tui::widgets::painter::{Pen, rows_of};
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Columns of what stands before a line of the last answer.
const LABEL_WIDTH: u16 = 6;

pub fn draw(model: &Model, over: Rect, pane: &mut LogPane, pen: &mut Pen) {
    match pane.tab {
        LogTab::Log => draw_log(model, over, &mut pane.back, pen),
        LogTab::LastAnswer => draw_trace(model, over, pane, pen),
    }
}

fn draw_log(model: &Model, over: Rect, back: &mut usize, pen: &mut Pen) {
    let size = (over.width, over.height);
    let (theme, area) = (pen.theme, dialog(over, "Log", "Tab last answer", size, pen));
    let lines = model.log.iter().rev().map(|line| {
        let style = match line.level {
            tracing::Level::ERROR => theme.failure,
            tracing::Level::WARN => theme.attention,
            tracing::Level::INFO => theme.plain,
            _ => theme.dim,
        };
        (format!("{:5} {}", line.level, line.text), style)
    });
    from_end(
        lines,
        model.log.len(),
        area,
        back,
        "Nothing was logged yet.",
        pen,
    );
}

/// What the last answer was made of, from its beginning. Only what is in view is
/// wrapped.
fn draw_trace(model: &Model, over: Rect, pane: &mut LogPane, pen: &mut Pen) {
    let size = (over.width, over.height);
    let area = dialog(over, "Last answer", "Tab log", size, pen);
    let (plain, dim) = (pen.theme.plain, pen.theme.dim);
    let lines = match &model.trace {
        None => return,
        Some(lines) if lines.is_empty() => {
            let nothing = "There is no answer yet. What the model sends will be shown here as it came, with the pieces it was cut into.";
            pen.paragraph(area, &Clean::own(nothing), dim);
            return;
        }
        Some(lines) => lines,
    };
    let rows = |line: &TraceLine| trace_rows(line, area.width);
    // The last page is the last that can be shown.
    let mut room = usize::from(area.height);
    let fits = |line: &&TraceLine| {
        let rows = rows(line).len();
        let fits = rows <= room;
        room = room.saturating_sub(rows);
        fits
    };
    let last_page = lines.iter().rev().take_while(fits).count().max(1);
    pane.top = pane.top.min(lines.len().saturating_sub(last_page));
    let mut y = area.y;
    pane.shown = 0;
    for line in &lines[pane.top..] {
        let style = match line.sort {
            TraceSort::Heading => pen.theme.accent,
            TraceSort::Text => plain,
            TraceSort::Thinking | TraceSort::Mark => dim,
            TraceSort::Call => pen.theme.success,
            TraceSort::Unusable => pen.theme.failure,
            TraceSort::Note => pen.theme.attention,
        };
        for row in rows(line) {
            if y >= area.bottom() {
                return;
            }
            pen.put(area.x, y, &row, style, area.width);
            y += 1;
        }
        pane.shown += 1;
    }
}

/// What a line goes on with stands below its text, not below its label.
fn trace_rows(line: &TraceLine, columns: u16) -> Vec<String> {
    if line.sort == TraceSort::Heading {
        return rows_of(&Clean::spelt_out(&line.text), columns);
    }
    let room = columns.saturating_sub(LABEL_WIDTH).max(1);
    let mut rows = rows_of(&Clean::spelt_out(&line.text), room);
    if rows.is_empty() {
        rows.push(String::new());
    }
    let label = |at: usize| match (at, line.begins) {
        (0, true) => line.sort.label(),
        _ => "",
    };
    let rows = rows.into_iter().enumerate();
    let width = usize::from(LABEL_WIDTH);
    rows.map(|(at, row)| format!("{:<width$}{row}", label(at)))
        .collect()
}

/// Draws lines, newest first in `lines`, so that the newest stands lowest.
pub fn from_end(
    lines: impl Iterator<Item = (String, Style)>,
    count: usize,
    area: Rect,
    back: &mut usize,
    nothing: &'static str,
    pen: &mut Pen,
) {
    *back = (*back).min(count.saturating_sub(1));
    if count == 0 {
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::own(nothing), dim);
    }
    let mut y = area.bottom();
    for (line, style) in lines.skip(*back) {
        for row in rows_of(&Clean::line(&line), area.width).iter().rev() {
            if y <= area.y {
                return;
            }
            y -= 1;
            pen.put(area.x, y, row, style, area.width);
        }
    }
}
