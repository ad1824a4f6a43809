//! Keys while a dialog accepts keys. Text that the user types for the message must never answer the
//! dialog, so a key that grants something acts only half a second after any other key, and any letter
//! only if no further one follows: letters that follow each other are a word.

use crate::domain::{AskId, Notice};
use crate::protocol::Event;
use crate::tui::dialog::choices::choice_letters;
use crate::tui::dialog::held_letter::{HeldAs, HeldLetter};
use crate::tui::dialog::key_role::{KeyRole, key_role};
use crate::tui::dialog::state::{Dialog, DialogMode, QUIET_TIME};
use crate::tui::input::decode::typed_char;
use crate::tui::input::spent_keys::{ENTER_AFTER_LIST, ENTER_AFTER_QUESTION, LateChoices};
use crate::tui::keymap::Action;
use crate::tui::layer::Layer;
use crate::tui::msg::UiEffect;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;
use crate::tui::update::{actions, composer, navigation, requests};
use crate::tui::widgets::editor::Edit;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

const TOO_EARLY: &str = "Too soon after another key. Pause, then press it again.";

/// Routes a key of a dialog. `since_last_press` is the time since the key before it.
pub fn handle_key(
    model: &mut UiModel,
    key: KeyEvent,
    since_last_press: Duration,
    effects: &mut Vec<UiEffect>,
) {
    let Some(dialog) = model.dialogs.current() else {
        return;
    };
    let role = key_role(model.shared(), dialog, key);
    let is_choosing = matches!(dialog.mode, DialogMode::Choosing);
    let is_typed = typed_char(key).is_some() && key.kind == KeyEventKind::Press;
    let is_text = is_choosing && is_typed;
    let has_text = edits_message_beside_dialog(model);
    let continues_text = has_text && typed_char(key).is_some_and(char::is_alphanumeric);
    let now = model.now;
    match role {
        KeyRole::Grants if since_last_press < QUIET_TIME => {
            model.notify_about_key(Notice::info(TOO_EARLY));
            if is_text {
                model.dialogs.hold_letter(key, HeldAs::Text, now);
            }
        }
        KeyRole::Grants | KeyRole::Acts if is_text => {
            let grants = role == KeyRole::Grants;
            let held_as = HeldAs::Answer { has_text, grants };
            model.dialogs.hold_letter(key, held_as, now);
        }
        KeyRole::ShowsRest | KeyRole::Unused if is_text && continues_text => {
            let grants = false;
            let held_as = HeldAs::Answer { has_text, grants };
            model.dialogs.hold_letter(key, held_as, now);
        }
        KeyRole::GrantsTooEarly | KeyRole::Unused if is_text => {
            perform(model, key, effects);
            model.dialogs.hold_letter(key, HeldAs::Text, now);
        }
        _ => perform(model, key, effects),
    }
}

/// Passes a key to the dialog, unless the key opens the help or the log over it or the sidebar beside
/// it, switches mouse capture, or deletes a letter of the message.
fn perform(model: &mut UiModel, key: KeyEvent, effects: &mut Vec<UiEffect>) {
    let action = model.keymap.global_action(key);
    match action {
        Some(action) if [Action::HELP, Action::LOG, Action::MOUSE].contains(&action) => {
            actions::run_action(model, action, effects);
        }
        Some(action) if toggles_pane(model, action) => {}
        // The message may end with a letter that was meant for the question but came too early.
        _ if key.code == KeyCode::Backspace && edits_message_beside_dialog(model) => {
            let delete = Action::Edit(Edit::Backspace);
            actions::run_action(model, delete, effects);
        }
        _ => {
            model.with_dialogs(|dialogs, cx| dialogs.handle_key(key, cx));
        }
    }
}

/// Shows or hides a section of the sidebar. Returns false for any other action.
fn toggles_pane(model: &mut UiModel, action: Action) -> bool {
    let panes = [
        (Action::SIDEBAR, Focus::Servers),
        (Action::THINKING, Focus::Thinking),
    ];
    let pane = panes.iter().find(|(toggle, _)| *toggle == action);
    pane.is_some_and(|(_, pane)| navigation::toggle_beside_dialog(model, *pane))
}

fn edits_message_beside_dialog(model: &UiModel) -> bool {
    let is_choosing = |dialog: &Dialog| matches!(dialog.mode, DialogMode::Choosing);
    let has_text = !model.composer.editor.is_empty();
    has_text && model.visible_dialog().is_some_and(is_choosing)
}

