//! Slash commands: completes and runs them, and suggests one for an unknown name.

use crate::commands::command_with_meaning;
use crate::domain::Notice;
use crate::front_end::advice;
use crate::text::Clean;
use crate::text::suggest::nearest;
use crate::tui::composer::completion::{CompletionList, CompletionMatch};
use crate::tui::composer::state::{CompletionState, Composer};
use crate::tui::keymap;
use crate::tui::keymap::Action;
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
        if let Some((_, binding)) = keymap::find_command(name) {
            if let Some(command) = binding.command_that_needs_argument()
                && argument.trim().is_empty()
            {
                self.editor.take();
                cx.request(UiRequest::TypeCommand(command));
                let usage = format!("Usage: {command} {}", binding.usage);
                return cx.notify(Notice::info(usage));
            }
            let listed = keymap::binding_for(binding.action).unwrap_or(binding);
            cx.request(UiRequest::RememberCommand(listed.name.to_owned()));
            return self.run_action(binding.action, argument.trim(), cx);
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
        let name = name.to_lowercase();
        if name == "/" {
            let notice = Notice::info("Type the name of a command after the slash.");
            return cx.notify(notice.with_advice("/help lists them all."));
        }
        let notice = Notice::warning(format!("Unknown command {name}."));
        if let Some(problem) = &cx.shared.engine.templates.problem {
            return cx.notify(notice.with_reason(advice::notice_line(problem)));
        }
        let templates: Vec<String> = templates::listed_templates(cx.shared)
            .map(templates::command)
            .collect();
        let names = keymap::commands().map(|(command, _)| command);
        let names = names.chain(templates.iter().map(String::as_str));
        let similar = nearest(&name, names).or_else(|| command_with_meaning(&name[1..]));
        cx.notify(notice.with_advice(match similar {
            Some(similar) => format!("Did you mean {}?", Clean::single_line(similar).as_str()),
            None if name[1..].contains('/') => "To send a path, put a space before it.".to_owned(),
            None => "/help lists them all.".to_owned(),
        }));
    }

    fn run_action(&mut self, action: Action, argument: &str, cx: &mut UiContext) {
        self.editor.take();
        cx.request(UiRequest::RunCommand(action, argument.to_owned()));
    }
}
