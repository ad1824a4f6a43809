//! One visible row of a list, with its selection mark.

use crate::tui::widgets::painter::Painter;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Columns of the selection mark and the blank after it.
pub const MARK_COLUMNS: u16 = 2;

#[derive(Debug, Clone, Copy)]
pub struct ListRow {
    pub index: usize,
    pub is_selected: bool,
    pub line: Rect,
    /// The selection mark, or a blank.
    pub mark: &'static str,
    pub style: Style,
}

/// The visible rows of a list of `count`, from `first` on.
pub fn rows_in_view(
    count: usize,
    selected: Option<usize>,
    first: usize,
    area: Rect,
    pen: &Painter,
) -> impl Iterator<Item = ListRow> + use<> {
    let (cursor, accent, plain) = (pen.glyphs.cursor, pen.theme.accent, pen.theme.plain);
    (area.top()..area.bottom())
        .zip(first..count)
        .map(move |(y, index)| {
            let is_selected = selected == Some(index);
            ListRow {
                index,
                is_selected,
                line: Rect {
                    y,
                    height: 1,
                    ..area
                },
                mark: if is_selected { cursor } else { " " },
                style: if is_selected { accent } else { plain },
            }
        })
}

impl ListRow {
    /// The same row drawn as unselected.
    pub fn unselected(self, pen: &Painter) -> Self {
        Self {
            is_selected: false,
            mark: " ",
            style: pen.theme.plain,
            ..self
        }
    }

    pub fn put_mark(&self, pen: &mut Painter) {
        pen.put(self.line.x, self.line.y, self.mark, self.style, 1);
    }

    /// The row without the selection mark.
    pub fn text_area(&self) -> Rect {
        let taken = MARK_COLUMNS.min(self.line.width);
        Rect {
            x: self.line.x + taken,
            width: self.line.width - taken,
            ..self.line
        }
    }
}
