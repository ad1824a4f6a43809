//! Sending prompts, at once or when the turn under way has ended.

use crate::domain::{Notice, Prompt, PromptKind, TurnEvent, TurnId};
use crate::protocol::{Command, Event};
use crate::tui::layer::Request;
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::update::turns;

/// Sends the next queued prompt, where none is under way.
pub fn send_queued(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.is_busy() || model.composer.queue.paused {
        return;
    }
    if let Some(text) = model.composer.queue.prompts.pop_front() {
        submit(model, Prompt::new(text), effects);
    }
}

/// The prompt is on screen before anything is sent anywhere.
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
    // Behind what the open layer asked for.
    model.requests.push_back(Request::Send(command));
}

/// Has the older part of the context summarised.
pub fn compact(model: &mut Model, effects: &mut Vec<Effect>) {
    if is_busy(model) {
        return;
    }
    submit(model, Prompt::compacting(), effects);
}

/// Goes on with an answer that the limit of tokens cut.
pub fn go_on(model: &mut Model, effects: &mut Vec<Effect>) {
    if is_busy(model) {
        return;
    }
    if !model.conversation.cut {
        return model.notify(Notice::info("The last answer was not cut."));
    }
    submit(model, Prompt::continuing(), effects);
}

pub fn remember(model: &mut Model, prompt: &str) {
    model.composer.remember(prompt, model.conversation.private);
}

/// Sends a command that waits for no turn.
pub fn when_idle(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    if !is_busy(model) {
        effects.push(Effect::Send(command));
    }
}

/// Is the model taken? Then a notice says by what.
pub fn is_busy(model: &mut Model) -> bool {
    let what = match model.running() {
        Some(_) => "A turn is still running.",
        None if model.is_busy() => "The model is being probed.",
        None => return false,
    };
    model.notify(Notice::info(what).advise("Ctrl+C stops it."));
    true
}
