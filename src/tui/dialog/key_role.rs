//! What a key would do in a dialog, to distinguish an answer from text that is typed for the message.

use crate::tui::dialog::choices::choice_for_key;
use crate::tui::dialog::read_before_run::{Reading, reading};
use crate::tui::dialog::state::{Dialog, DialogMode, DialogPage, EditTarget};
use crate::tui::dialog::unused_key::unused_key_notice;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::SharedUiState;
use crossterm::event::{KeyEvent, KeyEventKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRole {
    /// Consents to something that the user has read.
    Grants,
    /// Would consent, but the last part has only just been drawn.
    GrantsTooEarly,
    /// Would consent, but shows the rest first.
    ShowsRest,
    /// Does something else, such as scrolling, refusing or typing into a field.
    Acts,
    Unused,
}

pub fn key_role(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> KeyRole {
    if key.kind == KeyEventKind::Repeat {
        // Never chooses.
        return KeyRole::Acts;
    }
    if !matches!(dialog.mode, DialogMode::Choosing) {
        return match confirms_pattern(shared, dialog, key) {
            true => KeyRole::Grants,
            false => KeyRole::Acts,
        };
    }
    if dialog.page() == DialogPage::Values {
        return KeyRole::Acts;
    }
    let rows = dialog.choices(shared);
    let chosen = choice_for_key(dialog, &rows, key, shared.keymap);
    match chosen.filter(|row| row.action.grants()) {
        Some(row) => match reading(shared, dialog, row.action) {
            Reading::Unread(_) => KeyRole::ShowsRest,
            Reading::JustDrawn => KeyRole::GrantsTooEarly,
            Reading::Done => KeyRole::Grants,
        },
        None if unused_key_notice(shared, dialog, key).is_some() => KeyRole::Unused,
        None => KeyRole::Acts,
    }
}

/// Whether the key stores the pattern in the open field, and runs the call.
fn confirms_pattern(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> bool {
    let is_pattern = matches!(
        &dialog.mode,
        DialogMode::EditArguments {
            target: EditTarget::Pattern,
            ..
        }
    );
    let meaning = shared.keymap.layer_key(key, &[KeyContext::InputLine]);
    is_pattern && meaning == Some(LayerKey::Confirm)
}
