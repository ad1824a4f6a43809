//! Routes keys: to an armed dialog, to the open layer, to the completion list, and
//! otherwise to an action or into the message.

use crate::tui::input::decode::typed;
use crate::tui::keymap;
use crate::tui::keymap::{Action, When, layers};
use crate::tui::layer::{Handled, Layer};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::panes::Focus;
use crate::tui::update::{actions, calls, composer, interrupt};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

pub fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    pressed(model);
    settle_enter(model, key, effects);
    let action = keymap::find(key, |when| in_force(model, when));
    if action == Some(Action::Interrupt) {
        return interrupt::interrupt(model, effects);
    }
    if let Some(action @ (Action::Redraw | Action::Suspend)) = action {
        return actions::run(model, action, "", effects);
    }
    if model.dialogs.is_armed() {
        model.with_dialogs(|dialogs, cx| dialogs.key(key, cx));
        return;
    }
    if model.layer.is_some() {
        return layer_key(model, key);
    }
    if model.panes.focus == Focus::Message
        && (completion_takes(model, key) || first_run_takes(model, key))
    {
        return;
    }
    match action {
        Some(Action::Send) if model.composer.pasting.holds_enter(model.now) => {
            model.composer.pasting.hold_enter(model.now);
        }
        Some(Action::Send) if model.composer.pasting.is_pasting(model.now) => {
            composer::burst(model, "\n");
        }
        Some(action) => actions::run(model, action, "", effects),
        None => {
            if let Some(c) = typed(key) {
                model.panes.focus = Focus::Message;
                composer::type_char(model, c);
            }
        }
    }
}

/// Lets a key close or scroll the layer if the layer did not handle it.
fn layer_key(model: &mut Model, key: KeyEvent) {
    if model.with_layer(|layer, cx| layer.key(key, cx)) != Handled::PassedOn {
        return;
    }
    let action = keymap::find(key, |when| when == When::Always);
    let closes = |action| action == Action::Back || model.shows(action);
    if action.is_some_and(closes) {
        model.layer = None;
    } else if let Some(rows) = layers::step(key) {
        model.scroll_layer(rows);
    }
}

/// Whether the completion list handled the key.
fn completion_takes(model: &mut Model, key: KeyEvent) -> bool {
    model.with_composer(|composer, cx| composer.completion_key(key, cx)) == Handled::Consumed
}

/// Whether the first-run chooser handled the key.
fn first_run_takes(model: &mut Model, key: KeyEvent) -> bool {
    if !model.offer_takes_keys() {
        return false;
    }
    let mut first_run = std::mem::take(&mut model.first_run);
    let handled = model.cx(|cx| first_run.key(key, cx));
    model.first_run = first_run;
    handled == Handled::Consumed
}

/// Records a key press, which postpones dialogs and dismisses a notice that has been
/// readable long enough.
pub fn pressed(model: &mut Model) {
    model.input.last_key = model.now;
    model.notices.key_pressed(model.now);
}

fn in_force(model: &Model, when: When) -> bool {
    match when {
        When::Always => true,
        When::Message => model.panes.focus == Focus::Message,
        When::Pane => model.panes.focus != Focus::Message,
        When::Servers => model.panes.focus == Focus::Servers,
        When::Call => calls::selected(model).is_some(),
    }
}

/// Resolves a held Enter: text after it makes it a newline, any other key submits.
fn settle_enter(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    if !model.composer.pasting.take_enter() {
        return;
    }
    if typed(key).is_some() || key.code == KeyCode::Enter {
        model.composer.break_line(model.now);
    } else {
        composer::send(model, effects);
    }
}
