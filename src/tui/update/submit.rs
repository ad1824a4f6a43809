//! Sending prompts, at once or when the turn under way has ended.

use crate::domain::{Notice, Prompt, PromptKind, TurnEvent, TurnId};
use crate::protocol::{Command, Event};
use crate::tui::layer::UiRequest;
use crate::tui::msg::UiEffect;
use crate::tui::ui_model::UiModel;
use crate::tui::update::turns;

/// Sends the next queued prompt, where none is under way.
pub fn send_queued(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if model.is_busy() || model.composer.queue.paused {
        return;
    }
    if let Some(text) = model.composer.queue.prompts.pop_front() {
        submit(model, Prompt::new(text), effects);
    }
}

/// The prompt is on screen before anything is sent anywhere.
pub fn submit(model: &mut UiModel, prompt: Prompt, effects: &mut Vec<UiEffect>) {
    let turn = TurnId(model.ids.turns.next_id());
    let started = TurnEvent::Started {
        prompt: prompt.clone(),
        model: model.engine.model_name().to_owned(),
    };
    let event = Event::Turn(turn, started);
    model.with_layer(|layer, cx| layer.handle_event(&event, cx));
    if let Event::Turn(turn, started) = &event {
        turns::apply_event(model, *turn, started, effects);
    }
    model.chat.viewport.follows_end = true;
    let command = if prompt.kind == PromptKind::Compact {
        Command::Compact { turn }
    } else {
        Command::Submit { turn, prompt }
    };
    // Behind what the open layer asked for.
    model.requests.push_back(UiRequest::Send(command));
}

/// Has the older part of the context summarised.
pub fn compact(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if notify_if_busy(model) {
        return;
    }
    submit(model, Prompt::compaction(), effects);
}

/// Goes on with an answer that the limit of tokens cut.
pub fn continue_answer(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    if notify_if_busy(model) {
        return;
    }
    if !model.conversation.cut {
        return model.notify(Notice::info("The last answer was not cut."));
    }
    submit(model, Prompt::continuation(), effects);
}

pub fn remember(model: &mut UiModel, prompt: &str) {
    model
        .composer
        .remember(prompt, model.conversation.is_private);
}

/// Sends a command that waits for no turn.
pub fn send_if_idle(model: &mut UiModel, command: Command, effects: &mut Vec<UiEffect>) {
    if !notify_if_busy(model) {
        effects.push(UiEffect::Send(command));
    }
}

/// Is the model taken? Then a notice says by what.
pub fn notify_if_busy(model: &mut UiModel) -> bool {
    let what = match model.running_turn() {
        Some(_) => "The present turn is still under way.",
        None if model.is_busy() => "The model is being probed.",
        None => return false,
    };
    model.notify(Notice::info(what).with_advice("Ctrl+C stops it."));
    true
}
