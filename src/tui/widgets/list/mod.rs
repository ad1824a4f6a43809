//! The list that all popups share: a title with the count, a filter, and rows, one of which is
//! selected. Letters go to the filter, or after Tab to the rows.

mod count;
mod hints;
mod row;

pub use crate::tui::widgets::list::count::ListCount;
pub use crate::tui::widgets::list::hints::ROW_HINT_PREFIX;
pub use crate::tui::widgets::list::row::{ListRow, MARK_COLUMNS, rows_in_view};

use crate::text::Clean;
use crate::text::grapheme::width;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::Handled;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crate::tui::widgets::window::{content_area, draw_window};
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

/// The title of a list, the number of rows without a filter, and the text of a list that is empty
/// without a filter.
#[derive(Debug, Clone, Copy)]
pub struct ListTitle<'a> {
    pub title: &'a str,
    pub total: usize,
    pub empty: &'a str,
    /// `empty` also explains a filtered list that is empty, because the rows are still being loaded or
    /// the filter is invalid.
    pub shows_empty_when_filtered: bool,
}

/// A filter and the selection among the rows that match it.
#[derive(Debug, Default)]
pub struct SearchList {
    filter: Editor,
    placeholder: &'static [&'static str],
    selected: usize,
    has_row_focus: bool,
    /// First visible row.
    top: usize,
    /// The selectable rows that the last frame drew, for the mouse.
    drawn: Vec<(Rect, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKey {
    /// The selection or the focus moved.
    Moved,
    /// The filter changed.
    Searched,
    Closed,
    /// The key has this meaning, on which the list itself does not act.
    Unhandled(LayerKey),
    /// The key has no meaning in the list.
    Unknown,
}

impl ListKey {
    /// The result of a layer that does not act on the key itself.
    pub fn handled(self) -> Handled {
        match self {
            Self::Closed => Handled::Closed,
            Self::Unknown => Handled::PassedOn,
            Self::Moved | Self::Searched | Self::Unhandled(_) => Handled::Consumed,
        }
    }
}

impl SearchList {
    /// The first form that fits is shown while the filter is empty.
    pub fn set_placeholder(&mut self, forms: &'static [&'static str]) {
        self.placeholder = forms;
    }

    pub fn filter(&self) -> String {
        self.filter.text()
    }

    pub fn is_unfiltered(&self) -> bool {
        self.filter.is_empty()
    }

    /// The selected row of a list of `count`; 0 if it is empty.
    pub fn selected(&self, count: usize) -> usize {
        self.selected.min(count.saturating_sub(1))
    }

    pub fn select(&mut self, row: usize) {
        self.selected = row;
    }

    pub fn has_row_focus(&self) -> bool {
        self.has_row_focus
    }

    pub fn step(&mut self, rows: isize, count: usize) {
        let last = count.saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    /// The meaning of a key for the list. The keys in `row_keys` count only while the rows have the
    /// focus.
    pub fn layer_key(
        &self,
        key: KeyEvent,
        row_keys: Option<KeyContext>,
        keymap: &Keymap,
    ) -> Option<LayerKey> {
        let [list, filter] = [KeyContext::ScrollableList, KeyContext::SearchList];
        match row_keys.filter(|_| self.has_row_focus) {
            Some(own) => keymap.layer_key(key, &[list, filter, KeyContext::SearchListRows, own]),
            None => keymap.layer_key(key, &[list, filter]),
        }
    }

    /// Handles a key in a list of `count` rows. `row_keys` has the keys that act on a row of this
    /// list; without any, the focus stays in the filter.
    pub fn key(
        &mut self,
        key: KeyEvent,
        count: usize,
        row_keys: Option<KeyContext>,
        keymap: &Keymap,
    ) -> ListKey {
        match self.layer_key(key, row_keys, keymap) {
            Some(LayerKey::Back) if self.filter.is_empty() => match self.has_row_focus {
                true => self.has_row_focus = false,
                false => return ListKey::Closed,
            },
            Some(LayerKey::Back) => {
                self.has_row_focus = false;
                self.filter.set("");
                self.selected = 0;
                return ListKey::Searched;
            }
            Some(LayerKey::Switch) => {
                self.has_row_focus = row_keys.is_some() && !self.has_row_focus;
            }
            Some(LayerKey::Start) => self.selected = 0,
            Some(LayerKey::End) => self.selected = count.saturating_sub(1),
            Some(key) => match key.rows() {
                Some(rows) => self.step(rows, count),
                None => return ListKey::Unhandled(key),
            },
            None if !self.has_row_focus && self.filter_key(key, keymap) => {
                return ListKey::Searched;
            }
            None => return ListKey::Unknown,
        }
        ListKey::Moved
    }

    /// Returns false if nothing changed.
    fn filter_key(&mut self, key: KeyEvent, keymap: &Keymap) -> bool {
        let before = self.filter.text();
        let changed = text_field::handle_line_key(&mut self.filter, key, keymap);
        if self.filter.text() != before {
            self.selected = 0;
        }
        changed
    }

    pub fn paste(&mut self, text: &str) {
        self.selected = 0;
        text_field::paste_line(&mut self.filter, text);
    }

    /// Selects the clicked row. A click on the selected row returns the key that it stands for.
    pub fn click(&mut self, at: Position, keymap: &Keymap) -> Option<KeyEvent> {
        let (_, row) = *self.drawn.iter().find(|(line, _)| line.contains(at))?;
        if row == self.selected {
            return keymap.layer_key_press(KeyContext::SearchList, LayerKey::Confirm);
        }
        self.selected = row;
        None
    }

    /// A row as it was last drawn, but selected. `None` if it was not in the view.
    pub fn drawn_row(&self, row: usize, pen: &Painter) -> Option<ListRow> {
        let (line, index) = *self.drawn.iter().find(|(_, drawn)| *drawn == row)?;
        Some(ListRow {
            index,
            is_selected: true,
            line,
            mark: pen.glyphs.cursor,
            style: pen.theme.accent,
        })
    }

    /// Records a drawn row that a click selects.
    pub fn record_drawn(&mut self, line: Rect, row: usize) {
        self.drawn.push((line, row));
    }

    /// Scrolls as little as needed to show this row, and returns the first visible one.
    pub fn scroll_to(&mut self, row: usize, count: usize, height: u16) -> usize {
        let height = usize::from(height.max(1));
        let lowest = (row + 1).saturating_sub(height);
        let last_page = count.saturating_sub(height).max(lowest);
        self.top = self.top.min(last_page).clamp(lowest, row.max(lowest));
        self.top
    }

    /// Draws the title and the filter. Returns the cursor position if the filter has the focus.
    pub fn draw_head(
        &mut self,
        area: Rect,
        title: &str,
        note: &str,
        pen: &mut Painter,
    ) -> Option<Position> {
        self.drawn.clear();
        let area = draw_window(area, title, note, pen);
        let style = match self.has_row_focus {
            true => pen.theme.dim,
            false => pen.theme.accent,
        };
        let prompt = (pen.glyphs.prompt, style);
        let cursor = text_field::draw_line(&mut self.filter, prompt, area, pen);
        if self.filter.is_empty() {
            let columns = area.right().saturating_sub(cursor.x) * area.height.min(1);
            let fits = |form: &&&str| width(form) <= columns.into();
            let form = self.placeholder.iter().find(fits).unwrap_or(&"");
            pen.put(cursor.x, cursor.y, form, pen.theme.dim, columns);
        }
        Some(cursor).filter(|_| !self.has_row_focus)
    }

    /// Draws the list: title, filter and the visible rows of `found`. Returns the cursor
    /// position if the filter has the focus.
    pub fn draw<T>(
        &mut self,
        area: Rect,
        title: &ListTitle,
        found: &[T],
        pen: &mut Painter,
        draw_row: impl Fn(&T, &ListRow, &mut Painter),
    ) -> Option<Position> {
        let (rows, count) = (rows_area(area), found.len());
        let selected = self.selected(count);
        let first = self.scroll_to(selected, count, rows.height);
        let shown = ListCount {
            listed: count,
            total: title.total,
            above: first,
            below: count.saturating_sub(first + usize::from(rows.height)),
        };
        let note = shown.note(&pen.glyphs);
        let cursor = self.draw_head(area, title.title, &note, pen);
        if found.is_empty() {
            let filter = self.filter.text();
            match filter.trim().is_empty() || title.shows_empty_when_filtered {
                true => draw_empty(rows, title.empty, pen),
                false => draw_empty(rows, &nothing_matches(&filter), pen),
            }
        }
        for row in rows_in_view(count, Some(selected), first, rows, pen) {
            row.put_mark(pen);
            draw_row(&found[row.index], &row, pen);
            self.record_drawn(row.line, row.index);
        }
        cursor
    }
}

/// The rows of a list that is drawn over this area: all below title and filter.
pub fn rows_area(area: Rect) -> Rect {
    let area = content_area(area);
    let taken = area.height.min(1);
    Rect {
        y: area.y + taken,
        height: area.height - taken,
        ..area
    }
}

/// The text of a list in which nothing matches the filter.
pub fn nothing_matches(filter: &str) -> String {
    format!("Nothing matches \"{}\".", filter.trim())
}

/// Draws a text in place of the rows.
pub fn draw_empty(area: Rect, text: &str, pen: &mut Painter) {
    let taken = MARK_COLUMNS.min(area.width);
    let area = Rect {
        x: area.x + taken,
        width: area.width - taken,
        ..area
    };
    let dim = pen.theme.dim;
    pen.paragraph(area, &Clean::single_line(text), dim);
}

/// The width of a column for these texts, at most `columns_max`.
pub fn column_width<'a>(texts: impl Iterator<Item = &'a str>, columns_max: u16) -> u16 {
    let widest = texts.map(width).max().unwrap_or(0);
    u16::try_from(widest).map_or(columns_max, |widest| widest.min(columns_max))
}

#[cfg(test)]
mod tests;
