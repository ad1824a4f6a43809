//! The area of a layer: a popup that grows upward from the message, or the whole screen above
//! it. Both have a rule with the title at the top and no frame.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// On smaller screens there is no title.
const TITLE_FROM: (u16, u16) = (24, 4);

/// Clears `over` and draws the title. Returns the area below it.
pub fn draw_window(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    let has_title = over.width >= TITLE_FROM.0 && over.height >= TITLE_FROM.1;
    pen.clear(over);
    if !has_title {
        return over;
    }
    let line = Rect { height: 1, ..over };
    let accent = pen.theme.accent;
    pen.rule(line, title, right, accent);
    Rect {
        x: over.x + 1,
        y: over.y + 1,
        width: over.width - 2,
        height: over.height - 1,
    }
}
