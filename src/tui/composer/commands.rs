//! Slash commands: completing and running them, and suggesting one for an unknown name.

use crate::domain::Notice;
use crate::tui::composer::state::{CompletionState, Composer};
use crate::tui::keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::keymap::{Action, layers};
use crate::tui::layer::{Handled, UiContext, UiRequest};
use crate::tui::widgets::suggest::suggest;
use crossterm::event::KeyEvent;

impl Composer {
    /// Handles a key while the completion list is open.
    pub fn handle_completion_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        let completions = self.completions();
        let count = completions.len();
        let selected = self.selected_completion(count);
        let Some((command, binding)) = completions.get(selected) else {
            return Handled::PassedOn;
        };
        match layers::find_key(key, &[KeyContext::Completions]) {
            Some(LayerKey::Up) => {
                self.completion = CompletionState::Selected((selected + count - 1) % count)
            }
            Some(LayerKey::Down) => {
                self.completion = CompletionState::Selected((selected + 1) % count)
            }
            Some(LayerKey::Complete) => {
                let suffix = if binding.usage.is_empty() { "" } else { " " };
                self.editor.set(&format!("{command}{suffix}"));
            }
            Some(LayerKey::Back) => self.completion = CompletionState::Closed,
            // Enter runs the selected command, but a fully typed one is left to the composer
            // unless the user moved the selection.
            Some(LayerKey::Confirm) => {
                let typed = self.editor.text();
                let is_exact = completions.iter().any(|(command, _)| *command == typed);
                if selected == 0 && (is_exact || typed == "/") {
                    return Handled::PassedOn;
                }
                self.run_action(binding.action, "", cx);
            }
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    /// Runs a typed command. An unknown command stays in the editor so that the user can
    /// correct it.
    pub fn run_typed_command(&mut self, line: &str, cx: &mut UiContext) {
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.to_lowercase();
        let found = keymap::commands().find(|(command, _)| *command == name);
        if let Some((_, binding)) = found {
            return self.run_action(binding.action, argument.trim(), cx);
        }
        let mut notice = Notice::warning(format!("Unknown command {name}."));
        let names = keymap::commands().map(|(command, _)| command);
        if let Some(similar) = suggest(&name, names) {
            notice = notice.with_advice(format!("Did you mean {similar}?"));
        }
        cx.notify(notice);
    }

    fn run_action(&mut self, action: Action, argument: &str, cx: &mut UiContext) {
        self.editor.take();
        cx.request(UiRequest::RunCommand(action, argument.to_owned()));
    }
}
