//! The `/trust` dialog: inspect and revoke stored decisions, and review withheld tools.

use crate::domain::{Notice, Trusted};
use crate::protocol::Command;
use crate::text::Clean;
use crate::tui::keymap;
use crate::tui::keymap::layers::{LayerKey, Place};
use crate::tui::keymap::{Action, When, layers};
use crate::tui::layer::{Cx, Handled, Layer, LayerArea, Shared};
use crate::tui::trust::view::{draw_detail, draw_list};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::window;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;

#[derive(Debug, Default)]
pub struct TrustLayer {
    selected: usize,
    /// First visible row of the selected entry's details; None while the list is shown.
    detail: Option<usize>,
}

impl TrustLayer {
    fn clamp(&mut self, trusted: &[Trusted]) {
        self.selected = self.selected.min(trusted.len().saturating_sub(1));
    }

    fn revoke(&mut self, selected: &Trusted, cx: &mut Cx) {
        if let Trusted::Waiting(_) = selected {
            let text = "This tool is already withheld. Press Enter to see how it changed.";
            return cx.notify(Notice::info(text));
        }
        self.detail = None;
        cx.send(Command::Revoke(Box::new(selected.clone())));
    }
}

impl Layer for TrustLayer {
    fn action(&self) -> Option<Action> {
        Some(Action::Trust)
    }

    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled {
        let trusted = cx.shared.engine.trusted.as_slice();
        self.clamp(trusted);
        let back = keymap::find(key, |when| when == When::Always) == Some(Action::Back);
        if back && self.detail.take().is_some() {
            return Handled::Consumed;
        }
        let Some(selected) = trusted.get(self.selected) else {
            return Handled::PassedOn;
        };
        match layers::find(key, &[Place::Trust]) {
            None => return Handled::PassedOn,
            // Ignores repeats of a held key.
            _ if key.kind == KeyEventKind::Repeat => {}
            Some(LayerKey::Take) => match selected {
                Trusted::Waiting(change) => {
                    let (server, tool) = (change.server.clone(), change.tool.name.clone());
                    cx.send(Command::ReviewTool { server, tool });
                    return Handled::Closed;
                }
                _ => {
                    self.detail = match self.detail {
                        None => Some(0),
                        Some(_) => None,
                    }
                }
            },
            Some(_) => self.revoke(selected, cx),
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, shared: Shared) {
        match &mut self.detail {
            Some(top) => *top = top.saturating_add_signed(rows),
            None => {
                self.selected = self.selected.saturating_add_signed(rows);
                self.clamp(&shared.engine.trusted);
            }
        }
    }

    fn draw(&mut self, area: LayerArea, shared: Shared, pen: &mut Painter) -> Option<Position> {
        let trusted = shared.engine.trusted.as_slice();
        self.clamp(trusted);
        let count = match trusted.len() {
            0 => String::new(),
            count => format!("{} of {count}", self.selected + 1),
        };
        let rows = u16::try_from(trusted.len()).unwrap_or(u16::MAX).max(12);
        let area = window(area.body, "Trust", &count, (92, rows), pen);
        match (trusted.get(self.selected), &mut self.detail) {
            (None, _) => {
                let text = "No decisions are stored: every call asks. Choices 6 to 9 of a tool call's dialog store one.";
                let dim = pen.theme.dim;
                pen.paragraph(area, &Clean::from_static(text), dim);
            }
            (Some(selected), Some(top)) => draw_detail(selected, top, area, pen),
            (Some(_), None) => draw_list(trusted, self.selected, area, pen),
        }
        None
    }

    fn hints(&self, _: Shared) -> Vec<String> {
        let revoke = layers::hint(Place::Trust, LayerKey::Revoke, "revoke");
        if self.detail.is_some() {
            return vec![revoke, "Esc back".to_owned()];
        }
        let show = layers::hint(Place::Trust, LayerKey::Take, "show");
        vec![show, revoke, "Esc close".to_owned()]
    }
}
