//! The review of a server that `/mcp add` would add: everything that it runs or reaches. Nothing is
//! added without Enter on that text.

use crate::domain::ServerCandidate;
use crate::protocol::{Command, NewServerCommand};
use crate::tui::imports::READING_TIME_MIN;
use crate::tui::imports::text::{MARGIN_COLUMNS, STORED_SECRETS, candidate_text};
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::text_viewer::TextViewer;
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::layout::Position;
use std::time::Duration;

const TITLE: &str = "Add an MCP server";

#[derive(Debug)]
pub struct AddServerLayer {
    candidate: ServerCandidate,
    text: TextViewer,
    /// The width for which `text` was wrapped.
    columns: u16,
    opened_at: Duration,
}

pub fn open(candidate: ServerCandidate, cx: &mut UiContext) {
    let mut layer = AddServerLayer {
        candidate,
        text: TextViewer::new("", ""),
        columns: 0,
        opened_at: cx.shared.now,
    };
    layer.set_columns(cx.shared.size.0);
    cx.open(layer);
}

impl AddServerLayer {
    fn needs_variables(&self) -> bool {
        !self.candidate.server.needed_variables().is_empty()
    }

    /// Wraps the text for this width, because the viewer would not mark continuation rows.
    fn set_columns(&mut self, columns: u16) {
        if columns == self.columns {
            return;
        }
        self.columns = columns;
        let columns = columns.saturating_sub(MARGIN_COLUMNS);
        let mut text = candidate_text(&self.candidate, "", columns);
        text += match self.needs_variables() {
            true => {
                "\nIt is added switched off, unless its variables are set. It asks for them when you \
                 switch it on.\n"
            }
            false => "\nIt is started at once, and at every start of humble.\n",
        };
        if self.candidate.stores_secrets() {
            text += &format!("\n{STORED_SECRETS}\n");
        }
        self.text = TextViewer::new(TITLE, text.trim_start());
    }
}

impl Layer for AddServerLayer {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(key, &[KeyContext::ImportText]) {
            Some(LayerKey::Back) => Handled::Closed,
            Some(LayerKey::Confirm) => {
                let is_read = cx.shared.now >= self.opened_at + READING_TIME_MIN;
                if !is_read || key.kind == KeyEventKind::Repeat {
                    return Handled::Consumed;
                }
                let server = Box::new(self.candidate.server.clone());
                cx.send(Command::NewServer(NewServerCommand::Add(server)));
                Handled::Closed
            }
            _ => self.text.handle_key(key, cx),
        }
    }

    fn scroll(&mut self, rows: isize, shared: SharedUiState) {
        self.text.scroll(rows, shared);
    }

    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position> {
        self.set_columns(shared.size.0);
        self.text.draw(area, shared, pen)
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        let keymap = shared.keymap;
        let hint = |key, word: &str| keymap.layer_hint(KeyContext::ImportText, key, word);
        let scroll = match self.text.has_more_below() {
            true => keymap.layer_hint(KeyContext::ScrollableList, LayerKey::PageDown, "read all"),
            false => None,
        };
        hint_list([
            hint(LayerKey::Confirm, "add it"),
            scroll,
            hint(LayerKey::Back, "cancel"),
        ])
    }
}
