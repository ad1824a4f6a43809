//! The pure core: what a key, a paste, a tick or an event of the engine changes,
//! and what it asks the rim to do. One file a concern.

pub mod actions;
pub mod branches;
pub mod calls;
pub mod commands;
pub mod composer;
pub mod engine;
pub mod interrupt;
pub mod keys;
pub mod navigation;
pub mod probe;
pub mod requests;

use crate::domain::{Notice, TurnEnd, TurnEvent, Usage};
use crate::protocol::Command;
use crate::tui::composer::draft;
use crate::tui::demo_tour;
use crate::tui::dialog::state::QUIET;
use crate::tui::input::decode::{Group, ReplyFilter};
use crate::tui::layer::Handled;
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Input, Msg};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use std::time::Duration;

pub use crate::tui::input::decode::group;

/// How long an Enter right behind a burst of text waits: more text makes it a
/// line end of a paste.
pub const ENTER_HELD: Duration = Duration::from_millis(15);

/// Takes in one message and says what to do.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    model.now = msg.at;
    let mut effects = Vec::new();
    // A key that waits to be read may be older than it looks: it never arms the dialog
    // that it would answer.
    if !matches!(msg.input, Input::Key(_) | Input::Paste(_) | Input::Burst(_)) {
        arm(model);
    }
    pass_time(model, &mut effects);
    requests::carry_out(model, &mut effects);
    let opened = (model.layer.is_some(), model.ask().map(|ask| ask.id));
    take_in(model, msg.input, &mut effects);
    requests::carry_out(model, &mut effects);
    let open = (model.layer.is_some(), model.ask().map(|ask| ask.id));
    // What opened has keys of its own, which the hint line must show.
    if open.0 && !opened.0 || open.1.is_some() && open.1 != opened.1 {
        model.notices.clear();
    }
    if !open.0 && open.1.is_none() {
        model.notices.show_next(model.now);
    }
    demo_tour::follow(model);
    draft::follow(model, &mut effects);
    effects
}

fn take_in(model: &mut Model, input: Input, effects: &mut Vec<Effect>) {
    match input {
        Input::Key(key) => filter_key(model, key, effects),
        Input::Burst(text) => {
            typed_at(model);
            composer::burst(model, &text);
        }
        Input::Paste(text) => {
            typed_at(model);
            composer::paste(model, &text);
        }
        Input::Mouse(mouse) => navigation::mouse(model, mouse),
        Input::Resize { width, height } => {
            model.size = (width, height);
            navigation::refocus(model);
        }
        Input::Focus(focused) => model.focused = focused,
        Input::Engine(event) => engine::apply(model, *event, effects),
        Input::Tick => {}
        Input::Edited(Ok(text)) => model.editor.set(text.trim_end_matches('\n')),
        Input::Edited(Err(why)) => model.notify(Notice::failure(why)),
        Input::Unsent(command) => unsent(model, *command),
    }
}

/// A key came: dialogs wait, and a notice that could be read goes.
fn typed_at(model: &mut Model) {
    model.last_key = model.now;
    model.notices.key_pressed(model.now);
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

/// A dialog takes the keyboard when no key came for a while, neither since it was first
/// drawn nor since the last one.
fn arm(model: &mut Model) {
    let (now, last_key) = (model.now, model.last_key);
    if let Some(ask) = model.asks.first_mut().filter(|ask| ask.is_seen) {
        ask.armed |= now >= ask.opened.max(last_key) + QUIET;
    }
}

/// What happens because time went by.
fn pass_time(model: &mut Model, effects: &mut Vec<Effect>) {
    let now = model.now;
    model.notices.pass_time(now);
    if model
        .burst
        .enter
        .is_some_and(|since| now >= since + ENTER_HELD)
    {
        model.burst.enter = None;
        composer::send(model, effects);
    }
    if interrupt::is_stuck(model) && model.notices.shown().is_none() {
        let words = "The engine does not respond. Ctrl+C again leaves.";
        model.notify(Notice::warning(words));
    }
    model.with_layer(|layer, cx| {
        layer.tick(cx);
        Handled::Consumed
    });
    if model.replies.due().is_some_and(|due| now >= due) {
        for key in model.replies.release() {
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
    let (keys, background) = model.replies.push(key, model.now);
    if let Some(background) = background {
        model.theme = Theme::new(background, model.no_color);
    }
    for key in keys {
        press(model, key, effects);
    }
}

/// The engine had no room: nothing that was shown as begun may stay so.
fn unsent(model: &mut Model, command: Command) {
    let notice = Notice::failure("The engine is busy and took no more commands.")
        .advise("Try again in a moment.");
    draft::unsent(model, &command);
    if let Command::Submit { turn, .. } = command {
        let end = TurnEnd::Failed {
            notice: notice.clone(),
        };
        let ended = TurnEvent::Ended {
            end,
            usage: Usage::default(),
        };
        model.transcript.apply(turn, &ended);
        branches::entries_moved(model);
        model.replacing = None;
    }
    model.notify(notice);
}

#[cfg(test)]
mod tests;
