//! A field in which the user types a word to confirm a dangerous choice.

use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crate::tui::widgets::editor::Editor;
use crate::tui::widgets::text_field;
use crossterm::event::{KeyEvent, KeyEventKind};

/// The effect of a key in the field.
#[derive(Debug, PartialEq, Eq)]
pub enum ConfirmationKey {
    /// The field stays open.
    Typed,
    Back,
    /// The user typed the word and confirmed it.
    Confirmed,
}

/// Handles a key in the field. The word is compared without letter case and surrounding spaces.
pub fn confirmation_key(
    editor: &mut Editor,
    word: &str,
    key: KeyEvent,
    keymap: &Keymap,
) -> ConfirmationKey {
    match keymap.layer_key(key, &[KeyContext::InputLine]) {
        Some(LayerKey::Back) => return ConfirmationKey::Back,
        // Holding the key down must not confirm.
        Some(LayerKey::Confirm) if key.kind == KeyEventKind::Repeat => {}
        Some(LayerKey::Confirm) => {
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
