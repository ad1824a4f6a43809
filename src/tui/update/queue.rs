//! Keys for the prompts that wait for the running turn. None of them touches that turn.

use crate::domain::Notice;
use crate::tui::composer::queue::QueuedPrompt;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{submit, unsent};
use crossterm::event::KeyEvent;

/// Handles a key while a queued prompt is selected or edited. Returns whether the key was handled.
pub fn handle_key(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) -> bool {
    let key = model.keymap.layer_key(key, &[KeyContext::Queue]);
    if model.composer.queue.edited().is_some() && key == Some(LayerKey::Back) {
        cancel_edit(model, effects);
        return true;
    }
    let has_text = !model.composer.editor.is_empty();
    let queue = &mut model.composer.queue;
    if has_text {
        // Text was pasted, or arrived faster than anyone types: a queued prompt must not replace it.
        queue.deselect();
    }
    if queue.selected().is_none() {
        return false;
    }
    match key {
        Some(LayerKey::Up) => queue.select_previous(),
        Some(LayerKey::Down) => queue.select_next(),
        Some(LayerKey::MoveUp) => queue.move_selected(true),
        Some(LayerKey::MoveDown) => queue.move_selected(false),
        Some(LayerKey::Back) => queue.deselect(),
        Some(LayerKey::Confirm) => begin_edit(model),
        Some(LayerKey::Delete) => {
            queue.remove_selected();
            let notice = Notice::info("Removed from the queue.");
            let advice = model.keymap.hint(Action::SearchHistory, "finds it again.");
            model.notify(match advice {
                Some(advice) => notice.with_advice(advice),
                None => notice,
            });
        }
        _ => {
            queue.deselect();
            return false;
        }
    }
    true
}

/// The prompt keeps its place in the queue.
fn begin_edit(model: &mut UiModel) {
    if let Some(prompt) = model.composer.queue.begin_edit() {
        model.composer.editor.set(&prompt.text);
        model.composer.forget_replaced_message();
        model.attachments.replace_for_edit(prompt.attachments);
    }
}

fn cancel_edit(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let queue = &model.composer.queue;
    let queued = queue.edited().and_then(|at| queue.prompts().nth(at));
    let has_changes = queued.is_some_and(|queued| queued.text != model.composer.editor.text());
    if !model.composer.queue.cancel_edit() {
        return;
    }
    let mut notice = Notice::info("The queued prompt is unchanged.");
    if has_changes {
        unsent::clear_to_history(model);
        let finds = model.keymap.hint(Action::SearchHistory, "finds your text.");
        notice = notice.with_advice(finds.unwrap_or_default());
    } else {
        model.composer.editor.take();
    }
    model.composer.forget_replaced_message();
    model.attachments.end_edit();
    model.notify(notice);
    submit::send_queued(model, effects);
}

/// Puts the edited prompt back into its place, or removes it if it is blank. A command stays in the
/// message. Returns false if no prompt was being edited.
pub fn finish_edit(model: &mut UiModel, effects: &mut Vec<UiEffect>) -> bool {
    if model.composer.queue.edited().is_none() {
        return false;
    }
    let text = model.composer.editor.text();
    if text.starts_with('/') && !text.starts_with(submit::CHAT_COMMAND) {
        model.notify(Notice::warning("Commands cannot be queued."));
        return true;
    }
    model.composer.editor.take();
    model.composer.forget_replaced_message();
    let attachments = model.attachments.take_ready();
    model.attachments.end_edit();
    let prompt = QueuedPrompt {
        attachments,
        ..QueuedPrompt::new(text)
    };
    if prompt.text.trim().is_empty() {
        model.notify(Notice::info("Removed from the queue."));
    } else {
        submit::remember(model, &prompt.text);
    }
    model.composer.queue.finish_edit(prompt);
    submit::send_queued(model, effects);
    true
}

/// Puts the prompt that is being edited back into its place, as far as it has been edited.
pub fn put_edited_back(model: &mut UiModel) {
    if model.composer.queue.edited().is_some() {
        let text = model.composer.editor.take();
        let attachments = model.attachments.take_ready();
        model.attachments.end_edit();
        let edited = QueuedPrompt {
            attachments,
            ..QueuedPrompt::new(text)
        };
        model.composer.queue.finish_edit(edited);
    }
}

/// Takes the prompts out of the queue, because they were meant for another conversation. A single
/// one goes into the message if that is empty. Otherwise they go to the history: in the message,
/// several would become one prompt. In a private conversation, prompts that cannot go into the
/// message are dropped.
pub fn withdraw_prompts(model: &mut UiModel) {
    put_edited_back(model);
    let mut prompts = model.composer.queue.take_all();
    let count = prompts.len();
    if count == 0 {
        return;
    }
    let notice = if count == 1 && model.composer.editor.is_blank() && model.attachments.is_empty() {
        if let Some(prompt) = prompts.pop() {
            model.composer.editor.set(&prompt.text);
            model.composer.forget_replaced_message();
            let missing = prompt.missing.into_iter();
            model.attachments.show(prompt.attachments);
            model
                .attachments
                .add_lost(missing.map(|missing| missing.file).collect());
        }
        Notice::info("Moved the queued prompt back to the message.")
    } else if model.composer.has_private_text() {
        // Private text must not enter the history.
        Notice::info("The queued prompts of the private conversation were removed.")
    } else {
        for prompt in &prompts {
            unsent::keep_in_history(model, &prompt.text);
        }
        let files = prompts.iter().flat_map(QueuedPrompt::files);
        let files: Vec<String> = files.map(|file| file.name).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        unsent::kept_queue_notice(model, count, &files)
    };
    model.notify(notice);
}