/// Whether a text field of the dialog on the screen is open.
pub fn is_field_open(model: &UiModel) -> bool {
    let is_field = |dialog: &Dialog| !matches!(dialog.mode, DialogMode::Choosing);
    model.visible_dialog().is_some_and(is_field)
}

/// Handles the key after a held letter. A further character makes both a word for the message, and
/// Enter confirms an answer; any other key cancels it. Returns whether the key has been used.
pub fn resolve_held_letter(
    model: &mut UiModel,
    key: KeyEvent,
    effects: &mut Vec<UiEffect>,
) -> bool {
    let is_held_down = |held: KeyEvent| key.kind == KeyEventKind::Repeat && held.code == key.code;
    if model.dialogs.answering_letter().is_some_and(is_held_down) {
        return true;
    }
    let is_enter = key.code == KeyCode::Enter && key.modifiers == KeyModifiers::NONE;
    let Some((held, is_current)) = model.dialogs.take_held_letter() else {
        return false;
    };
    if is_enter && is_current && held.is_confirmed_by_enter(model.now) {
        answer(model, &held, effects);
        return true;
    }
    if typed_char(key).is_some() {
        keep_as_text(model, held.key);
    }
    false
}

/// Puts a held letter into the message before the text that follows it.
pub fn resolve_held_letter_before_paste(model: &mut UiModel) {
    if let Some((held, _)) = model.dialogs.take_held_letter() {
        keep_as_text(model, held.key);
    }
}

fn keep_as_text(model: &mut UiModel, key: KeyEvent) {
    if let Some(c) = typed_char(key) {
        model.dialogs.wait_for_quiet(model.now);
        composer::type_char(model, c);
    }
}

/// Answers the question with a held letter that no other key has followed.
pub fn press_held_letter(model: &mut UiModel, effects: &mut Vec<UiEffect>) {
    let due_at = model.dialogs.letter_due_at();
    if due_at.is_none_or(|due| model.now < due) {
        return;
    }
    if let Some((held, true)) = model.dialogs.take_held_letter()
        && held.answers
        && model.dialog_has_keys()
    {
        answer(model, &held, effects);
    }
}

/// A letter that only scrolled when it was pressed must not grant what has come into view since.
fn answer(model: &mut UiModel, held: &HeldLetter, effects: &mut Vec<UiEffect>) {
    let dialog = model.dialogs.current();
    let role = dialog.map(|dialog| key_role(model.shared(), dialog, held.key));
    if role == Some(KeyRole::Grants) && !held.grants {
        return model.notify_about_key(Notice::info(TOO_EARLY));
    }
    let open = OpenThings::of(model);
    perform(model, held.key, effects);
    requests::run_requests(model, effects);
    open.note_closed(model, held.key);
}

/// What is open, to find out what a key has closed.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenThings {
    question: Option<(AskId, usize)>,
    has_layer: bool,
}

impl OpenThings {
    pub fn of(model: &UiModel) -> Self {
        let question = model.visible_dialog();
        Self {
            question: question.map(|dialog| (dialog.id, dialog.decided_count())),
            has_layer: model.layer.is_some(),
        }
    }

    /// Remembers the key if it has answered a question, or is a character that has chosen something
    /// and closed the last list, so that it does not act on what is below.
    pub fn note_closed(self, model: &mut UiModel, key: KeyEvent) {
        let after = Self::of(model);
        let has_answered = self.question.is_some()
            && after.question != self.question
            && !model.is_dialog_covered();
        let has_chosen = typed_char(key).is_some() && self.has_layer && !after.has_layer;
        let enter_time = match has_answered {
            true => ENTER_AFTER_QUESTION,
            false => ENTER_AFTER_LIST,
        };
        if has_answered || has_chosen {
            let now = model.now;
            model.input.spent_keys.closed_by(key, enter_time, now);
        }
    }
}

/// The keys of the dialog that accepts keys. If this event closes the dialog, they come too late.
pub fn keys_before_event(model: &UiModel, event: &Event) -> Option<LateChoices> {
    let may_close = matches!(event, Event::AskClosed(_) | Event::Turn(..));
    if !may_close || !model.dialog_has_keys() || model.interrupt.is_stopping {
        return None;
    }
    let dialog = model.dialogs.current()?;
    Some(LateChoices {
        letters: match dialog.mode {
            DialogMode::Choosing => choice_letters(model.shared(), dialog),
            // Keys meant for a field have a rule of their own.
            _ => return None,
        },
        has_enter: dialog.selected_choice.is_some(),
        closed_at: model.now,
    })
}
