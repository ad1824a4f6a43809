//! The area of a layer: a popup that grows upward from the message, or the whole screen above
//! it. Both have a rule with the title at the top and no frame.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// On smaller screens there is no title.
const TITLE_FROM: (u16, u16) = (24, 3);

/// The area below the title of a window.
pub fn content_area(over: Rect) -> Rect {
    match has_title(over) {
        true => below_title(over),
        false => over,
    }
}

fn has_title(over: Rect) -> bool {
    over.width >= TITLE_FROM.0 && over.height >= TITLE_FROM.1
}

/// The area below the first row, with margins.
pub fn below_title(over: Rect) -> Rect {
    let title_rows = over.height.min(1);
    Rect {
        x: over.x + over.width.min(1),
        y: over.y + title_rows,
        width: over.width.saturating_sub(2),
        height: over.height - title_rows,
    }
}

/// Clears `over` and draws the title, unless the screen is small. Returns the area below it.
pub fn draw_window(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    if !has_title(over) {
        pen.clear(over);
        return over;
    }
    draw_titled(over, title, right, pen)
}

/// Clears `over` and draws the title, however few rows are left below it.
pub fn draw_titled(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    pen.clear(over);
    let line = Rect {
        height: over.height.min(1),
        ..over
    };
    let accent = pen.theme.accent;
    pen.rule(line, title, right, accent);
    below_title(over)
}
