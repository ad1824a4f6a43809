//! The list of `/trust`: inspect and revoke stored decisions, and review withheld tools.

use crate::domain::{Notice, ToolMode, TrustEntry};
use crate::protocol::Command;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::trust::view::{TrustColumns, TrustRow, draw_detail};
use crate::tui::widgets::list::{ListRow, SearchList};
use crate::tui::widgets::list_layer::{ListKind, ListSource};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;

const NO_DECISIONS: &str = "No decisions are stored, so you are asked before every call. \
    To store one, choose 6 to 9 in a tool call's dialog.";
const NO_DECISIONS_IN_AUTO_MODE: &str =
    "No decisions are stored. In auto mode, tools run without asking.";
const EMPTY_ROWS: usize = 3;

#[derive(Debug, Default)]
pub struct TrustList {
    columns: TrustColumns,
}

fn revoke_hint(keymap: &Keymap) -> Option<String> {
    keymap.layer_hint(KeyContext::Trust, LayerKey::Revoke, "revoke")
}

/// A held key must not revoke several decisions, nor reopen an entry.
fn is_repeated(key: KeyEvent, keymap: &Keymap) -> bool {
    key.kind == KeyEventKind::Repeat && keymap.row_step(key).is_none()
}

impl ListSource for TrustList {
    type Row<'a> = TrustRow<'a>;
    const ROW_KEYS: Option<KeyContext> = Some(KeyContext::Trust);

    fn kind(&self) -> ListKind {
        ListKind {
            action: Some(Action::TRUST),
            title: "Trust",
            enter: "show",
        }
    }

    fn rows<'a>(&self, words: &[&str], shared: SharedUiState<'a>) -> Vec<TrustRow<'a>> {
        let rows = shared.engine.trust_entries.iter().map(TrustRow::new);
        rows.filter(|row| row.matches(words)).collect()
    }

    fn total(&self, shared: SharedUiState) -> usize {
        shared.engine.trust_entries.len()
    }

    fn height(&self, shared: SharedUiState) -> usize {
        match self.total(shared) {
            0 => EMPTY_ROWS,
            count => count,
        }
    }

    fn empty(&self, shared: SharedUiState) -> &'static str {
        match shared.engine.mode {
            ToolMode::Manual => NO_DECISIONS,
            ToolMode::Auto => NO_DECISIONS_IN_AUTO_MODE,
        }
    }

    fn measure(&mut self, rows: &[TrustRow]) {
        self.columns = TrustColumns::new(rows);
    }

    fn draw_row(&self, shown: &TrustRow, row: &ListRow, _: SharedUiState, pen: &mut Painter) {
        self.columns.draw(shown, row, pen);
    }

    fn details(&self, row: &TrustRow, _: &mut UiContext) -> Option<Box<dyn Layer>> {
        match row.entry {
            TrustEntry::PendingPinChange(_) => None,
            entry => Some(Box::new(TrustDetails {
                entry: entry.clone(),
                top: 0,
            })),
        }
    }

    /// Shows how a withheld tool changed.
    fn choose(&mut self, row: TrustRow, cx: &mut UiContext) -> Handled {
        if let TrustEntry::PendingPinChange(change) = row.entry {
            let (server, tool) = (change.server.clone(), change.tool.name.clone());
            cx.send(Command::ReviewTool { server, tool });
        }
        Handled::Closed
    }

    fn row_key(&mut self, _: LayerKey, row: TrustRow, cx: &mut UiContext) {
        if let TrustEntry::PendingPinChange(_) = row.entry {
            let keymap = cx.shared.keymap;
            let enter = keymap.layer_key_name(KeyContext::SearchList, LayerKey::Confirm);
            let enter = enter.unwrap_or_default();
            return cx.notify(Notice::info(format!(
                "This tool is already withheld. Press {enter} to see how it changed."
            )));
        }
        cx.send(Command::Revoke(Box::new(row.entry.clone())));
    }

    fn identity(&self, row: &TrustRow) -> Option<String> {
        Some(row.identity())
    }

    fn row_hints(&self, keymap: &Keymap) -> Vec<String> {
        hint_list([revoke_hint(keymap)])
    }

    fn own_key(&mut self, key: KeyEvent, list: &mut SearchList, cx: &mut UiContext) -> Handled {
        let keymap = cx.shared.keymap;
        let acts = list.has_row_focus()
            || keymap.layer_key(key, &[KeyContext::SearchList]) == Some(LayerKey::Confirm);
        match acts && is_repeated(key, keymap) {
            true => Handled::Consumed,
            false => Handled::PassedOn,
        }
    }
}

/// The details of an entry.
#[derive(Debug)]
struct TrustDetails {
    entry: TrustEntry,
    /// First visible row.
    top: usize,
}

impl Layer for TrustDetails {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let keymap = cx.shared.keymap;
        if is_repeated(key, keymap) {
            return Handled::Consumed;
        }
        let contexts = [
            KeyContext::SearchList,
            KeyContext::SearchListRows,
            KeyContext::Trust,
        ];
        match keymap.layer_key(key, &contexts) {
            Some(LayerKey::Back | LayerKey::Confirm) => Handled::Closed,
            Some(LayerKey::Revoke | LayerKey::Delete) => {
                cx.send(Command::Revoke(Box::new(self.entry.clone())));
                Handled::Closed
            }
            _ => Handled::PassedOn,
        }
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.top = self.top.saturating_add_signed(rows);
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let inner = draw_window(area.body, "Trust", "", pen);
        draw_detail(&self.entry, &mut self.top, inner, pen);
        None
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        hint_list([
            revoke_hint(keymap),
            keymap.layer_hint(KeyContext::SearchList, LayerKey::Back, "back"),
        ])
    }
}
