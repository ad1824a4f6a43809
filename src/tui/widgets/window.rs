//! The window that a layer draws itself in.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Columns beside a window that are given to it rather than left.
const STRIP_MAX: u16 = 8;

/// A window of this content, at the upper left of `over`, with its frame where there is
/// room for one. Returns the area inside.
pub fn draw_window(
    over: Rect,
    title: &str,
    right: &str,
    size: (u16, u16),
    pen: &mut Painter,
) -> Rect {
    let framed = over.width >= 24 && over.height >= 6;
    let margin = if framed { (4, 2) } else { (0, 0) };
    let area = Rect {
        // A strip too narrow to read would only show halves of words.
        width: match size.0 + margin.0 {
            width if width + STRIP_MAX >= over.width => over.width,
            width => width,
        },
        height: (size.1 + margin.1).min(over.height),
        ..over
    };
    if framed {
        let style = pen.theme.accent;
        pen.frame(area, title, right, style)
    } else {
        pen.clear(over);
        over
    }
}

/// A window that takes all of `over`, and is framed from this size on.
pub fn draw_full_window(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    if over.width >= 40 && over.height >= 8 {
        pen.frame(over, title, right, pen.theme.accent)
    } else {
        pen.clear(over);
        over
    }
}
