//! Writes text into the buffer by grapheme cluster, so that cell widths match the widths
//! used for wrapping. Ignores what lies outside the buffer.

use crate::text::Clean;
use crate::text::grapheme::{
    cluster_end, cluster_width, clusters_forward, truncate_to_width, width,
};
use crate::text::markdown::StyledRow;
use crate::text::styled_line::StyledLine;
pub use crate::text::wrap::wrapped_rows;
use crate::tui::theme::{Glyphs, Theme};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;

pub struct Painter<'a> {
    buffer: &'a mut Buffer,
    pub theme: Theme,
    pub glyphs: Glyphs,
}

impl<'a> Painter<'a> {
    pub fn new(buffer: &'a mut Buffer, theme: Theme, glyphs: Glyphs) -> Self {
        Self {
            buffer,
            theme,
            glyphs,
        }
    }

    /// Writes at most `columns` columns of a line in several styles.
    pub fn put_styled_line(&mut self, x: u16, y: u16, line: &StyledLine, columns: u16) {
        let (mut x, mut left) = (x, columns);
        for (text, style) in line.pieces() {
            let style = self.theme.text_style(*style);
            let used = self.put(x, y, text, style, left);
            (x, left) = (x + used, left - used);
        }
    }

    /// Writes at most `columns` columns of clean text and returns the columns used. Omits a
    /// wide cluster that does not fit.
    pub fn put(&mut self, x: u16, y: u16, text: &str, style: Style, columns: u16) -> u16 {
        let cells = self.row_cells(x, y, columns);
        let mut at = 0;
        for cluster in clusters_forward(text) {
            let width = cluster_width(cluster);
            if width == 0 {
                continue;
            }
            let Some(covered) = cells.get_mut(at..at + width) else {
                break;
            };
            if let [first, rest @ ..] = covered {
                first.set_symbol(cluster).set_style(style);
                for cell in rest {
                    cell.reset();
                    cell.set_style(style);
                }
            }
            at += width;
        }
        at as u16
    }

    /// At most `columns` cells of row `y` from `x` on.
    fn row_cells(&mut self, x: u16, y: u16, columns: u16) -> &mut [Cell] {
        let area = self.buffer.area;
        let end = x.saturating_add(columns).min(area.right());
        if y < area.top() || y >= area.bottom() || x >= end || x < area.left() {
            return &mut [];
        }
        let start = self.buffer.index_of(x, y);
        &mut self.buffer.content[start..start + usize::from(end - x)]
    }

    /// Writes a laid-out row; each cluster gets the style at its start.
    pub fn put_line(&mut self, x: u16, y: u16, line: StyledRow, base: Style, columns: u16) {
        let dim = base.patch(self.theme.dim);
        let used = self.put(x, y, line.prefix, dim, columns);
        let (mut x, mut columns) = (x + used, columns - used);
        let mut spans = line.style_spans().peekable();
        let Some(_) = spans.peek() else {
            self.put(x, y, line.text, base, columns);
            return;
        };
        let mut at = 0;
        for (end, text_style) in spans {
            // A cluster that crosses the end of a span is drawn whole.
            let end = cluster_end(line.text, end.min(line.text.len()));
            if at < end {
                let style = base.patch(self.theme.text_style(text_style));
                let used = self.put(x, y, &line.text[at..end], style, columns);
                (x, columns) = (x + used, columns - used);
                at = end;
            }
            if at == line.text.len() {
                break;
            }
        }
    }

    /// Like [`Self::put`], but marks truncated text.
    pub fn put_truncated(&mut self, x: u16, y: u16, text: &str, style: Style, columns: u16) -> u16 {
        if width(text) <= usize::from(columns) {
            return self.put(x, y, text, style, columns);
        }
        let kept = truncate_to_width(text, usize::from(columns.saturating_sub(1)));
        let used = self.put(x, y, kept, style, columns);
        used + self.put(x + used, y, self.glyphs.more, style, columns - used)
    }

