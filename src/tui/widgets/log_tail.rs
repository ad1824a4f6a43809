//! Draws logs, newest line at the bottom.

use crate::text::Clean;
use crate::tui::widgets::painter::{Painter, wrapped_rows};
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws `lines`, which are ordered newest first, with the newest at the bottom.
pub fn draw_from_end(
    lines: impl Iterator<Item = (String, Style)>,
    count: usize,
    area: Rect,
    back: &mut usize,
    nothing: &'static str,
    pen: &mut Painter,
) {
    *back = (*back).min(count.saturating_sub(1));
    if count == 0 {
        let dim = pen.theme.dim;
        pen.paragraph(area, &Clean::from_static(nothing), dim);
    }
    let mut y = area.bottom();
    for (line, style) in lines.skip(*back) {
        for row in wrapped_rows(&Clean::single_line(&line), area.width)
            .iter()
            .rev()
        {
            if y <= area.y {
                return;
            }
            y -= 1;
            pen.put(area.x, y, row, style, area.width);
        }
    }
}
