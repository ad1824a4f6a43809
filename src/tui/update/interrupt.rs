//! Ctrl+C and quitting.

use crate::domain::Notice;
use crate::protocol::{Command, UserAnswer};
use crate::tui::layer::{Handled, UiRequest};
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::probe;
use std::time::Duration;

/// A Ctrl+C this soon after a turn was probably meant for that turn.
const TURN_END_GRACE: Duration = Duration::from_secs(1);

/// Stops the turn. With no turn running, dismisses the question on the screen, or closes what is
/// open over the panes, or clears the message, or else quits.
/// Quits at once if the engine has not acknowledged an earlier Ctrl+C in time.
pub fn interrupt(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.interrupt.is_stuck(model.now) {
        return quit(model, effects);
    }
    let sent_before = effects.len();
    stop_or_quit(model, effects);
    let is_interrupt =
        |effect: &UiEffect| matches!(effect, UiEffect::Send(command) if command.is_interrupt());
    let is_asked =
        |request: &UiRequest| matches!(request, UiRequest::Send(command) if command.is_interrupt());
    if effects[sent_before..].iter().any(is_interrupt) || model.requests.iter().any(is_asked) {
        model.interrupt.sent_at.get_or_insert(model.now);
    }
}

fn stop_or_quit(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.running_turn().is_some() {
        model.interrupt.is_stopping = true;
        model.composer.queue.pause();
        return effects.push(UiEffect::Send(Command::Interrupt));
    }
    if probe::stop_probe(model, effects) {
        return;
    }
    // A question that belongs to no turn gets its safe answer, even before it accepts keys.
    if model.visible_dialog().is_some() {
        return model.with_dialogs(|dialogs, cx| dialogs.answer(UserAnswer::Dismissed, cx));
    }
    if model.with_layer(|layer, cx| layer.interrupt(cx)) != Handled::PassedOn {
        return;
    }
    if model.panes.over_chat.take().is_some() {
        model.panes.focus = Focus::Message;
        return;
    }
    if model
        .composer
        .clear_to_history(model.conversation.is_private)
    {
        return;
    }
    let soon = |ended: Duration| model.now.saturating_sub(ended) < TURN_END_GRACE;
    if model.chat.timing.ended_at.is_some_and(soon) {
        model.chat.timing.ended_at = None;
        return model.notify(Notice::info("Ctrl+C again to quit"));
    }
    quit(model, effects);
}

/// Quits and saves queued and typed text as a draft.
pub fn quit(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if let Some(kept) = draft_to_save(model) {
        effects.push(UiEffect::Send(Command::SaveDraft(kept)));
    }
    effects.push(UiEffect::Quit);
}

/// The draft to save on exit.
pub fn draft_to_save(model: &UiModel) -> Option<String> {
    let last = model.chat.transcript.last_prompt().map(|last| last.text);
    let guide = model.tour.as_ref();
    let is_typed_ahead =
        guide.is_some_and(|guide| guide.has_untouched_prompt(&model.composer.editor));
    let is_private = model.conversation.is_private;
    model
        .composer
        .draft_to_save(is_private, last, is_typed_ahead)
}
