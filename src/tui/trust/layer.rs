//! The `/trust` dialog: inspect and revoke stored decisions, and review withheld tools.

use crate::domain::{Notice, TrustEntry};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, BindingScope, layers};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::trust::view::{draw_detail, draw_list};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::draw_window;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;

#[derive(Debug, Default)]
pub struct TrustLayer {
    selected: usize,
    /// First visible row of the selected entry's details; `None` while the list is shown.
    detail_top: Option<usize>,
}

impl TrustLayer {
    fn clamp(&mut self, entries: &[TrustEntry]) {
        self.selected = self.selected.min(entries.len().saturating_sub(1));
    }

    fn revoke(&mut self, selected: &TrustEntry, cx: &mut UiContext) {
        if let TrustEntry::PendingPinChange(_) = selected {
            let text = "This tool is already withheld. Press Enter to see how it changed.";
            return cx.notify(Notice::info(text));
        }
        self.detail_top = None;
        cx.send(Command::Revoke(Box::new(selected.clone())));
    }
}

impl Layer for TrustLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Trust)
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let entries = cx.shared.engine.trust_entries.as_slice();
        self.clamp(entries);
        let is_back =
            keymap::find_action(key, |scope| scope == BindingScope::Always) == Some(Action::Back);
        if is_back && self.detail_top.take().is_some() {
            return Handled::Consumed;
        }
        let Some(selected) = entries.get(self.selected) else {
            return Handled::PassedOn;
        };
        match layers::find_key(key, &[KeyContext::Trust]) {
            None => return Handled::PassedOn,
            // Ignores repeats of a held key.
            _ if key.kind == KeyEventKind::Repeat => {}
            Some(LayerKey::Confirm) => match selected {
                TrustEntry::PendingPinChange(change) => {
                    let (server, tool) = (change.server.clone(), change.tool.name.clone());
                    cx.send(Command::ReviewTool { server, tool });
                    return Handled::Closed;
                }
                _ => {
                    self.detail_top = match self.detail_top {
                        None => Some(0),
                        Some(_) => None,
                    }
                }
            },
            Some(_) => self.revoke(selected, cx),
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        match &mut self.detail_top {
            Some(top) => *top = top.saturating_add_signed(rows),
            None => {
                self.selected = self.selected.saturating_add_signed(rows);
                self.clamp(&shared.engine.trust_entries);
            }
        }
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        let entries = shared.engine.trust_entries.as_slice();
        self.clamp(entries);
        let count = match entries.len() {
            0 => String::new(),
            count => format!("{} of {count}", self.selected + 1),
        };
        let area = draw_window(area.body, "Trust", &count, pen);
        match (entries.get(self.selected), &mut self.detail_top) {
            (None, _) => {
                let text = "No decisions are stored, so you are asked before every call. To store one, choose 6 to 9 in a tool call's dialog.";
                let dim = pen.theme.dim;
                pen.paragraph(area, &Clean::from_static(text), dim);
            }
            (Some(selected), Some(top)) => draw_detail(selected, top, area, pen),
            (Some(_), None) => draw_list(entries, self.selected, area, pen),
        }
        None
    }

    fn hints(&self, _: SharedUiState) -> Vec<String> {
        let revoke = layers::hint(KeyContext::Trust, LayerKey::Revoke, "revoke");
        if self.detail_top.is_some() {
            return vec![revoke, "Esc back".to_owned()];
        }
        let show = layers::hint(KeyContext::Trust, LayerKey::Confirm, "show");
        vec![show, revoke, "Esc close".to_owned()]
    }
}
