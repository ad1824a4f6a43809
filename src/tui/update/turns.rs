//! Applies turn events to the model.

use crate::domain::{TurnEnd, TurnEvent, TurnId};
use crate::tui::demo_tour::progress;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use std::time::Duration;

/// When a turn of at least this length ends, the user is alerted if the terminal lacks the focus.
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
            // The summary never started, so the chat does not show it.
            TurnEvent::Ended { end, .. } => {
                if let TurnEnd::Failed { notice } = end {
                    model.notify(notice.clone());
                }
                return true;
            }
            _ => {}
        }
    }
    let running_turn = model.running_turn();
    model.chat.apply(id, event, model.engine.mode, model.now);
    match event {
        TurnEvent::Tool(call) => model.dialogs.call_changed(call.id),
        TurnEvent::Started { prompt, .. } => {
            model.conversation.last_prompt = Some(prompt.clone());
        }
        TurnEvent::Ended { end, .. } if running_turn == Some(id) => {
            turn_ended(model, id, end, effects);
            return true;
        }
        _ => {}
    }
    false
}

fn turn_ended(model: &mut UiModel, turn: TurnId, end: &TurnEnd, effects: &mut Vec<UiEffect>) {
    let conversation = &mut model.conversation;
    let replaced = conversation.turn_ended(turn, end, &model.chat.transcript);
    if let Some(notice) = replaced {
        model.notify(notice);
    }
    model.interrupt.is_stopping = false;
    progress::turn_ended(model, end);
    let pauses_queue = matches!(
        end,
        TurnEnd::Cancelled | TurnEnd::Refused | TurnEnd::Stopped | TurnEnd::Failed { .. }
    );
    if pauses_queue {
        model.composer.queue.pause();
    }
    let elapsed = model.now.saturating_sub(model.chat.timing.turn_started);
    if !model.screen.has_focus && elapsed >= NOTIFY_TURN_MIN {
        effects.push(UiEffect::Notify("humble: the turn has ended"));
    }
}
