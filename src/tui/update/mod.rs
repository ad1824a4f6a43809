//! The pure core: what a key, a paste, a tick or an event of the engine changes,
//! and what it asks the rim to do. One file a concern.

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

/// Takes in one message and says what to do.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    model.now = msg.at;
    let mut effects = Vec::new();
    // A key that waits to be read may be older than it looks: it never arms the dialog
    // that it would answer.
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
    // What opened has keys of its own, which the hint line must show.
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

/// Makes inputs of keys that were read at once, so that a burst is told from
/// typing. A reply of the terminal comes as a burst too, and must not become text.
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

/// What happens because time went by.
fn pass_time(model: &mut Model, effects: &mut Vec<Effect>) {
    let now = model.now;
    model.notices.pass_time(now);
    if model.composer.pasting.due().is_some_and(|due| now >= due) {
        model.composer.pasting.take_enter();
        composer::send(model, effects);
    }
    if model.interrupt.is_stuck(now) && model.notices.shown().is_none() {
        let words = "The engine does not respond. Ctrl+C again leaves.";
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

/// What one key asks for is done before the next one is taken in.
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

/// The engine had no room: nothing that was shown as begun may stay so.
fn unsent(model: &mut Model, command: Command) {
    let notice = Notice::failure("The engine is busy and took no more commands.")
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