    /// Like [`Self::put_truncated`], but cuts after a whole word if there is one.
    pub fn put_words(&mut self, x: u16, y: u16, text: &str, style: Style, columns: u16) -> u16 {
        if width(text) <= usize::from(columns) {
            return self.put(x, y, text, style, columns);
        }
        let kept = truncate_to_width(text, usize::from(columns.saturating_sub(1)));
        let ends_word = text[kept.len()..].starts_with(' ');
        let last_blank = kept.rfind(' ').filter(|_| !ends_word);
        let kept = kept[..last_blank.unwrap_or(kept.len())].trim_end();
        let used = self.put(x, y, kept, style, columns);
        used + self.put(x + used, y, self.glyphs.more, style, columns - used)
    }

    /// Writes right-aligned text ending at `right` and returns its start column.
    pub fn put_right(&mut self, right: u16, y: u16, text: &str, style: Style) -> u16 {
        let columns = width(text) as u16;
        let x = right.saturating_sub(columns);
        self.put(x, y, text, style, columns);
        x
    }

    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for y in area.top()..area.bottom() {
            self.row_cells(area.x, y, area.width).fill(Cell::EMPTY);
        }
        // A wide cluster reaching into the area has lost its right half.
        if area.left() > self.buffer.area.left() {
            for y in area.top()..area.bottom() {
                let cell = &mut self.buffer[(area.left() - 1, y)];
                if cluster_width(cell.symbol()) > 1 {
                    cell.reset();
                }
            }
        }
    }

    /// The text of one row of cells.
    pub fn row_text(&self, row: Rect) -> String {
        let row = row.intersection(self.buffer.area);
        let mut text = String::new();
        let mut x = row.left();
        while x < row.right() && row.height > 0 {
            let symbol = self.buffer[(x, row.y)].symbol();
            text.push_str(symbol);
            x += cluster_width(symbol).max(1) as u16;
        }
        text
    }

    pub fn set_style(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area, style);
    }

    /// Draws the heading of a section in the first row of `area`.
    pub fn heading(&mut self, area: Rect, title: &str, right: &str, has_focus: bool) {
        if area.height == 0 {
            return;
        }
        let style = if has_focus {
            self.theme.accent
        } else {
            self.theme.bold
        };
        let start = self.put_right(area.right(), area.y, right, self.theme.dim);
        let columns = start.saturating_sub(area.x + 1);
        self.put_truncated(area.x, area.y, title, style, columns);
    }

    /// Draws a rule with a title at its left and a note at its right, each between two blanks.
    pub fn rule(&mut self, line: Rect, title: &str, right: &str, title_style: Style) {
        let dim = self.theme.dim;
        let across = self.glyphs.horizontal_line;
        for x in line.left()..line.right() {
            self.put(x, line.y, across, dim, 1);
        }
        let lead = 2.min(line.width);
        let mut end = line.right().saturating_sub(1);
        let right_columns = width(right) as u16 + 2;
        let title_columns = width(title) as u16 + 2;
        let room = line.width.saturating_sub(lead + 1);
        if !right.is_empty() && (title.is_empty() || title_columns + right_columns < room) {
            end = self.put_right(end, line.y, &format!(" {right} "), dim);
        }
        if !title.is_empty() {
            let columns = end.saturating_sub(line.x + lead);
            let title = format!(" {title} ");
            self.put_truncated(line.x + lead, line.y, &title, title_style, columns);
        }
    }

    /// Draws clean text, wrapped into at most `area.height` rows. Returns the number of rows used.
    pub fn paragraph(&mut self, area: Rect, text: &Clean, style: Style) -> u16 {
        let mut used = 0;
        for row in wrapped_rows(text, area.width)
            .into_iter()
            .take(area.height.into())
        {
            self.put(area.x, area.y + used, &row, style, area.width);
            used += 1;
        }
        used
    }
}

/// Escapes newlines, so that a name cannot look like two lines.
pub fn single_line(raw: &str) -> Clean {
    Clean::escaped_line(raw)
}
