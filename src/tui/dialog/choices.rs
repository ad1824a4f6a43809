//! The choice for a key, and scrolling.

use crate::tui::dialog::state::{Dialog, DialogChoice, DialogPage};
use crate::tui::input::decode::{latin_key, normalize_key};
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::layer::SharedUiState;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Characters kept of an error about edited arguments. Schema errors quote the value,
/// which may be long.
pub const ERROR_CHARS_MAX: usize = 400;

/// Scrolls the body if this is a scroll key. Works while a text field is open, too.
pub fn scroll_key(dialog: &mut Dialog, key: KeyEvent, keymap: &Keymap) -> bool {
    match keymap.layer_key(key, &[KeyContext::QuestionText]) {
        Some(LayerKey::PageUp) => dialog.scroll_by(-dialog.page_rows()),
        Some(LayerKey::PageDown) => dialog.scroll_by(dialog.page_rows()),
        Some(LayerKey::RowUp) => dialog.scroll_by(-1),
        Some(LayerKey::RowDown) => dialog.scroll_by(1),
        _ => return false,
    }
    true
}

pub fn choice_for_key<'a>(
    dialog: &Dialog,
    rows: &'a [DialogChoice],
    key: KeyEvent,
    keymap: &Keymap,
) -> Option<&'a DialogChoice> {
    if keymap.layer_key(key, &[KeyContext::Question]) == Some(LayerKey::Confirm) {
        return dialog.selected_choice.and_then(|at| rows.get(at));
    }
    match normalize_key(key) {
        (KeyCode::Char(c), KeyModifiers::NONE) => choice_for_char(dialog, rows, c),
        _ => None,
    }
}

/// The index of the choice of this key.
pub fn choice_index(shared: SharedUiState, dialog: &Dialog, key: KeyEvent) -> Option<usize> {
    let rows = dialog.choices(shared);
    let chosen = choice_for_key(dialog, &rows, key, shared.keymap)?.action;
    rows.iter().position(|row| row.action == chosen)
}

/// The Latin letters and the digits that do something in the dialog while the user chooses.
pub fn choice_letters(shared: SharedUiState, dialog: &Dialog) -> String {
    let rows = dialog.choices(shared);
    let letters = ('0'..='9').chain('a'..='z').chain(['?']);
    let is_used = |c: &char| {
        let opens_page = page_letter(dialog, *c, shared.keymap).is_some();
        opens_page || choice_for_char(dialog, &rows, *c).is_some()
    };
    letters.filter(is_used).collect()
}

pub fn choice_for_char<'a>(
    dialog: &Dialog,
    rows: &'a [DialogChoice],
    c: char,
) -> Option<&'a DialogChoice> {
    let key = latin_key(c);
    let row = rows.iter().find(|row| row.has_key(key));
    let row = row.or_else(|| rows.iter().find(|row| row.alias == Some(key)));
    row.filter(|row| is_key_accepted(dialog, row, key))
}

/// Whether the page accepts this key of a choice. A list of digits invites the user to press the
/// digit of its first row, so the page of lasting choices accepts no digit that it does not show.
fn is_key_accepted(dialog: &Dialog, row: &DialogChoice, key: char) -> bool {
    match dialog.page() {
        DialogPage::Lasting if !row.action.is_lasting() => {
            row.keys.contains(&key) || row.shown_key() == key
        }
        _ => true,
    }
}

/// The meaning of `c` if it is a letter that opens a page or gives the dialog its full height.
pub fn page_letter(dialog: &Dialog, c: char, keymap: &Keymap) -> Option<LayerKey> {
    let key = latin_key(c);
    let mut letters = match dialog.call() {
        Some(_) => [LayerKey::Details, LayerKey::Lasting, LayerKey::FullHeight].as_slice(),
        None => &[LayerKey::Details],
    }
    .iter();
    letters
        .find(|letter| keymap.answer_letters(**letter).any(|own| own == key))
        .copied()
}

/// The first letter of an answer, for sentences; empty if it has none.
pub fn letter_name(keymap: &Keymap, key: LayerKey) -> String {
    let mut letters = keymap.answer_letters(key);
    letters.next().map_or_else(String::new, String::from)
}
