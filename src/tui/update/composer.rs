//! The message editor: typing, pasting, and Enter.

use crate::protocol::Command;
use crate::tui::keymap::Action;
use crate::tui::layer::{Handled, Layer, UiRequest};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{branches, find, messages, navigation, submit};
use crate::tui::widgets::editor::Edit;

pub fn type_char(model: &mut UiModel, c: char) {
    model.composer.paste_detector.char_typed(model.now);
    begin_typing(model);
    model.composer.editor.insert(c.encode_utf8(&mut [0; 4]));
    if c == '/' && model.composer.editor.one_line() == Some("/") {
        let command = Command::ListPromptTemplates;
        model.requests.push_back(UiRequest::Send(command));
    }
}

/// Handles text that arrived faster than anyone types.
pub fn insert_burst(model: &mut UiModel, text: &str) {
    model.composer.burst(text, model.now);
    paste(model, text);
}

/// Pastes into a text field. Pasted text is never submitted and never answers a question.
pub fn paste(model: &mut UiModel, text: &str) {
    let is_armed = model.dialog_has_keys();
    if is_armed && model.with_dialogs(|dialogs, cx| dialogs.paste(text, cx)) == Handled::Consumed {
        return;
    }
    if model.layer.is_some() {
        model.with_layer(|layer, cx| layer.paste(text, cx));
        return;
    }
    if find::paste(model, text) {
        return;
    }
    model.panes.focus = Focus::Message;
    find::close_unless_focused(model);
    begin_typing(model);
    model.composer.editor.insert(text);
}

/// Prepares the message for typed or pasted text: clears a prompt typed by the tour, and
/// inserts digits typed at the first-run chooser.
fn begin_typing(model: &mut UiModel) {
    model.composer.begin_typing();
    if let Some(tour) = &mut model.tour {
        tour.clear_prompt(&mut model.composer.editor);
    }
    move_first_run_digits(model);
}

/// Moves digits typed at the first-run chooser into the message. They were the start of a
/// prompt, not a choice.
fn move_first_run_digits(model: &mut UiModel) {
    if let Some(digits) = model.first_run.give_back() {
        model.composer.editor.insert(&digits);
    }
}

/// Handles Enter: runs a command, sends or queues a prompt, or resumes a paused queue if
/// the message is empty.
pub fn submit_message(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    model.panes.focus = Focus::Message;
    if model.composer.editor.is_blank() && branches::cancel_edit(model) {
        return;
    }
    if model.composer.editor.is_blank() {
        model.composer.queue.paused = false;
        return submit::send_queued(model, effects);
    }
    if messages::submit_answer(model, effects) {
        return;
    }
    // A space before the slash makes it a message.
    let command = model.composer.editor.text();
    if command.starts_with('/') {
        return model.with_composer(|composer, cx| composer.run_typed_command(command.trim(), cx));
    }
    let text = model.composer.editor.take();
    submit_prompt(model, text, effects);
}

/// Sends or queues a prompt.
pub fn submit_prompt(model: &mut UiModel, text: String, effects: &mut Vec<UiEffect>) {
    submit::remember(model, &text);
    model.composer.queue.paused = false;
    let prompt = branches::prompt_from_message(model, text);
    if model.needs_first_model() {
        submit::keep_until_model(model, prompt);
    } else if model.is_busy() {
        model.composer.queue.prompts.push_back(prompt.text);
    } else {
        submit::submit(model, prompt, effects);
    }
}

pub fn edit_message(model: &mut UiModel, edit: Edit, effects: &mut Vec<UiEffect>) {
    if let Some(tour) = &mut model.tour {
        tour.release_prompt();
    }
    move_first_run_digits(model);
    // Without text, the keys for the ends of the line go to the ends of the chat.
    if model.composer.editor.is_empty() {
        let scroll = match edit {
            Edit::LineStart => Some(Action::ScrollToStart),
            Edit::LineEnd => Some(Action::ScrollToEnd),
            _ => None,
        };
        if let Some(scroll) = scroll {
            return navigation::run_action(model, scroll, effects);
        }
    }
    model.composer.edit(edit);
}
