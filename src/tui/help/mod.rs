//! The help: every key and every command, in groups and filtered as the user types.

mod columns;
mod entries;
mod here;

use crate::protocol::Event;
pub use crate::tui::help::entries::HelpTopic;

use crate::tui::help::columns::{HelpColumn, columns};
use crate::tui::help::entries::{HelpGroup, matching_groups};
use crate::tui::help::here::KeysHere;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::list::{
    ListCount, ListKey, SearchList, draw_empty, nothing_matches, rows_area,
};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct HelpLayer {
    topic: HelpTopic,
    here: KeysHere,
    /// The layer that the help was opened over. It keeps its state, and gets the events.
    below: Option<Box<dyn Layer>>,
    /// Used only for its filter: nothing in the help can be selected.
    list: SearchList,
    /// First visible row.
    top: usize,
    /// Visible rows at the last draw.
    height: usize,
}

impl HelpLayer {
    /// The help, or the instructions for changing keys with the name of each action in the settings.
    /// `hints` names the keys of what is open, which is `below` if it is a layer.
    pub fn new(
        topic: HelpTopic,
        filter: &str,
        hints: &[String],
        below: Option<Box<dyn Layer>>,
    ) -> Self {
        let action_below = below.as_ref().and_then(|layer| layer.action());
        let mut help = Self {
            topic,
            here: KeysHere::new(hints, action_below, below.is_some()),
            below,
            ..Self::default()
        };
        help.list.paste(filter);
        help
    }

    fn groups(&self, filter: &str, shared: SharedUiState) -> Vec<HelpGroup> {
        matching_groups(self.topic, filter, shared.home, shared.keymap, &self.here)
    }

    fn count(&self, filter: &str, shared: SharedUiState) -> usize {
        let groups = self.groups(filter, shared);
        groups.iter().map(|group| group.entries.len()).sum()
    }

    fn scroll_by(&mut self, rows: isize) {
        // Drawing limits `top` to the last page.
        self.top = self.top.saturating_add_signed(rows);
    }

    /// Scrolls by a page minus one row, which stays visible.
    fn scroll_page(&mut self, direction: isize) {
        let rows = self.height.saturating_sub(1).max(1);
        self.scroll_by(direction * rows as isize);
    }
}

impl Layer for HelpLayer {
    fn action(&self) -> Option<Action> {
        Some(match self.topic {
            HelpTopic::Everything => Action::HELP,
            HelpTopic::ChangingKeys => Action::KEYS,
        })
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx
            .shared
            .keymap
            .layer_key(key, &[KeyContext::ScrollableList, KeyContext::Help])
        {
            Some(LayerKey::Up) => self.scroll_by(-1),
            Some(LayerKey::Down) => self.scroll_by(1),
            Some(LayerKey::PageUp) => self.scroll_page(-1),
            Some(LayerKey::PageDown) => self.scroll_page(1),
            Some(LayerKey::Start) => self.top = 0,
            Some(LayerKey::End) => self.top = usize::MAX,
            _ => {
                let handled = self.list.key(key, 0, None, cx.shared.keymap);
                if handled == ListKey::Searched {
                    self.top = 0;
                }
                return handled.handled();
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

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        let below = self.below.as_mut();
        let handled = below.map(|layer| layer.handle_event(event, cx));
        self.below.take_if(|_| handled == Some(Handled::Closed));
        Handled::PassedOn
    }

    fn wake_at(&self) -> Option<Duration> {
        self.below.as_ref().and_then(|layer| layer.wake_at())
    }

    fn tick(&mut self, cx: &mut UiContext) {
        if let Some(below) = &mut self.below {
            below.tick(cx);
        }
    }

    fn take_below(&mut self) -> Option<Box<dyn Layer>> {
        self.below.take()
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let body = area.body;
        let rows = rows_area(body);
        self.height = rows.height.into();
        let groups = self.groups(&self.list.filter(), shared);
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
        let shown = ListCount {
            listed: count,
            total: self.count("", shared),
            above: above.sum(),
            below: below.sum(),
        };
        let note = shown.note(&pen.glyphs);
        let title = match self.topic {
            HelpTopic::Everything => "Help",
            HelpTopic::ChangingKeys => "Keys",
        };
        let cursor = self.list.draw_head(body, title, &note, pen);
        if count == 0 {
            draw_empty(rows, &nothing_matches(&self.list.filter()), pen);
        }
        for column in &columns {
            draw_column(column, self.top, rows, pen);
        }
        cursor
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let back = match self.list.is_unfiltered() {
            true if self.below.is_some() => "back",
            true => "close",
            false => "clear",
        };
        let mut hints = vec!["Type to filter".to_owned()];
        if self.count(&self.list.filter(), shared) > 0 {
            hints.extend(shared.keymap.scroll_hint());
        }
        let context = KeyContext::SearchList;
        hints.extend(shared.keymap.layer_hint(context, LayerKey::Back, back));
        hints
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
