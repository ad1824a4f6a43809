//! The latest lines of the log, or of a server's stderr, read from their end.

use super::super::model::Model;
use super::lists::dialog;
use super::pen::{Pen, rows_of};
use crate::domain::{ServerId, ServerStatus};
use crate::text::Clean;
use ratatui::layout::Rect;
use ratatui::style::Style;

pub fn draw(model: &Model, over: Rect, back: &mut usize, pen: &mut Pen) {
    let (theme, area) = (
        pen.theme,
        dialog(over, "Log", "", (over.width, over.height), pen),
    );
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

pub fn draw_stderr(model: &Model, id: &ServerId, over: Rect, back: &mut usize, pen: &mut Pen) {
    let title = Clean::line(id.as_str());
    let area = dialog(
        over,
        title.as_str(),
        "stderr",
        (over.width, over.height),
        pen,
    );
    let Some(server) = model.sidebar.servers.iter().find(|server| server.id == *id) else {
        return;
    };
    let plain = pen.theme.plain;
    let why = match &server.status {
        ServerStatus::Failed(notice) => Some(notice.sentence()),
        ServerStatus::Misconfigured(why) => Some(why.clone()),
        _ => None,
    };
    let said = server.left_out.iter().cloned().chain(why);
    let mut lines: Vec<String> = server.stderr.iter().cloned().chain(said).collect();
    lines.reverse();
    let count = lines.len();
    let lines = lines.into_iter().map(|line| (line, plain));
    from_end(lines, count, area, back, "It wrote nothing.", pen);
}

/// Draws lines, newest first in `lines`, so that the newest stands lowest.
fn from_end(
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
