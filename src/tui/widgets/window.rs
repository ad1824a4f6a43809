//! The area of a layer: a popup that grows upward from the message, or the whole screen above
//! it. Both have a rule with the title at the top and no frame.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// On smaller screens there is no title.
const TITLE_FROM: (u16, u16) = (24, 6);

/// Draws a popup with room for `rows` at the bottom of `over`. Returns the area of its rows.
pub fn draw_popup(over: Rect, title: &str, right: &str, rows: u16, pen: &mut Painter) -> Rect {
    let has_title = over.width >= TITLE_FROM.0 && over.height >= TITLE_FROM.1;
    let wanted = rows.saturating_add(u16::from(has_title));
    let height = if has_title {
        wanted.min(over.height)
    } else {
        over.height
    };
    let area = Rect {
        y: over.bottom() - height,
        height,
        ..over
    };
    draw_titled(area, has_title, title, right, pen)
}

/// Draws over all of `over`. Returns the area below the title.
pub fn draw_full_window(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    let has_title = over.width >= TITLE_FROM.0 && over.height >= TITLE_FROM.1;
    draw_titled(over, has_title, title, right, pen)
}

fn draw_titled(area: Rect, has_title: bool, title: &str, right: &str, pen: &mut Painter) -> Rect {
    pen.clear(area);
    if !has_title {
        return area;
    }
    let line = Rect { height: 1, ..area };
    let accent = pen.theme.accent;
    pen.rule(line, title, right, accent);
    Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width - 2,
        height: area.height - 1,
    }
}
