//! Marks the words of a search in drawn text.

use crate::text::grapheme::width;
use crate::text::term_matches::term_matches;
use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;

/// Marks all matches in a text that was drawn in `line` after `prefix`.
pub fn mark_matches(line: Rect, prefix: &str, text: &str, terms: &[String], pen: &mut Painter) {
    let style = pen.theme.search_match;
    let indent = width(prefix);
    for found in term_matches(text, terms) {
        let start = indent + width(&text[..found.start]);
        let end = (start + width(&text[found])).min(line.width.into());
        if start < end {
            let marked = Rect {
                x: line.x + start as u16,
                width: (end - start) as u16,
                ..line
            };
            pen.set_style(marked, style);
        }
    }
}
