//! The list of `/trust`: inspect and revoke stored decisions, and review withheld tools.

use crate::domain::{Notice, ToolMode, TrustEntry};
use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::trust::view::{TrustColumns, draw_detail, matching_rows};
use crate::tui::widgets::list::{ListKey, ListTitle, SearchList};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;

const NO_DECISIONS: &str = "No decisions are stored, so you are asked before every call. \
    To store one, choose 6 to 9 in a tool call's dialog.";
const NO_DECISIONS_IN_AUTO_MODE: &str =
    "No decisions are stored. In auto mode, tools run without asking.";
const EMPTY_ROWS: u16 = 3;

#[derive(Debug, Default)]
pub struct TrustLayer {
    list: SearchList,
    /// First visible row of the selected entry's details; `None` while the list is shown.
    detail_top: Option<usize>,
}

impl TrustLayer {
    fn selected<'a>(&self, entries: &'a [TrustEntry]) -> Option<&'a TrustEntry> {
        let rows = matching_rows(entries, &self.list.filter());
        rows.get(self.list.selected(rows.len()))
            .map(|row| row.entry)
    }

    fn revoke(&mut self, entries: &[TrustEntry], cx: &mut UiContext) {
        let Some(selected) = self.selected(entries) else {
            return;
        };
        if let TrustEntry::PendingPinChange(_) = selected {
            let keymap = cx.shared.keymap;
            let enter = keymap.layer_key_name(KeyContext::SearchList, LayerKey::Confirm);
            let enter = enter.unwrap_or_default();
            return cx.notify(Notice::info(format!(
                "This tool is already withheld. Press {enter} to see how it changed."
            )));
        }
        self.detail_top = None;
        cx.send(Command::Revoke(Box::new(selected.clone())));
    }

    /// Shows how a withheld tool changed, or the details of any other entry.
    fn open(&mut self, entries: &[TrustEntry], cx: &mut UiContext) -> Handled {
        match self.selected(entries) {
            Some(TrustEntry::PendingPinChange(change)) => {
                let (server, tool) = (change.server.clone(), change.tool.name.clone());
                cx.send(Command::ReviewTool { server, tool });
                return Handled::Closed;
            }
            Some(_) => self.detail_top = Some(0),
            None => {}
        }
        Handled::Consumed
    }

    fn detail_key(&mut self, key: KeyEvent, entries: &[TrustEntry], cx: &mut UiContext) -> Handled {
        let contexts = [
            KeyContext::SearchList,
            KeyContext::SearchListRows,
            KeyContext::Trust,
        ];
        match cx.shared.keymap.layer_key(key, &contexts) {
            Some(LayerKey::Back | LayerKey::Confirm) => self.detail_top = None,
            Some(LayerKey::Revoke | LayerKey::Delete) => self.revoke(entries, cx),
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }
}

impl Layer for TrustLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Trust)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let entries = cx.shared.engine.trust_entries.as_slice();
        if self.detail_top.is_some() && self.selected(entries).is_none() {
            self.detail_top = None;
        }
        let is_repeat =
            key.kind == KeyEventKind::Repeat && cx.shared.keymap.row_step(key).is_none();
        // A held key must not revoke several decisions, nor reopen an entry.
        if is_repeat && (self.detail_top.is_some() || self.list.has_row_focus()) {
            return Handled::Consumed;
        }
        if self.detail_top.is_some() {
            return self.detail_key(key, entries, cx);
        }
        let count = matching_rows(entries, &self.list.filter()).len();
        match self
            .list
            .key(key, count, Some(KeyContext::Trust), cx.shared.keymap)
        {
            ListKey::Unhandled(LayerKey::Confirm) if is_repeat => {}
            ListKey::Unhandled(LayerKey::Confirm) => return self.open(entries, cx),
            ListKey::Unhandled(_) => self.revoke(entries, cx),
            handled => return handled.handled(),
        }
        Handled::Consumed
    }

    fn paste(&mut self, text: &str, _: &mut UiContext) -> Handled {
        if self.detail_top.is_none() {
            self.list.paste(text);
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        match &mut self.detail_top {
            Some(top) => *top = top.saturating_add_signed(rows),
            None => {
                let entries = &shared.engine.trust_entries;
                let count = matching_rows(entries, &self.list.filter()).len();
                self.list.step(rows, count);
            }
        }
    }

    fn click(&mut self, at: Position, cx: &mut UiContext) -> Handled {
        match self
            .list
            .click(at, cx.shared.keymap)
            .filter(|_| self.detail_top.is_none())
        {
            Some(enter) => self.handle_key(enter, cx),
            None => Handled::Consumed,
        }
    }

    fn popup_rows(&self, shared: SharedUiState) -> Option<u16> {
        if self.detail_top.is_some() {
            return None;
        }
        let count = u16::try_from(shared.engine.trust_entries.len()).unwrap_or(u16::MAX);
        let rows = if count == 0 { EMPTY_ROWS } else { count };
        Some(rows.saturating_add(1))
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let entries = shared.engine.trust_entries.as_slice();
        let selected = self.selected(entries);
        if let (Some(selected), Some(top)) = (selected, &mut self.detail_top) {
            let inner = draw_window(area.body, "Trust", "", pen);
            draw_detail(selected, top, inner, pen);
            return None;
        }
        let rows = matching_rows(entries, &self.list.filter());
        let title = ListTitle {
            title: "Trust",
            total: entries.len(),
            empty: match shared.engine.mode {
                ToolMode::Manual => NO_DECISIONS,
                ToolMode::Auto => NO_DECISIONS_IN_AUTO_MODE,
            },
            shows_empty_when_filtered: false,
        };
        let columns = TrustColumns::new(&rows);
        self.list
            .draw(area.popup, &title, &rows, pen, |shown, row, pen| {
                columns.draw(shown, row, pen);
            })
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let revoke = keymap.layer_hint(KeyContext::Trust, LayerKey::Revoke, "revoke");
        if self.detail_top.is_some() {
            return hint_list([
                revoke,
                keymap.layer_hint(KeyContext::SearchList, LayerKey::Back, "back"),
            ]);
        }
        let entries = shared.engine.trust_entries.as_slice();
        let count = matching_rows(entries, &self.list.filter()).len();
        let revoke = hint_list([revoke]);
        self.list.hints(count, "show", revoke, keymap)
    }
}
