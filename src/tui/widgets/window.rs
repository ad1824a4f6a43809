//! The window of a layer.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// A gap of at most this many columns beside a window is filled by the window.
const STRIP_MAX: u16 = 8;

/// Draws a window for content of `size` at the upper left of `over`, with a frame if there
/// is room for one. Returns the inner area.
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
        // A narrower gap would only show fragments of words.
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

/// Draws a window over all of `over`, with a frame on larger screens. Returns the inner
/// area.
pub fn draw_full_window(over: Rect, title: &str, right: &str, pen: &mut Painter) -> Rect {
    if over.width >= 40 && over.height >= 8 {
        pen.frame(over, title, right, pen.theme.accent)
    } else {
        pen.clear(over);
        over
    }
}
