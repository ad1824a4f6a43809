//! A field in which the user types a word to confirm a dangerous choice.

use crate::tui::input::decode::normalize_key;
use crate::tui::keymap::Keymap;
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key in the field means.
#[derive(Debug, PartialEq, Eq)]
pub enum ConfirmationKey {
    /// The field stays open.
    Typed,
    Back,
    /// Enter, after the right word.
    Confirmed,
}

/// Handles a key in the field. Upper case and spaces around the word do not matter.
pub fn confirmation_key(
    editor: &mut Editor,
    word: &str,
    key: KeyEvent,
    keymap: &Keymap,
) -> ConfirmationKey {
    match normalize_key(key) {
        (KeyCode::Esc, _) => return ConfirmationKey::Back,
        // Holding Enter down must not confirm.
        (KeyCode::Enter, _) if key.kind == KeyEventKind::Repeat => {}
        (KeyCode::Enter, KeyModifiers::NONE) => {
            if editor.text().trim().eq_ignore_ascii_case(word) {
                return ConfirmationKey::Confirmed;
            }
        }
        _ => {
            text_field::handle_key(editor, key, keymap);
        }
    }
    ConfirmationKey::Typed
}
