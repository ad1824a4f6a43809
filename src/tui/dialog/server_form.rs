//! Keys in the dialogs for a server's form and for a web page that it asks the user to visit: filling
//! in, the check before sending, the confirmation of a secret, and copying the address.

use crate::domain::Notice;
use crate::protocol::{UserAnswer, UserChoice};
use crate::tui::dialog::choices::{choice_for_key, letter_name};
use crate::tui::dialog::confirmation_word::{ConfirmationKey, confirmation_key};
use crate::tui::dialog::state::{Dialog, DialogAction, DialogMode, DialogPage};
use crate::tui::elicitation::form_state::{FormKeyEffect, FormState};
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::SharedUiState;
use crate::tui::widgets::editor::Editor;
use crossterm::event::KeyEvent;

/// The user types this to send a form that asks for a secret.
const CONFIRMATION_WORD: &str = "send";

/// Performs a choice. Most are the answer; filling in and sending a form may stay in the dialog first.
pub fn perform_choice(dialog: &mut Dialog, choice: UserChoice) -> Option<UserAnswer> {
    match (choice, &mut dialog.form) {
        (UserChoice::FillIn, Some(form)) => {
            if !form.form().fields.is_empty() {
                dialog.mode = DialogMode::EditForm;
            }
            None
        }
        (UserChoice::Send, Some(form)) => {
            let Some(values) = form.checked_values() else {
                dialog.mode = DialogMode::EditForm;
                return None;
            };
            if form.form().secret_fields().is_empty() {
                return Some(UserAnswer::Form(values));
            }
            dialog.mode = DialogMode::ConfirmSecret(Editor::default());
            None
        }
        _ => Some(UserAnswer::Choice(choice)),
    }
}

pub fn fields_key(shared: SharedUiState, dialog: &mut Dialog, key: KeyEvent) {
    let effect = dialog
        .form
        .as_mut()
        .map(|form| form.handle_key(key, shared.keymap));
    if effect != Some(FormKeyEffect::Stay) {
        dialog.show_form_review();
    }
}

/// Handles a key in the field that confirms sending a secret.
pub fn confirm_secret_key(
    shared: SharedUiState,
    dialog: &mut Dialog,
    key: KeyEvent,
) -> Option<UserAnswer> {
    let DialogMode::ConfirmSecret(editor) = &mut dialog.mode else {
        return None;
    };
    match confirmation_key(editor, CONFIRMATION_WORD, key, shared.keymap) {
        ConfirmationKey::Typed => return None,
        ConfirmationKey::Back => {
            dialog.mode = DialogMode::Choosing;
            return None;
        }
        ConfirmationKey::Confirmed => {}
    }
    dialog.mode = DialogMode::Choosing;
    let values = dialog.form.as_mut().and_then(FormState::checked_values);
    values.map(UserAnswer::Form)
}

/// Whether the fields use this key, although it also has a meaning elsewhere.
pub fn uses_key(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> bool {
    let is_editing = matches!(dialog.mode, DialogMode::EditForm);
    let found = shared.keymap.layer_key(key, &[KeyContext::Form]);
    is_editing && found.is_some()
}

/// The notice for an Esc that would discard the user's input.
pub fn kept_input_notice(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> Option<Notice> {
    let is_edited = dialog.form.as_ref().is_some_and(FormState::is_edited);
    let dismisses = matches!(dialog.mode, DialogMode::Choosing)
        && dialog.page() == DialogPage::Subject
        && shared.keymap.layer_key(key, &[KeyContext::Question]) == Some(LayerKey::Back);
    let letter = |key| letter_name(shared.keymap, key);
    let (cancel, decline) = (letter(LayerKey::CancelRequest), letter(LayerKey::No));
    let text = format!("Your input is kept. {cancel} cancels, {decline} declines.");
    (is_edited && dismisses).then(|| Notice::info(text))
}

/// The address to copy, if the key chooses that.
pub fn address_to_copy(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> Option<String> {
    let address = dialog.question.address.as_ref()?;
    let rows = dialog.choices(shared);
    let chosen = choice_for_key(dialog, &rows, key, shared.keymap)?;
    let copies = chosen.action == DialogAction::Choose(UserChoice::CopyAddress);
    copies.then(|| address.clone())
}
