//! The area of a layer: a popup that grows upward from the message, or the whole screen above
//! it. Both have a rule with the title at the top and no frame.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// On smaller screens there is no title.
const TITLE_FROM: (u16, u16) = (24, 4);

/// The last rows of `over`.
pub fn bottom_rows(over: Rect, rows: u16) -> Rect {
    let height = rows.min(over.height);
    Rect {
        y: over.bottom() - height,
        height,
        ..over
    }
}

/// The area below the title of a window.
pub fn content_area(over: Rect) -> Rect {
    if over.width < TITLE_FROM.0 || over.height < TITLE_FROM.1 {
        return over;
    }
    Rect {
        x: over.x + 1,
        y: over.y + 1,
        width: over.width - 2,
        height: over.height - 1,
    }
}

/// Clears `over` and draws the title. Returns the area below it.
pub fn draw_window(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    let area = content_area(over);
    pen.clear(over);
    if area != over {
        let line = Rect { height: 1, ..over };
        let accent = pen.theme.accent;
        pen.rule(line, title, right, accent);
    }
    area
}
