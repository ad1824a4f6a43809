//! The area of a layer: a popup that grows upward from the message editor, or everything between
//! the header and the editor. Both have a rule with the title at the top and no frame.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Minimum columns and rows of a window with a title.
const TITLE_SIZE_MIN: (u16, u16) = (24, 3);

/// The area below the title of a window.
pub fn content_area(area: Rect) -> Rect {
    match has_title(area) {
        true => below_title(area),
        false => area,
    }
}

fn has_title(area: Rect) -> bool {
    area.width >= TITLE_SIZE_MIN.0 && area.height >= TITLE_SIZE_MIN.1
}

/// The area below the first row, with margins.
pub fn below_title(area: Rect) -> Rect {
    let title_rows = area.height.min(1);
    Rect {
        x: area.x + area.width.min(1),
        y: area.y + title_rows,
        width: area.width.saturating_sub(2),
        height: area.height - title_rows,
    }
}

/// Clears `area` and draws the title, unless the area is too small for one. Returns the area for
/// the contents.
pub fn draw_window(area: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    if !has_title(area) {
        pen.clear(area);
        return area;
    }
    draw_titled(area, title, right, pen)
}

/// Clears `area` and draws the title, however few rows are left below it.
pub fn draw_titled(area: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    pen.clear(area);
    let line = Rect {
        height: area.height.min(1),
        ..area
    };
    let accent = pen.theme.accent;
    pen.rule(line, title, right, accent);
    below_title(area)
}
