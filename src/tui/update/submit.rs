//! Submits prompts, or queues them during a turn.

use crate::domain::{Notice, Prompt, PromptKind, TurnEvent, TurnId};
use crate::protocol::{Command, Event};
use crate::tui::layer::Request;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::update::turns;

/// Sends the next queued prompt if no turn is running.
pub fn send_queued(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.is_busy() || model.composer.queue.paused {
        return;
    }
    if let Some(text) = model.composer.queue.prompts.pop_front() {
        submit(model, Prompt::new(text), effects);
    }
}

/// Shows the prompt before anything is sent.
pub fn submit(model: &mut Model, prompt: Prompt, effects: &mut Vec<Effect>) {
    let turn = TurnId(model.ids.turns.mint());
    let started = TurnEvent::Started {
        prompt: prompt.clone(),
        model: model.engine.model_name().to_owned(),
    };
    let event = Event::Turn(turn, started);
    model.with_layer(|layer, cx| layer.event(&event, cx));
    if let Event::Turn(turn, started) = &event {
        turns::take(model, *turn, started, effects);
    }
    model.chat.viewport.follow = true;
    let command = if prompt.kind == PromptKind::Compact {
        Command::Compact { turn }
    } else {
        Command::Submit { turn, prompt }
    };
    // Queue it behind requests of the open layer.
    model.requests.push_back(Request::Send(command));
}

/// Summarizes the older part of the context.
pub fn compact(model: &mut Model, effects: &mut Vec<Effect>) {
    if is_busy(model) {
        return;
    }
    submit(model, Prompt::compacting(), effects);
}

/// Continues an answer that the token limit truncated.
pub fn go_on(model: &mut Model, effects: &mut Vec<Effect>) {
    if is_busy(model) {
        return;
    }
    if !model.conversation.cut {
        return model.notify(Notice::info(
            "Nothing to continue: the last answer was not truncated.",
        ));
    }
    submit(model, Prompt::continuing(), effects);
}

pub fn remember(model: &mut Model, prompt: &str) {
    model.composer.remember(prompt, model.conversation.private);
}

/// Sends a command that cannot be queued behind a turn.
pub fn when_idle(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    if !is_busy(model) {
        effects.push(Effect::Send(command));
    }
}

/// Whether the model is busy; if so, shows a notice with the reason.
pub fn is_busy(model: &mut Model) -> bool {
    let reason = match model.running() {
        Some(_) => "A turn is still running.",
        None if model.is_busy() => "The model is being probed.",
        None => return false,
    };
    model.notify(Notice::info(reason).advise("Ctrl+C stops it."));
    true
}
