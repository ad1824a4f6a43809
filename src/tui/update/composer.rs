//! The message editor: typing, pasting, and Enter.

use crate::tui::layer::{Handled, Layer};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::panes::Focus;
use crate::tui::update::{branches, submit};
use crate::tui::widgets::editor::Edit;

pub fn type_char(model: &mut Model, c: char) {
    model.composer.pasting.typed(model.now);
    begin_typing(model);
    model.composer.editor.insert(c.encode_utf8(&mut [0; 4]));
}

/// Handles text that arrived faster than anyone types.
pub fn burst(model: &mut Model, text: &str) {
    model.composer.burst(text, model.now);
    paste(model, text);
}

/// Pastes into a text field. Pasted text is never submitted and never answers a question.
pub fn paste(model: &mut Model, text: &str) {
    let is_armed = model.dialogs.is_armed();
    if is_armed && model.with_dialogs(|dialogs, cx| dialogs.paste(text, cx)) == Handled::Consumed {
        return;
    }
    if model.layer.is_some() {
        model.with_layer(|layer, cx| layer.paste(text, cx));
        return;
    }
    model.panes.focus = Focus::Message;
    begin_typing(model);
    model.composer.editor.insert(text);
}

/// Clears a prompt typed ahead by the tour, and moves digits typed at the first-run chooser
/// into the message.
fn begin_typing(model: &mut Model) {
    model.composer.begin_typing();
    if let Some(guide) = &mut model.guide {
        guide.make_room(&mut model.composer.editor);
    }
    give_back(model);
}

/// Moves digits typed at the first-run chooser into the message: they turned out to be its
/// beginning.
fn give_back(model: &mut Model) {
    if let Some(typed) = model.first_run.give_back() {
        model.composer.editor.insert(&typed);
    }
}

/// Handles Enter: runs a command, sends or queues a prompt, or resumes a paused queue if
/// the message is empty.
pub fn send(model: &mut Model, effects: &mut Vec<Effect>) {
    model.panes.focus = Focus::Message;
    if model.composer.editor.is_blank() && branches::keeps_as_it_was(model) {
        return;
    }
    if model.composer.editor.is_blank() {
        model.composer.queue.paused = false;
        return submit::send_queued(model, effects);
    }
    let command = model.composer.editor.text();
    if command.trim_start().starts_with('/') {
        return model.with_composer(|composer, cx| composer.run_typed(command.trim(), cx));
    }
    let text = model.composer.editor.take();
    submit::remember(model, &text);
    model.composer.queue.paused = false;
    let prompt = branches::edited(model, text);
    if model.is_busy() {
        model.composer.queue.prompts.push_back(prompt.text);
    } else {
        submit::submit(model, prompt, effects);
    }
}

pub fn edit(model: &mut Model, edit: Edit) {
    if let Some(guide) = &mut model.guide {
        guide.disown();
    }
    give_back(model);
    model.composer.edit(edit);
}
