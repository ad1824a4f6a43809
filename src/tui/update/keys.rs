//! Where a key goes: to an armed question, to what lies over the panes, to the
//! completion, and else to its action or into the message.

use crate::tui::dialog;
use crate::tui::input::decode::typed;
use crate::tui::keymap;
use crate::tui::keymap::layers;
use crate::tui::keymap::{Action, When};
use crate::tui::layer::Handled;
use crate::tui::model::{Focus, Model};
use crate::tui::msg::Effect;
use crate::tui::update::{actions, calls, commands, composer, interrupt};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::time::Duration;

/// A gap between keys that no person types in.
const BURST_GAP: Duration = Duration::from_millis(3);

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    crate::tui::update::typed_at(model);
    settle_enter(model, key, effects);
    let action = keymap::find(key, |when| in_force(model, when));
    if action == Some(Action::Interrupt) {
        return interrupt::interrupt(model, effects);
    }
    if let Some(action @ (Action::Redraw | Action::Suspend)) = action {
        return actions::run(model, action, "", effects);
    }
    if model.ask().is_some_and(|ask| ask.armed) {
        return dialog::keys::press(model, key, effects);
    }
    if model.layer.is_some() {
        return layer_key(model, key);
    }
    if model.focus == Focus::Message && commands::press(model, key, effects) {
        return;
    }
    if model.focus == Focus::Message && first_run_takes(model, key) {
        return;
    }
    match action {
        Some(Action::Send) if sends_later(model) => model.burst.enter = Some(model.now),
        Some(Action::Send) if pasting(model) => composer::burst(model, "\n"),
        Some(action) => actions::run(model, action, "", effects),
        None => {
            if let Some(c) = typed(key) {
                model.focus = Focus::Message;
                composer::type_char(model, c);
            }
        }
    }
}

/// A key that the layer has no use for closes it or scrolls it.
fn layer_key(model: &mut Model, key: KeyEvent) {
    if model.with_layer(|layer, cx| layer.key(key, cx)) != Handled::PassedOn {
        return;
    }
    let action = keymap::find(key, |when| when == When::Always);
    let closes = |action| action == Action::Back || model.shows(action);
    if action.is_some_and(closes) {
        model.layer = None;
    } else if let Some(rows) = layers::step(key) {
        scroll_layer(model, rows);
    }
}

pub fn scroll_layer(model: &mut Model, rows: isize) {
    model.with_layer(|layer, cx| {
        layer.scroll(rows, cx.shared);
        Handled::Consumed
    });
}

/// Did the offer of a first run take this key?
fn first_run_takes(model: &mut Model, key: KeyEvent) -> bool {
    if !model.offer_takes_keys() {
        return false;
    }
    let mut first_run = std::mem::take(&mut model.first_run);
    let handled = model.cx(|cx| first_run.key(key, cx));
    model.first_run = first_run;
    handled == Handled::Consumed
}

fn in_force(model: &Model, when: When) -> bool {
    match when {
        When::Always => true,
        When::Message => model.focus == Focus::Message,
        When::Pane => model.focus != Focus::Message,
        When::Servers => model.focus == Focus::Servers,
        When::Call => calls::selected(model).is_some(),
    }
}

/// Did text come just now, faster than a person could follow it with Enter?
fn sends_later(model: &Model) -> bool {
    let just_now = |last: Duration| model.now.saturating_sub(last) <= BURST_GAP;
    !model.burst.pasting && model.burst.last_text.is_some_and(just_now)
}

fn pasting(model: &Model) -> bool {
    let recent = |last: Duration| model.now.saturating_sub(last) <= crate::tui::update::ENTER_HELD;
    model.burst.pasting && model.burst.last_text.is_some_and(recent)
}

/// An Enter was held back and another key came: text makes it a line end, any
/// other key lets it send.
fn settle_enter(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    if model.burst.enter.take().is_none() {
        return;
    }
    if typed(key).is_some() || key.code == KeyCode::Enter {
        model.burst.pasting = true;
        model.burst.last_text = Some(model.now);
        model.editor.insert("\n");
    } else {
        composer::send(model, effects);
    }
}
