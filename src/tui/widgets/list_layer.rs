//! The layer of every list from which the user selects a row: [`ListSource`] says what it lists and
//! what its keys do, and `ListLayer` does the rest.

use crate::domain::theme::ThemeChoice;
use crate::protocol::Event;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::list::{ListKey, ListRow, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::fmt;

/// What stays the same while a list is open.
#[derive(Debug, Clone, Copy)]
pub struct ListKind {
    /// The action that opens the list.
    pub action: Option<Action>,
    pub title: &'static str,
    /// The hint for Enter.
    pub enter: &'static str,
}

/// What one list shows and does.
pub trait ListSource: fmt::Debug {
    /// Borrows only from the shared state, so that a key can change the source: a row that the
    /// source owns is an index.
    type Row<'a>;

    /// The letters that act on a row.
    const ROW_KEYS: Option<KeyContext> = None;

    fn kind(&self) -> ListKind;

    /// The rows that contain all words of the filter, which are lower case. Called for each key,
    /// and twice for each frame.
    fn rows<'a>(&self, words: &[&str], shared: SharedUiState<'a>) -> Vec<Self::Row<'a>>;

    /// The number of rows without a filter.
    fn total(&self, shared: SharedUiState) -> usize;

    /// The height of the popup in rows of the list, whatever the filter is.
    fn height(&self, shared: SharedUiState) -> usize {
        self.total(shared)
    }

    /// The text of a list without rows.
    fn empty(&self, _shared: SharedUiState) -> &'static str {
        ""
    }

    fn is_loading(&self) -> bool {
        false
    }

    /// Measures columns before the rows are drawn.
    fn measure(&mut self, _rows: &[Self::Row<'_>]) {}

    fn draw_row(&self, row: &Self::Row<'_>, at: &ListRow, shared: SharedUiState, pen: &mut Painter);

    /// Handles Enter.
    fn choose(&mut self, row: Self::Row<'_>, cx: &mut UiContext) -> Handled;

    /// What Enter shows in place of the list, until that is closed. `None` leaves Enter to
    /// [`Self::choose`].
    fn details(&self, _row: &Self::Row<'_>, _cx: &mut UiContext) -> Option<Box<dyn Layer>> {
        None
    }

    /// Handles a letter of [`Self::ROW_KEYS`].
    fn row_key(&mut self, _key: LayerKey, _row: Self::Row<'_>, _cx: &mut UiContext) {}

    fn row_hints(&self, _keymap: &Keymap) -> Vec<String> {
        Vec::new()
    }

    /// Handles a key that is not for the list, such as a digit that picks a row.
    fn own_key(&mut self, _: KeyEvent, _: &mut SearchList, _: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    fn own_hint(&self, _list: &SearchList) -> Option<String> {
        None
    }

    /// What tells a row from the others once the rows have changed. `None` in a list whose rows do not
    /// change while it is open.
    fn identity(&self, _row: &Self::Row<'_>) -> Option<String> {
        None
    }

    /// Receives each engine event before it is applied to the shared state.
    fn handle_event(&mut self, _: &Event, _: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    /// The theme to show while this list is open.
    fn previewed_theme(&self, _: &SearchList, _: SharedUiState) -> Option<&ThemeChoice> {
        None
    }

    /// The row that is selected at first.
    fn first_selected(&self) -> usize {
        0
    }

    /// The rows that match the filter of the list.
    fn listed<'a>(&self, list: &SearchList, shared: SharedUiState<'a>) -> Vec<Self::Row<'a>> {
        let filter = list.filter().to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        self.rows(&words, shared)
    }

    fn open(self, cx: &mut UiContext)
    where
        Self: Sized + 'static,
    {
        let mut list = SearchList::default();
        list.select(self.first_selected());
        cx.open(ListLayer {
            source: self,
            list,
            details: None,
            shown: None,
        });
    }
}

#[derive(Debug)]
struct ListLayer<S> {
    source: S,
    list: SearchList,
    details: Option<Box<dyn Layer>>,
    /// The identity of the selected row, from its first frame until the user selects another one. If
    /// the rows change, the next key acts on that row or on none.
    shown: Option<String>,
}

impl<S: ListSource> ListLayer<S> {
    /// The rows, with the shown one selected if it is still among them.
    fn rows<'a>(&mut self, shared: SharedUiState<'a>) -> Vec<S::Row<'a>> {
        let rows = self.source.listed(&self.list, shared);
        let selected = rows.get(self.list.selected(rows.len()));
        if !selected.is_some_and(|row| self.is_shown(row))
            && let Some(row) = rows.iter().position(|row| self.is_shown(row))
        {
            self.list.select(row);
        }
        rows
    }

    fn is_shown(&self, row: &S::Row<'_>) -> bool {
        self.shown.is_none() || self.shown == self.source.identity(row)
    }

    fn act(&mut self, key: LayerKey, row: S::Row<'_>, cx: &mut UiContext) -> Handled {
        if key == LayerKey::Confirm {
            self.details = self.source.details(&row, cx);
            return match self.details {
                Some(_) => Handled::Consumed,
                None => self.source.choose(row, cx),
            };
        }
        self.source.row_key(key, row, cx);
        Handled::Consumed
    }
}

impl<S: ListSource> Layer for ListLayer<S> {
    fn action(&self) -> Option<Action> {
        self.source.kind().action
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        if let Some(details) = &mut self.details {
            let handled = details.handle_key(key, cx);
            if handled == Handled::Closed {
                self.details = None;
                return Handled::Consumed;
            }
            return handled;
        }
        let handled = self.source.own_key(key, &mut self.list, cx);
        if handled != Handled::PassedOn {
            return handled;
        }
        let rows = self.rows(cx.shared);
        let count = rows.len();
        let pressed = self.list.key(key, count, S::ROW_KEYS, cx.shared.keymap);
        match pressed {
            ListKey::Moved | ListKey::Searched => self.shown = None,
            ListKey::Unhandled(key) => {
                let row = rows.into_iter().nth(self.list.selected(count));
                let is_meant = row.as_ref().is_some_and(|row| self.is_shown(row));
                // Another row has only just taken the place of the selected one.
                self.shown = None;
                if let Some(row) = row.filter(|_| is_meant) {
                    return self.act(key, row, cx);
                }
            }
            ListKey::Closed | ListKey::Unknown => {}
        }
        pressed.handled()
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        if self.details.is_none() {
            self.list.paste(text);
            self.shown = None;
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        if let Some(details) = &mut self.details {
            return details.scroll(rows, shared);
        }
        let count = self.source.listed(&self.list, shared).len();
        self.list.step(rows, count);
        self.shown = None;
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        if self.details.is_some() {
            return Handled::Consumed;
        }
        if let Some(enter) = self.list.click(at, cx.shared.keymap) {
            return self.handle_key(enter, cx);
        }
        self.shown = None;
        Handled::Consumed
    }

    fn handle_event(&mut self, event: &Event, cx: &mut UiContext) -> Handled {
        self.source.handle_event(event, cx)
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        if let Some(details) = &self.details {
            return details.popup_rows(shared);
        }
        // The filter takes one row.
        let rows = u16::try_from(self.source.height(shared)).unwrap_or(u16::MAX);
        Some(rows.saturating_add(1))
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        if let Some(details) = &mut self.details {
            return details.draw(area, shared, pen);
        }
        let rows = self.rows(shared);
        if self.shown.is_none() {
            let selected = rows.get(self.list.selected(rows.len()));
            self.shown = selected.and_then(|row| self.source.identity(row));
        }
        self.source.measure(&rows);
        let source = &self.source;
        let title = ListTitle {
            title: source.kind().title,
            total: source.total(shared),
            empty: source.empty(shared),
            shows_empty_when_filtered: source.is_loading(),
        };
        let draw_row = |row: &S::Row<'_>, at: &ListRow, pen: &mut Painter| {
            source.draw_row(row, at, shared, pen);
        };
        self.list.draw(area.popup, &title, &rows, pen, draw_row)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        if let Some(details) = &self.details {
            return details.hints(shared);
        }
        let (enter, keymap) = (self.source.kind().enter, shared.keymap);
        let count = self.source.listed(&self.list, shared).len();
        let row_hints = self.source.row_hints(keymap);
        let mut hints = self.list.hints(count, enter, row_hints, keymap);
        if let Some(hint) = self.source.own_hint(&self.list) {
            hints.insert(1, hint);
        }
        hints
    }

    fn previewed_theme(&self, shared: SharedUiState) -> Option<&ThemeChoice> {
        self.source.previewed_theme(&self.list, shared)
    }
}
