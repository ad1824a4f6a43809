//! Ctrl+C and quitting.

use crate::domain::Notice;
use crate::protocol::{Answer, Command};
use crate::tui::layer::{Handled, Request};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::panes::Focus;
use crate::tui::update::probe;
use std::time::Duration;

/// A Ctrl+C this soon after a turn was probably meant for that turn.
const MEANT_FOR_TURN: Duration = Duration::from_secs(1);

/// Stops the turn. With no turn running, closes what is open over the panes, or else quits.
/// Quits at once if the engine has not acknowledged an earlier Ctrl+C in time.
pub fn interrupt(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.interrupt.is_stuck(model.now) {
        return leave(model, effects);
    }
    let sent_before = effects.len();
    stop_or_leave(model, effects);
    let is_interrupt =
        |effect: &Effect| matches!(effect, Effect::Send(command) if command.is_interrupt());
    let is_asked =
        |request: &Request| matches!(request, Request::Send(command) if command.is_interrupt());
    if effects[sent_before..].iter().any(is_interrupt) || model.requests.iter().any(is_asked) {
        model.interrupt.sent.get_or_insert(model.now);
    }
}

fn stop_or_leave(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.running().is_some() {
        model.interrupt.is_stopping = true;
        model.composer.queue.pause();
        return effects.push(Effect::Send(Command::Interrupt));
    }
    if probe::stop(model, effects) {
        return;
    }
    if model.with_layer(|layer, cx| layer.interrupt(cx)) != Handled::PassedOn {
        return;
    }
    if model.panes.over_chat.take().is_some() {
        model.panes.focus = Focus::Message;
        return;
    }
    // Dismisses a question that belongs to no turn, with its safe answer.
    if model.dialogs.is_armed() {
        return model.with_dialogs(|dialogs, cx| dialogs.answer(Answer::Dismissed, cx));
    }
    let soon = |ended: Duration| model.now.saturating_sub(ended) < MEANT_FOR_TURN;
    if model.chat.timing.ended.is_some_and(soon) {
        model.chat.timing.ended = None;
        return model.notify(Notice::info("Ctrl+C again to quit"));
    }
    leave(model, effects);
}

/// Quits and saves queued and typed text as a draft.
pub fn leave(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(kept) = kept_draft(model) {
        effects.push(Effect::Send(Command::KeepDraft(kept)));
    }
    effects.push(Effect::Quit);
}

/// The draft to save on exit.
pub fn kept_draft(model: &Model) -> Option<String> {
    let last = model.chat.transcript.last_prompt().map(|last| last.text);
    let guide = model.guide.as_ref();
    let is_typed_ahead = guide.is_some_and(|guide| guide.owns(&model.composer.editor));
    let is_private = model.conversation.private;
    model.composer.kept(is_private, last, is_typed_ahead)
}
