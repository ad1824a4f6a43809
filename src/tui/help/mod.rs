//! The help: every key and every command, grouped by task and filtered as the user types.

mod columns;
mod entries;

use crate::tui::help::columns::{HelpColumn, columns};
use crate::tui::help::entries::matching_groups;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::layout::SMALL_HEIGHT;
use crate::tui::widgets::list::{SearchList, below_filter, count_note};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::{content_area, draw_window};
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

#[derive(Debug, Default)]
pub struct HelpLayer {
    /// Used only for its filter: nothing in the help can be selected.
    list: SearchList,
    /// First visible row.
    top: usize,
    /// Visible rows at the last draw.
    height: usize,
}

impl HelpLayer {
    fn scroll_by(&mut self, rows: isize) {
        // Drawing limits `top` to the last page.
        self.top = self.top.saturating_add_signed(rows);
    }

    /// Scrolls by a page minus one row, which stays visible.
    fn page(&mut self, direction: isize) {
        let rows = self.height.saturating_sub(1).max(1);
        self.scroll_by(direction * rows as isize);
    }
}

impl Layer for HelpLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Help)
    }

    fn handle_key(&mut self, key: KeyEvent, _: &mut UiContext) -> Handled {
        match layers::find_key(key, &[KeyContext::ScrollableList, KeyContext::Help]) {
            Some(LayerKey::Up) => self.scroll_by(-1),
            Some(LayerKey::Down) => self.scroll_by(1),
            Some(LayerKey::PageUp) => self.page(-1),
            Some(LayerKey::PageDown) => self.page(1),
            Some(LayerKey::Start) => self.top = 0,
            Some(LayerKey::End) => self.top = usize::MAX,
            Some(LayerKey::Back) if self.list.is_unfiltered() => return Handled::Closed,
            Some(LayerKey::Back) => {
                self.list.clear_filter();
                self.top = 0;
            }
            _ => {
                let before = self.list.filter();
                let handled = self.list.search_key(key);
                if self.list.filter() != before {
                    self.top = 0;
                }
                return handled;
            }
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        self.list.paste(text);
        self.top = 0;
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.scroll_by(rows);
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let body = area.body;
        let area = content_area(body);
        let mut rows = below_filter(area);
        let has_rule = body.height > SMALL_HEIGHT;
        rows.height -= u16::from(has_rule);
        self.height = rows.height.into();
        let groups = matching_groups(&self.list.filter());
        let columns = columns(&groups, rows.width);
        let tallest = columns.iter().map(|column| column.rows.len()).max();
        let last_top = tallest.unwrap_or(0).saturating_sub(self.height);
        self.top = self.top.min(last_top);
        let view = self.top..self.top + self.height;
        let count = groups.iter().map(|group| group.entries.len()).sum();
        let above = columns
            .iter()
            .map(|column| column.entries_before(view.start));
        let below = columns.iter().map(|column| column.entries_after(view.end));
        let note = count_note(count, (above.sum(), below.sum()), &pen.glyphs);
        draw_window(body, "Help", &note, pen);
        let cursor = self.list.draw_filter(pen.glyphs.prompt, area, pen);
        if count == 0 {
            let dim = pen.theme.dim;
            pen.put(rows.x + 2, rows.y, "nothing matches", dim, rows.width);
        }
        if has_rule {
            // The layer covers the rule above the message.
            let y = body.bottom() - 1;
            let line = Rect {
                y,
                height: 1,
                ..body
            };
            let dim = pen.theme.dim;
            pen.rule(line, "", "", dim);
        }
        for column in &columns {
            draw_column(column, self.top, rows, pen);
        }
        Some(cursor)
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        let back = match self.list.is_unfiltered() {
            true => "close",
            false => "clear the filter",
        };
        vec![
            "Type to filter".to_owned(),
            "PgUp/PgDn scroll".to_owned(),
            layers::hint(KeyContext::Help, LayerKey::Back, back),
        ]
    }
}

fn draw_column(column: &HelpColumn, top: usize, area: Rect, pen: &mut Painter) {
    let x = area.x + column.x;
    let visible_rows = column.rows.iter().skip(top).take(area.height.into());
    for (y, row) in visible_rows.enumerate() {
        let y = area.y + y as u16;
        let end = x + column.width;
        let style = match row.is_heading {
            true => pen.theme.bold,
            false => pen.theme.plain,
        };
        let names_x = x + row.names_x;
        pen.put(names_x, y, &row.names, style, end.saturating_sub(names_x));
        let description_x = x + row.description_x;
        let plain = pen.theme.plain;
        let columns = end.saturating_sub(description_x);
        pen.put(description_x, y, &row.description, plain, columns);
    }
}
