//! Slash commands: completes and runs them, and suggests one for an unknown name.

use crate::commands::{find_command, unknown_command};
use crate::tui::composer::completion::{CompletionList, CompletionMatch};
use crate::tui::composer::state::{CompletionState, Composer};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::{Handled, UiContext, UiRequest};
use crate::tui::{server_content, templates};
use crossterm::event::KeyEvent;

impl Composer {
    /// Handles a key while the completion list is open.
    pub fn handle_completion_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let Some(list) = self.completions(cx.shared) else {
            return Handled::PassedOn;
        };
        let last = list.rows.len() - 1;
        match cx.shared.keymap.layer_key(key, &[KeyContext::Completions]) {
            Some(LayerKey::Up) => {
                let above = list.selected.and_then(|row| row.checked_sub(1));
                self.completion = CompletionState::Selected(above.unwrap_or(last));
            }
            Some(LayerKey::Down) => {
                let below = list.selected.map_or(0, |row| row + 1);
                let row = if below > last { 0 } else { below };
                self.completion = CompletionState::Selected(row);
            }
            Some(LayerKey::Complete) => {
                let row = &list.rows[list.selected.unwrap_or(0)];
                let suffix = if row.takes_more { " " } else { "" };
                self.editor.replace_all(&format!("{}{suffix}", row.message));
                self.completion = CompletionState::default();
            }
            Some(LayerKey::Back) => self.completion = CompletionState::Closed,
            Some(LayerKey::Confirm) => return self.run_selected_completion(&list, cx),
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    /// Runs the selected row on Enter. Passes the key on if no row is selected, within a paste, and if
    /// the command is typed in full and the user did not move the selection: Enter then runs the typed
    /// command.
    fn run_selected_completion(&mut self, list: &CompletionList, cx: &mut UiContext) -> Handled {
        let Some(row) = list.selected.map(|row| &list.rows[row]) else {
            return Handled::PassedOn;
        };
        let has_moved = matches!(self.completion, CompletionState::Selected(_));
        let is_typed = row.quality == CompletionMatch::Exact && !has_moved;
        // An Enter within a paste is a line break and runs nothing.
        let paste = &self.paste_detector;
        let is_pasted = paste.should_hold_enter(cx.shared.now) || paste.is_pasting(cx.shared.now);
        if is_typed || is_pasted {
            return Handled::PassedOn;
        }
        self.run_typed_command(&row.message, cx);
        Handled::Consumed
    }

    /// Runs a typed command. An unknown command stays in the editor so that the user can
    /// correct it.
    pub fn run_typed_command(&mut self, line: &str, cx: &mut UiContext) {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(row) = find_command(name) {
            self.editor.take();
            cx.request(UiRequest::RememberCommand(row.binding.to_owned()));
            return cx.request(UiRequest::RunCommand(row, argument.trim().to_owned()));
        }
        if let Some(template) = cx.shared.engine.templates.find(&name[1..]) {
            if templates::use_template(template, argument.trim(), cx) {
                cx.request(UiRequest::RememberCommand(templates::command(template)));
                self.editor.take();
            }
            return;
        }
        if server_content::run_typed_prompt(&name[1..], argument.trim(), cx) {
            self.editor.take();
            return;
        }
        cx.notify(unknown_command(name, &cx.shared.engine.templates));
    }
}
