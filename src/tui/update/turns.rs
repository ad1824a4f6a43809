//! Applies turn events to the model.

use crate::domain::{Body, Notice, TurnEnd, TurnEvent, TurnId};
use crate::tui::conversation::title_of;
use crate::tui::demo_tour::watch;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use std::time::Duration;

/// A turn of at least this length notifies the user when it ends.
const LONG_TURN: Duration = Duration::from_secs(10);

/// Applies a turn event. Returns true if the running turn has ended.
pub fn take(model: &mut Model, id: TurnId, event: &TurnEvent, effects: &mut Vec<Effect>) -> bool {
    let was_running = model.running();
    model.chat.take(id, event, model.engine.mode, model.now);
    match event {
        TurnEvent::Tool(call) => model.dialogs.call_changed(call.id),
        TurnEvent::Started { prompt, .. } => {
            model.conversation.last_turn = Some(prompt.clone());
        }
        TurnEvent::Ended { end, .. } if was_running == Some(id) => {
            ended(model, end, effects);
            return true;
        }
        _ => {}
    }
    false
}

fn ended(model: &mut Model, end: &TurnEnd, effects: &mut Vec<Effect>) {
    model.conversation.turn_ended(end);
    if model.conversation.last_turn.is_some() {
        replaced(model, matches!(end, TurnEnd::Answered { .. }));
    }
    model.interrupt.is_stopping = false;
    watch::ended(model, end);
    let stopped = matches!(
        end,
        TurnEnd::Cancelled | TurnEnd::Refused | TurnEnd::Stopped | TurnEnd::Failed { .. }
    );
    if stopped {
        model.composer.queue.pause();
    }
    let took = model.now.saturating_sub(model.chat.timing.turn_started);
    if !model.screen.has_focus && took >= LONG_TURN {
        effects.push(Effect::CallBack("humble: the turn has ended"));
    }
}

/// Finishes a turn that replaces another.
fn replaced(model: &mut Model, answered: bool) {
    let Some(replacing) = model.conversation.replacing.take().filter(|_| answered) else {
        return;
    };
    model.conversation.branched = true;
    model.notify(Notice::info(replacing.kept));
    let prompt = model.conversation.last_prompt().unwrap_or_default();
    let first = model
        .chat
        .transcript
        .entries()
        .first()
        .map(|entry| &entry.body);
    let is_first = matches!(first, Some(Body::Prompt { text, .. }) if text == prompt);
    // The title came from the replaced prompt.
    if is_first && model.conversation.title == replacing.title {
        model.conversation.title = title_of(prompt).to_owned();
    }
}
