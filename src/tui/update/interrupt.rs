//! Ctrl+C and leaving.

use crate::domain::Notice;
use crate::protocol::{Answer, Command};
use crate::tui::composer::draft;
use crate::tui::layer::{Handled, Request};
use crate::tui::model::{ENGINE_SILENT, Focus, Model};
use crate::tui::msg::Effect;
use crate::tui::update::{engine, probe};
use std::time::Duration;

/// A Ctrl+C so soon after a turn's end was most likely meant for the turn.
const MEANT_FOR_TURN: Duration = Duration::from_secs(1);

/// Stops the turn; at rest it closes what lies over the panes, and else leaves. It leaves
/// at once where the engine has not acknowledged an earlier Ctrl+C in time.
pub fn interrupt(model: &mut Model, effects: &mut Vec<Effect>) {
    if is_stuck(model) {
        return leave(model, effects);
    }
    let sent_before = effects.len();
    stop_or_leave(model, effects);
    let is_interrupt =
        |effect: &Effect| matches!(effect, Effect::Send(command) if command.is_interrupt());
    let is_asked =
        |request: &Request| matches!(request, Request::Send(command) if command.is_interrupt());
    if effects[sent_before..].iter().any(is_interrupt) || model.requests.iter().any(is_asked) {
        model.interrupt_sent.get_or_insert(model.now);
    }
}

/// Has the engine left a Ctrl+C unacknowledged for too long?
pub fn is_stuck(model: &Model) -> bool {
    let since = model.interrupt_sent;
    since.is_some_and(|since| model.now >= since + ENGINE_SILENT)
}

fn stop_or_leave(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.running().is_some() {
        model.interrupting = true;
        model.queue.paused |= !model.queue.prompts.is_empty();
        return effects.push(Effect::Send(Command::Interrupt));
    }
    if probe::stop(model, effects) {
        return;
    }
    if model.with_layer(|layer, cx| layer.interrupt(cx)) != Handled::PassedOn {
        return;
    }
    if model.over_chat.take().is_some() {
        model.focus = Focus::Message;
        return;
    }
    // A question that is no turn's: it goes, with its safe answer.
    if let Some(ask) = model.asks.first().filter(|ask| ask.armed) {
        let (ask, answer) = (ask.id, Answer::Dismissed);
        effects.push(Effect::Send(Command::Answer { ask, answer }));
        return engine::answered(model);
    }
    let soon = |ended: Duration| model.now.saturating_sub(ended) < MEANT_FOR_TURN;
    if model.clock.ended.is_some_and(soon) {
        model.clock.ended = None;
        return model.notify(Notice::info("Ctrl+C again leaves"));
    }
    leave(model, effects);
}

/// What was queued and what was typed is kept and offered at the next start.
pub fn leave(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(kept) = draft::kept(model) {
        effects.push(Effect::Send(Command::KeepDraft(kept)));
    }
    effects.push(Effect::Quit);
}
