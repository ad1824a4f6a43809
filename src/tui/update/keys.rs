//! Routes keys: to a dialog that accepts keys, to the open layer, to the find bar, to the
//! completion list, the queue or the first-run chooser, and otherwise to an action or into the
//! message.

use crate::tui::help::HelpTopic;
use crate::tui::input::decode::typed_char;
use crate::tui::keymap::{Action, BindingScope};
use crate::tui::layer::Handled;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{
    actions, attachments, composer, dialog_keys, find, interrupt, line_selection, queue,
    select_message, selection,
};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

pub fn handle_key(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    let is_text =
        typed_char(key).is_some() || matches!(key.code, KeyCode::Enter | KeyCode::Backspace);
    let is_late =
        !dialog_keys::is_field_open(model) && model.input.spent_keys.discards(key, model.now);
    if is_late || is_text && discards_text(model) {
        return record_key(model, key);
    }
    let is_spent = dialog_keys::resolve_held_letter(model, key, effects);
    let since_last_press = model.now.saturating_sub(model.input.last_press);
    record_key(model, key);
    if is_spent {
        return;
    }
    resolve_held_enter(model, key, effects);
    let action = model
        .keymap
        .find_action(key, |scope| is_in_scope(model, scope));
    if selection::clear_before_key(model, action) {
        return;
    }
    if action == Some(Action::Interrupt) {
        return interrupt::interrupt(model, effects);
    }
    if let Some(action @ (Action::Redraw | Action::Suspend)) = action {
        return actions::run_action(model, action, effects);
    }
    if model.dialog_has_keys() {
        return dialog_keys::handle_key(model, key, since_last_press, effects);
    }
    if model.layer.is_some() {
        return handle_layer_key(model, key, effects);
    }
    if find::handle_key(model, key) {
        return;
    }
    if model.panes.focus == Focus::Message
        && (attachments::handle_completion_key(model, key)
            || handle_completion_key(model, key)
            || queue::handle_key(model, key, effects)
            || handle_first_run_key(model, key))
    {
        return;
    }
    // Only Enter may be part of a paste.
    let is_enter = key.code == KeyCode::Enter;
    match action {
        Some(Action::Send)
            if is_enter && model.composer.paste_detector.should_hold_enter(model.now) =>
        {
            model.composer.paste_detector.hold_enter(model.now);
        }
        Some(Action::Send) if is_enter && model.composer.paste_detector.is_pasting(model.now) => {
            composer::insert_burst(model, "\n");
        }
        Some(action) => actions::run_action(model, action, effects),
        None => handle_unbound_key(model, key),
    }
}

/// Types a character into the message, unless its key selects a message of the chat.
fn handle_unbound_key(model: &mut UiModel, key: KeyEvent) {
    if select_message::handle_key(model, key) {
        return;
    }
    if let Some(c) = typed_char(key) {
        model.panes.focus = Focus::Message;
        find::close_unless_focused(model);
        composer::type_char(model, c);
    }
}

/// Whether text was meant for the field of a question that has just closed by itself.
pub fn discards_text(model: &mut UiModel) -> bool {
    model.dialogs.discards_key(model.input.last_key, model.now)
}

/// Passes a key to the open layer. A key that the layer does not handle may close or scroll it, or
/// open the question of a server over it: the layer may wait for the answer.
fn handle_layer_key(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    let opens_help = model.keymap.global_action(key) == Some(Action::HELP)
        && typed_char(key).is_none()
        && !model.is_layer_open(Action::HELP);
    if opens_help {
        return actions::show_help(model, HelpTopic::Everything, "");
    }
    if model.with_layer(|layer, cx| layer.handle_key(key, cx)) != Handled::PassedOn {
        return;
    }
    let action = model.keymap.global_action(key);
    let closes = |action| action == Action::Back || model.is_layer_open(action);
    if action.is_some_and(closes) {
        model.close_layer();
    } else if action == Some(Action::ANSWER) {
        actions::run_action(model, Action::ANSWER, effects);
    } else if let Some(rows) = model.keymap.row_step(key) {
        model.scroll_layer(rows);
    }
}

/// Returns whether the completion list handled the key.
fn handle_completion_key(model: &mut UiModel, key: KeyEvent) -> bool {
    if model.completions().is_none() {
        return false;
    }
    model.with_composer(|composer, cx| composer.handle_completion_key(key, cx)) == Handled::Consumed
}

/// Returns whether the chooser handled the key.
fn handle_first_run_key(model: &mut UiModel, key: KeyEvent) -> bool {
    if !model.first_run_takes_keys() {
        return false;
    }
    let mut first_run = std::mem::take(&mut model.first_run);
    let handled = model.with_context(|cx| first_run.key(key, cx));
    model.first_run = first_run;
    handled == Handled::Consumed
}

/// Chooses the item of the first-run chooser whose digit was typed a moment ago.
pub fn choose_typed_digit(model: &mut UiModel) {
    if model.first_run.digit_due_at().is_none() || !model.first_run_takes_keys() {
        return;
    }
    let mut first_run = std::mem::take(&mut model.first_run);
    model.with_context(|cx| first_run.take_due_digit(cx));
    model.first_run = first_run;
}

fn record_key(model: &mut UiModel, key: KeyEvent) {
    match key.code {
        // Types nothing, so it does not postpone a question: a user who presses it again and
        // again wants to refuse.
        KeyCode::Esc => {
            model.input.last_press = model.now;
            model.notices.key_pressed(model.now);
        }
        _ => record_key_press(model),
    }
}

/// Records the time of a key press: it postpones the moment when dialogs accept keys, and a notice
/// that has been visible long enough disappears.
pub fn record_key_press(model: &mut UiModel) {
    (model.input.last_key, model.input.last_press) = (model.now, model.now);
    model.notices.key_pressed(model.now);
}

fn is_in_scope(model: &UiModel, scope: BindingScope) -> bool {
    match scope {
        BindingScope::Always => true,
        BindingScope::Layer(_) => false,
        BindingScope::Message => model.panes.focus == Focus::Message,
        BindingScope::Pane => model.panes.focus != Focus::Message,
        BindingScope::Servers => model.panes.focus == Focus::Servers,
        BindingScope::CallLine => model.selected_call().is_some(),
        BindingScope::Matches => {
            model.panes.focus == Focus::Chat && model.chat.find.is_some() && !find::is_typing(model)
        }
        BindingScope::Lines => {
            model.panes.focus == Focus::Chat && line_selection::is_extending(model)
        }
        BindingScope::ChatStop => {
            let chat = &model.chat.viewport;
            model.panes.focus == Focus::Chat && (chat.stop.is_some() || chat.selection.is_some())
        }
    }
}

/// Resolves a held Enter: a typed character or another Enter makes it a newline; any other key
/// submits the message first.
fn resolve_held_enter(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    if !model.composer.paste_detector.take_held_enter() {
        return;
    }
    if typed_char(key).is_some() || key.code == KeyCode::Enter {
        model.composer.insert_withheld_newline(model.now);
    } else {
        composer::submit_message(model, effects);
    }
}
