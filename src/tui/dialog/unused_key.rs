//! The notice for a key that does nothing in a dialog.

use crate::domain::Notice;
use crate::text::grapheme::width;
use crate::tui::dialog::choices::{choice_for_char, letter_name, page_letter};
use crate::tui::dialog::server_form;
use crate::tui::dialog::state::{Dialog, DialogChoice, DialogMode, DialogPage};
use crate::tui::input::decode::normalize_key;
use crate::tui::keymap::Action;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::SharedUiState;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Columns of the hint line that a notice leaves free.
const STOP_HINT_COLUMNS: usize = 18;

/// The notice for a key that does nothing here. Without one, the key would seem to have worked.
pub(super) fn unused_key_notice(
    shared: SharedUiState,
    dialog: &Dialog,
    key: KeyEvent,
) -> Option<Notice> {
    if server_form::uses_key(shared, dialog, key) {
        return None;
    }
    if !matches!(dialog.mode, DialogMode::Choosing) {
        let action = shared.keymap.global_action(key);
        let is_edit = shared
            .keymap
            .text_field_action(key)
            .is_some_and(|action| matches!(action, Action::Edit(_)));
        let contexts = [KeyContext::InputLine, KeyContext::QuestionText];
        let has_meaning = shared.keymap.layer_key(key, &contexts).is_some();
        let is_used = has_meaning || !action.is_some_and(is_blocked_by_dialog) || is_edit;
        let text = format!(
            "Finish this field first: {}.",
            confirm_and_back_keys(shared, KeyContext::InputLine)
        );
        return (!is_used).then(|| Notice::info(text));
    }
    if key.kind == KeyEventKind::Repeat {
        return None;
    }
    if dialog.page() == DialogPage::Values {
        let contexts = [KeyContext::Question, KeyContext::QuestionText];
        if shared.keymap.layer_key(key, &contexts).is_some() {
            return None;
        }
        let action = shared.keymap.global_action(key);
        let text = format!(
            "Choose a value first: {}.",
            confirm_and_back_keys(shared, KeyContext::Question)
        );
        return action
            .filter(|action| is_blocked_by_dialog(*action))
            .map(|_| Notice::info(text));
    }
    let rows = dialog.choices(shared);
    if is_used(shared, dialog, &rows, key) {
        return None;
    }
    if dialog.page() == DialogPage::Lasting {
        return Some(Notice::info(choose_on_page(shared, &rows)));
    }
    if normalize_key(key).0 == KeyCode::Char('0') && dialog.calls().len() > 1 {
        let calls = [LayerKey::Left, LayerKey::Right];
        let keys = calls.map(|key| shared.keymap.layer_key_name(KeyContext::Question, key));
        let keys: Vec<String> = keys.into_iter().flatten().collect();
        let text = format!("See all calls first: {}.", keys.join(" and "));
        return Some(Notice::info(text));
    }
    Some(Notice::info(answer_first(shared, dialog, &rows)))
}

/// Whether a key answers the question, or moves or scrolls in it.
fn is_used(shared: SharedUiState, dialog: &Dialog, rows: &[DialogChoice], key: KeyEvent) -> bool {
    let contexts = [KeyContext::Question, KeyContext::QuestionText];
    match normalize_key(key) {
        (KeyCode::Char(typed), KeyModifiers::NONE | KeyModifiers::SHIFT) => {
            choice_for_char(dialog, rows, typed).is_some()
                || page_letter(dialog, typed, shared.keymap).is_some()
        }
        _ if let Some(meaning) = shared.keymap.layer_key(key, &contexts) => {
            meaning != LayerKey::Confirm || dialog.selected_choice.is_some()
        }
        _ if shared.keymap.global_action(key) == Some(Action::RAW) => dialog.call().is_some(),
        (
            KeyCode::Char(_)
            | KeyCode::F(_)
            | KeyCode::Enter
            | KeyCode::Tab
            | KeyCode::BackTab
            | KeyCode::Backspace
            | KeyCode::Delete,
            _,
        ) => false,
        _ => true,
    }
}

/// A sentence that names the keys of the page of lasting choices.
fn choose_on_page(shared: SharedUiState, rows: &[DialogChoice]) -> String {
    let lasting = rows.iter().filter(|row| row.action.is_lasting());
    let keys: Vec<String> = lasting.map(|row| row.shown_key().to_string()).collect();
    let back = shared
        .keymap
        .layer_key_name(KeyContext::Question, LayerKey::Back);
    let back = back.map_or_else(String::new, |back| format!(", or {back} to go back"));
    format!("This page accepts {}{back}.", keys.join(" "))
}

/// A sentence that names the keys that answer, as far as the hint line has room.
fn answer_first(shared: SharedUiState, dialog: &Dialog, rows: &[DialogChoice]) -> String {
    // The page of lasting choices names their keys.
    let is_named = |row: &&DialogChoice| dialog.call().is_none() || !row.action.is_lasting();
    let rows = rows.iter().filter(is_named);
    let mut keys: Vec<String> = rows.map(|row| row.shown_key().to_string()).collect();
    let pages = match dialog.call().is_some() {
        true => [LayerKey::Lasting, LayerKey::FullHeight, LayerKey::Details].as_slice(),
        false => &[LayerKey::Details],
    };
    keys.extend(pages.iter().map(|key| letter_name(shared.keymap, *key)));
    keys.retain(|key| !key.trim().is_empty());
    let texts = [
        format!("Answer the question first: {}.", keys.join(" ")),
        "Answer the question first.".to_owned(),
        "Answer it first.".to_owned(),
    ];
    // A notice that fits into the hint line, next to the key that stops the turn, disappears with
    // the question.
    let room = usize::from(shared.size.0).saturating_sub(STOP_HINT_COLUMNS);
    let fits = |text: &&String| width(text) <= room;
    let text = texts.iter().find(fits).or(texts.last());
    text.cloned().unwrap_or_default()
}

/// Whether this global action is unavailable until the field or page of a dialog is closed.
fn is_blocked_by_dialog(action: Action) -> bool {
    !matches!(
        action,
        Action::Back
            | Action::EditExternally
            | Action::PageUp
            | Action::PageDown
            | Action::ScrollToStart
            | Action::ScrollToEnd
    )
}

/// For example `Enter, or Esc to go back`.
fn confirm_and_back_keys(shared: SharedUiState, context: KeyContext) -> String {
    let name = |key| shared.keymap.layer_key_name(context, key);
    let (confirm, back) = (name(LayerKey::Confirm), name(LayerKey::Back));
    let (confirm, back) = (confirm.unwrap_or_default(), back.unwrap_or_default());
    format!("{confirm}, or {back} to go back")
}
