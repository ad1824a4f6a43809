//! The pure core: applies a key, a paste, a tick or an engine event to the model and
//! returns the effects. One file per concern.

pub mod actions;
pub mod branches;
pub mod calls;
pub mod composer;
pub mod engine;
pub mod interrupt;
pub mod keys;
pub mod navigation;
pub mod probe;
pub mod requests;
pub mod submit;
pub mod turns;

use crate::domain::{Notice, TurnEnd, TurnEvent, Usage};
use crate::protocol::Command;
use crate::tui::demo_tour::watch;
pub use crate::tui::input::decode::group;
use crate::tui::input::decode::{Group, ReplyFilter};
use crate::tui::layer::Handled;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Input, Msg};
use crossterm::event::KeyEvent;

/// Applies one message and returns its effects.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    model.now = msg.at;
    let mut effects = Vec::new();
    // A key may have waited unread, so it must never arm the dialog that it would answer.
    if !matches!(msg.input, Input::Key(_) | Input::Paste(_) | Input::Burst(_)) {
        model.dialogs.arm(model.input.last_key, model.now);
    }
    pass_time(model, &mut effects);
    requests::carry_out(model, &mut effects);
    let opened = (
        model.layer.is_some(),
        model.dialogs.shown().map(|ask| ask.id),
    );
    take_in(model, msg.input, &mut effects);
    requests::carry_out(model, &mut effects);
    let open = (
        model.layer.is_some(),
        model.dialogs.shown().map(|ask| ask.id),
    );
    // A newly opened layer or dialog has its own hints, which a notice must not hide.
    if open.0 && !opened.0 || open.1.is_some() && open.1 != opened.1 {
        model.notices.clear();
    }
    if !open.0 && open.1.is_none() {
        model.notices.show_next(model.now);
    }
    watch::follow(model);
    let private_asked = effects.contains(&Effect::Send(Command::SetPrivate(true)));
    let is_private = model.conversation.private;
    if model.composer.follow(is_private, private_asked) {
        effects.push(Effect::Send(Command::KeepDraft(String::new())));
    }
    effects
}

fn take_in(model: &mut Model, input: Input, effects: &mut Vec<Effect>) {
    match input {
        Input::Key(key) => filter_key(model, key, effects),
        Input::Burst(text) => {
            keys::pressed(model);
            composer::burst(model, &text);
        }
        Input::Paste(text) => {
            keys::pressed(model);
            composer::paste(model, &text);
        }
        Input::Mouse(mouse) => navigation::mouse(model, mouse),
        Input::Resize { width, height } => {
            model.screen.size = (width, height);
            navigation::refocus(model);
        }
        Input::Focus(focused) => model.screen.has_focus = focused,
        Input::Engine(event) => engine::apply(model, *event, effects),
        Input::Tick => {}
        Input::Edited(Ok(text)) => model.composer.editor.set(text.trim_end_matches('\n')),
        Input::Edited(Err(why)) => model.notify(Notice::failure(why)),
        Input::Unsent(command) => unsent(model, *command),
    }
}

/// Groups keys read at once into inputs, so that bursts can be told from typing. A terminal
/// reply also arrives as a burst and must not become text.
pub fn inputs(keys: &[KeyEvent], replies: &ReplyFilter) -> Vec<Input> {
    if replies.may_hold(keys) {
        return keys.iter().copied().map(Input::Key).collect();
    }
    let input = |group| match group {
        Group::Key(key) => Input::Key(key),
        Group::Burst(text) => Input::Burst(text),
    };
    group(keys).into_iter().map(input).collect()
}

/// Applies everything that depends on elapsed time.
fn pass_time(model: &mut Model, effects: &mut Vec<Effect>) {
    let now = model.now;
    model.notices.pass_time(now);
    if model.composer.pasting.due().is_some_and(|due| now >= due) {
        model.composer.pasting.take_enter();
        composer::send(model, effects);
    }
    if model.interrupt.is_stuck(now) && model.notices.shown().is_none() {
        let words = "The engine is not responding. Ctrl+C again to quit.";
        model.notify(Notice::warning(words));
    }
    model.with_layer(|layer, cx| {
        layer.tick(cx);
        Handled::Consumed
    });
    if model.input.replies.due().is_some_and(|due| now >= due) {
        for key in model.input.replies.release() {
            press(model, key, effects);
        }
    }
}

/// Handles one key and carries out its requests before the next key.
fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    keys::press(model, key, effects);
    requests::carry_out(model, effects);
}

fn filter_key(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let (keys, background) = model.input.replies.push(key, model.now);
    if let Some(background) = background {
        model.screen.set_background(background);
    }
    for key in keys {
        press(model, key, effects);
    }
}

/// Reverts whatever was shown as started for a command that the engine's full queue
/// rejected.
fn unsent(model: &mut Model, command: Command) {
    let notice = Notice::failure("The engine is busy and did not accept the command.")
        .advise("Try again in a moment.");
    model.composer.rejected(&command);
    if let Command::Submit { turn, .. } = command {
        let end = TurnEnd::Failed {
            notice: notice.clone(),
        };
        let ended = TurnEvent::Ended {
            end,
            usage: Usage::default(),
        };
        model.chat.transcript.apply(turn, &ended);
        model.chat.entries_moved();
        model.conversation.replacing = None;
    }
    model.notify(notice);
}

#[cfg(test)]
mod tests;
