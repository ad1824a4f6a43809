//! Applies turn events to the model.

use crate::domain::{EntryBody, Notice, TurnEnd, TurnEvent, TurnId};
use crate::tui::conversation::title_of;
use crate::tui::demo_tour::progress;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use std::time::Duration;

/// A turn of at least this length notifies the user when it ends.
const NOTIFY_TURN_MIN: Duration = Duration::from_secs(10);

/// Applies a turn event. Returns true if a turn has ended, so that the next prompt may be sent.
pub fn apply_event(
    model: &mut UiModel,
    id: TurnId,
    event: &TurnEvent,
    effects: &mut Vec<UiEffect>,
) -> bool {
    if model.conversation.requested_summary == Some(id) {
        model.conversation.requested_summary = None;
        match event {
            TurnEvent::Started { .. } => model.chat.viewport.follows_end = true,
            // It never started, so it leaves nothing in the chat.
            TurnEvent::Ended { end, .. } => {
                if let TurnEnd::Failed { notice } = end {
                    model.notify(notice.clone());
                }
                return true;
            }
            _ => {}
        }
    }
    let was_running = model.running_turn();
    model.chat.apply(id, event, model.engine.mode, model.now);
    match event {
        TurnEvent::Tool(call) => model.dialogs.call_changed(call.id),
        TurnEvent::Started { prompt, .. } => {
            model.conversation.last_turn = Some(prompt.clone());
        }
        TurnEvent::Ended { end, .. } if was_running == Some(id) => {
            turn_ended(model, end, effects);
            return true;
        }
        _ => {}
    }
    false
}

fn turn_ended(model: &mut UiModel, end: &TurnEnd, effects: &mut Vec<UiEffect>) {
    model.conversation.turn_ended(end);
    if model.conversation.last_turn.is_some() {
        finish_replacement(model, matches!(end, TurnEnd::Answered { .. }));
    }
    model.interrupt.is_stopping = false;
    progress::turn_ended(model, end);
    let stopped = matches!(
        end,
        TurnEnd::Cancelled | TurnEnd::Refused | TurnEnd::Stopped | TurnEnd::Failed { .. }
    );
    if stopped {
        model.composer.queue.pause();
    }
    let took = model.now.saturating_sub(model.chat.timing.turn_started);
    if !model.screen.has_focus && took >= NOTIFY_TURN_MIN {
        effects.push(UiEffect::Notify("humble: the turn has ended"));
    }
}

/// Finishes a turn that replaces another.
fn finish_replacement(model: &mut UiModel, answered: bool) {
    let Some(replacing) = model.conversation.replacement.take().filter(|_| answered) else {
        return;
    };
    model.conversation.has_branches = true;
    model.notify(Notice::info(replacing.notice));
    let prompt = model.conversation.last_prompt().unwrap_or_default();
    let first = model
        .chat
        .transcript
        .entries()
        .first()
        .map(|entry| &entry.body);
    let is_first = matches!(first, Some(EntryBody::Prompt { text, .. }) if text == prompt);
    // The title came from the replaced prompt.
    if is_first && model.conversation.title == replacing.title {
        model.conversation.title = title_of(prompt).to_owned();
    }
}
