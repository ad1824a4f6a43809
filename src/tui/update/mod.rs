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
use crate::tui::demo_tour::progress;
pub use crate::tui::input::decode::group_keys;
use crate::tui::input::decode::{KeyGroup, ReplyFilter};
use crate::tui::layer::Handled;
use crate::tui::msg::{Msg, UiEffect, UiInput};
use crate::tui::ui_model::UiModel;
use crossterm::event::KeyEvent;

/// Takes in one message and says what to do.
pub fn update(model: &mut UiModel, msg: Msg) -> Vec<UiEffect> {
    model.now = msg.now;
    let mut effects = Vec::new();
    // A key that waits to be read may be older than it looks: it never arms the dialog
    // that it would answer.
    if !matches!(
        msg.input,
        UiInput::Key(_) | UiInput::Paste(_) | UiInput::Burst(_)
    ) {
        model
            .dialogs
            .accept_keys_if_quiet(model.input.last_key, model.now);
    }
    apply_elapsed_time(model, &mut effects);
    requests::run_requests(model, &mut effects);
    let opened = (
        model.layer.is_some(),
        model.dialogs.current().map(|ask| ask.id),
    );
    apply_input(model, msg.input, &mut effects);
    requests::run_requests(model, &mut effects);
    let open = (
        model.layer.is_some(),
        model.dialogs.current().map(|ask| ask.id),
    );
    // What opened has keys of its own, which the hint line must show.
    if open.0 && !opened.0 || open.1.is_some() && open.1 != opened.1 {
        model.notices.clear();
    }
    if !open.0 && open.1.is_none() {
        model.notices.show_next(model.now);
    }
    progress::update_progress(model);
    let private_asked = effects.contains(&UiEffect::Send(Command::SetPrivate(true)));
    let is_private = model.conversation.is_private;
    if model.composer.track_draft(is_private, private_asked) {
        effects.push(UiEffect::Send(Command::SaveDraft(String::new())));
    }
    effects
}

fn apply_input(model: &mut UiModel, input: UiInput, effects: &mut Vec<UiEffect>) {
    match input {
        UiInput::Key(key) => filter_key(model, key, effects),
        UiInput::Burst(text) => {
            keys::note_key_press(model);
            composer::insert_burst(model, &text);
        }
        UiInput::Paste(text) => {
            keys::note_key_press(model);
            composer::paste(model, &text);
        }
        UiInput::Mouse(mouse) => navigation::handle_mouse(model, mouse),
        UiInput::Resize { width, height } => {
            model.screen.size = (width, height);
            navigation::refocus(model);
        }
        UiInput::Focus(focused) => model.screen.has_focus = focused,
        UiInput::Engine(event) => engine::apply_event(model, *event, effects),
        UiInput::Tick => {}
        UiInput::EditorClosed(Ok(text)) => model.composer.editor.set(text.trim_end_matches('\n')),
        UiInput::EditorClosed(Err(why)) => model.notify(Notice::failure(why)),
        UiInput::CommandRejected(command) => command_rejected(model, *command),
    }
}

/// Makes inputs of keys that were read at once, so that a burst is told from
/// typing. A reply of the terminal comes as a burst too, and must not become text.
pub fn inputs_from_keys(keys: &[KeyEvent], replies: &ReplyFilter) -> Vec<UiInput> {
    if replies.may_be_reply(keys) {
        return keys.iter().copied().map(UiInput::Key).collect();
    }
    let input = |group| match group {
        KeyGroup::Key(key) => UiInput::Key(key),
        KeyGroup::Burst(text) => UiInput::Burst(text),
    };
    group_keys(keys).into_iter().map(input).collect()
}

/// What happens because time went by.
fn apply_elapsed_time(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let now = model.now;
    model.notices.expire(now);
    if model
        .composer
        .paste_detector
        .enter_due_at()
        .is_some_and(|due| now >= due)
    {
        model.composer.paste_detector.take_held_enter();
        composer::submit_message(model, effects);
    }
    if model.interrupt.is_stuck(now) && model.notices.current().is_none() {
        let words = "The engine does not respond. Ctrl+C again leaves.";
        model.notify(Notice::warning(words));
    }
    model.with_layer(|layer, cx| {
        layer.tick(cx);
        Handled::Consumed
    });
    if model
        .input
        .replies
        .release_at()
        .is_some_and(|due| now >= due)
    {
        for key in model.input.replies.release() {
            handle_key(model, key, effects);
        }
    }
}

/// What one key asks for is done before the next one is taken in.
fn handle_key(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    keys::handle_key(model, key, effects);
    requests::run_requests(model, effects);
}

fn filter_key(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    let (keys, background) = model.input.replies.push(key, model.now);
    if let Some(background) = background {
        model.screen.set_background(background);
    }
    for key in keys {
        handle_key(model, key, effects);
    }
}

/// The engine had no room: nothing that was shown as begun may stay so.
fn command_rejected(model: &mut UiModel, command: Command) {
    let notice = Notice::failure("The engine is busy and took no more commands.")
        .with_advice("Try again in a moment.");
    model.composer.command_rejected(&command);
    if let Command::Submit { turn, .. } = command {
        let end = TurnEnd::Failed {
            notice: notice.clone(),
        };
        let ended = TurnEvent::Ended {
            end,
            usage: Usage::default(),
        };
        model.chat.transcript.apply(turn, &ended);
        model.chat.rebuild_indices();
        model.conversation.replacement = None;
    }
    model.notify(notice);
}

#[cfg(test)]
mod tests;
