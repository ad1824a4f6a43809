//! Keeps the last run's unsent text out of private conversations, and puts it back afterwards.

use crate::domain::UnsentText;
use crate::protocol::Command;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{queue, unsent};

/// Sets the last run's queue aside, because private mode was requested. The draft on disk then
/// contains no text that belongs to the private conversation.
pub fn begin_private(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    queue::put_edited_back(model);
    model.composer.set_queue_aside();
    if let Some(draft) = model
        .composer
        .begin_private(model.attachments.draft_files())
    {
        effects.push(UiEffect::Send(Command::SaveDraft(draft)));
    }
}

/// The command that saves what remains of the draft once the message and the queue were sent or
/// discarded: the text that was set aside, if any.
pub fn save_remaining(model: &UiModel) -> Command {
    let set_aside = model.composer.set_aside();
    match set_aside.is_blank() {
        true => Command::SaveDraft(UnsentText::default()),
        false => Command::SaveSetAsideDraft(set_aside.clone()),
    }
}

/// Handles the start or the end of private mode.
pub fn private_changed(model: &mut UiModel, is_private: bool) {
    model.conversation.is_private = is_private;
    model.composer.private_changed(is_private);
    // If another conversation opens, the queue returns only afterwards.
    if std::mem::take(&mut model.conversation.ends_private) {
        end_private(model);
    }
}

/// Puts the unsent text back, once an ordinary conversation is open.
pub fn end_private(model: &mut UiModel) {
    if model.conversation.is_private {
        return;
    }
    if let Some(draft) = model.composer.take_set_aside() {
        let prompts = model.composer.history().prompts().to_vec();
        let notice = unsent::restore_draft(model, &prompts, draft);
        model.notices.queue(notice);
    }
}
