//! Draws logs with the newest line at the bottom, or all lines from the top if they fit.

use crate::text::Clean;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws `count` lines, which `lines` yields newest first. `lines_below` is the number of newest
/// lines below the view. Without lines, draws `placeholder`.
pub fn draw_from_end(
    lines: impl Iterator<Item = (String, Style)>,
    count: usize,
    area: Rect,
    lines_below: &mut usize,
    placeholder: &'static str,
    pen: &mut Painter,
) {
    *lines_below = (*lines_below).min(count.saturating_sub(1));
    if count == 0 {
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::from_static(placeholder), dim);
    }
    let height = usize::from(area.height);
    let mut newest_first = Vec::new();
    for (line, style) in lines.skip(*lines_below) {
        let rows = wrapped_rows(&Clean::single_line(&line), area.width);
        newest_first.extend(rows.into_iter().rev().map(|row| (row, style)));
        if newest_first.len() >= height {
            break;
        }
    }
    newest_first.truncate(height);
    for (y, (row, style)) in (area.y..).zip(newest_first.iter().rev()) {
        pen.put(area.x, y, row, *style, area.width);
    }
}
