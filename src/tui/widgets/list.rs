//! A list with a selected row, and a search line that filters it.

use crate::tui::keymap::layers;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::Handled;
use crate::tui::theme::Glyphs;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_field;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

#[derive(Debug, Clone, Copy)]
pub struct ListRow {
    pub index: usize,
    pub is_selected: bool,
    pub line: Rect,
    /// The selection mark, or a blank.
    pub mark: &'static str,
    pub style: Style,
}

/// The visible rows of a list of `count`, including the selected one.
pub fn rows_in_view(
    count: usize,
    selected: Option<usize>,
    area: Rect,
    pen: &Painter,
) -> impl Iterator<Item = ListRow> + use<> {
    let first = first_in_view(selected, area.height);
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

/// The first visible row: the selected one is at the bottom at the latest.
fn first_in_view(selected: Option<usize>, height: u16) -> usize {
    selected.map_or(0, |at| (at + 1).saturating_sub(height.into()))
}

/// The count of a list, and how many of its rows are above and below the view: `41, ↓ 33`.
pub fn count_note(count: usize, (above, below): (usize, usize), glyphs: &Glyphs) -> String {
    let mut note = count.to_string();
    let mut separator = ",";
    for (mark, hidden) in [(glyphs.up, above), (glyphs.down, below)] {
        if hidden > 0 {
            note.push_str(&format!("{separator} {mark} {hidden}"));
            separator = "";
        }
    }
    note
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

    /// Highlights the row that has the focus.
    pub fn highlight(&self, pen: &mut Painter) {
        let selection = pen.theme.selection;
        pen.set_style(self.line, selection);
    }
}

/// A list with a search line. Letters go to the search line, or to the rows after Tab.
#[derive(Debug, Default)]
pub struct SearchList {
    filter: Editor,
    selected: usize,
    has_row_focus: bool,
}

/// The result of a key in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKey {
    /// The selection or the focus moved.
    Moved,
    /// The filter changed.
    Searched,
    Closed,
    Unhandled(LayerKey),
    Unknown,
}

impl SearchList {
    pub fn filter(&self) -> String {
        self.filter.text()
    }

    pub fn is_unfiltered(&self) -> bool {
        self.filter.is_blank()
    }

    /// The selected row of a list of `count`; 0 if it is empty.
    pub fn selected(&self, count: usize) -> usize {
        self.selected.min(count.saturating_sub(1))
    }

    pub fn clear_filter(&mut self) {
        self.filter.set("");
        self.selected = 0;
    }

    /// The title's note for a list of `count` that is drawn in `area`.
    pub fn count_note(&self, count: usize, area: Rect, glyphs: &Glyphs) -> String {
        let height = below_filter(area).height;
        let above = first_in_view(Some(self.selected(count)), height);
        let below = count.saturating_sub(above + usize::from(height));
        count_note(count, (above, below), glyphs)
    }

    pub fn select(&mut self, row: usize) {
        self.selected = row;
    }

    pub fn has_row_focus(&self) -> bool {
        self.has_row_focus
    }

    /// Gives the focus to the rows, so that letters and digits act there.
    pub fn focus_rows(&mut self) {
        self.has_row_focus = true;
    }

    pub fn step(&mut self, rows: isize, count: usize) {
        let last = count.saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    /// Handles a key in a list of `count` rows that also has its own keys.
    pub fn key(&mut self, key: KeyEvent, count: usize, place: KeyContext) -> ListKey {
        let found = layers::find_key(key, &[KeyContext::ScrollableList, KeyContext::SearchList])
            .or_else(|| {
                let letters = layers::find_key(key, &[KeyContext::SearchListRows, place]);
                letters.filter(|_| self.has_row_focus)
            });
        match found {
            Some(LayerKey::Back) if self.has_row_focus => self.has_row_focus = false,
            Some(LayerKey::Back) => return ListKey::Closed,
            Some(LayerKey::Switch) => self.has_row_focus = !self.has_row_focus,
            Some(key) => match key.rows() {
                Some(rows) => self.step(rows, count),
                None => return ListKey::Unhandled(key),
            },
            None if !self.has_row_focus && self.search(key) => return ListKey::Searched,
            None => return ListKey::Unknown,
        }
        ListKey::Moved
    }

    /// Handles a key in a list without row keys: everything goes to the search line.
    pub fn search_key(&mut self, key: KeyEvent) -> Handled {
        self.selected = 0;
        match self.search(key) {
            true => Handled::Consumed,
            false => Handled::PassedOn,
        }
    }

    /// Handles a key in the search line. Returns false if nothing changed.
    fn search(&mut self, key: KeyEvent) -> bool {
        let changed = text_field::handle_key(&mut self.filter, key);
        if changed {
            self.selected = 0;
        }
        changed
    }

    pub fn paste(&mut self, text: &str) {
        self.selected = 0;
        text_field::paste_line(&mut self.filter, text);
    }

    /// Draws the search line in the first row of `area`.
    pub fn draw_filter(&mut self, prompt: &str, area: Rect, pen: &mut Painter) -> Position {
        text_field::draw_line(&mut self.filter, prompt, area, pen)
    }

    /// Draws the search line and, below it, the visible rows of `found`.
    pub fn draw<T>(
        &mut self,
        found: &[T],
        area: Rect,
        pen: &mut Painter,
        draw: impl Fn(&T, &ListRow, &mut Painter),
    ) -> Position {
        let cursor = self.draw_filter(pen.glyphs.prompt, area, pen);
        let rows = below_filter(area);
        if found.is_empty() {
            let dim = pen.theme.dim;
            pen.put(rows.x + 2, rows.y, "nothing matches", dim, rows.width);
        }
        let selected = Some(self.selected(found.len()));
        for row in rows_in_view(found.len(), selected, rows, pen) {
            row.put_mark(pen);
            draw(&found[row.index], &row, pen);
        }
        cursor
    }
}

/// The area below the search line, with a gap if there is enough height.
pub fn below_filter(area: Rect) -> Rect {
    let taken = 1 + u16::from(area.height > 4);
    Rect {
        y: area.y + taken,
        height: area.height.saturating_sub(taken),
        ..area
    }
}
