//! Helpers shared by key handling and checks: the choice for a key, and scrolling.

use crate::tui::dialog::state::{Dialog, DialogChoice};
use crate::tui::input::decode::{latin_key, normalize_key};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Characters kept of an error about edited arguments. Schema errors quote the value,
/// which may be long.
pub const ERROR_CHARS_MAX: usize = 400;

/// Scrolls the body if this is a scroll key. Works while a text field is open, too.
pub fn scroll_key(dialog: &mut Dialog, key: KeyEvent) -> bool {
    let by_row = KeyModifiers::SHIFT | KeyModifiers::CONTROL;
    match normalize_key(key) {
        (KeyCode::PageUp, _) => dialog.scroll_by(-dialog.page_rows()),
        (KeyCode::PageDown, _) => dialog.scroll_by(dialog.page_rows()),
        (KeyCode::Up, held) if held.intersects(by_row) => dialog.scroll_by(-1),
        (KeyCode::Down, held) if held.intersects(by_row) => dialog.scroll_by(1),
        _ => return false,
    }
    true
}

/// The choice a key selects, if any.
pub fn choice_for_key<'a>(
    dialog: &Dialog,
    rows: &'a [DialogChoice],
    key: KeyEvent,
) -> Option<&'a DialogChoice> {
    match normalize_key(key) {
        (KeyCode::Enter, _) => dialog.selected_choice.and_then(|at| rows.get(at)),
        (KeyCode::Char(c), KeyModifiers::NONE) => choice_for_char(rows, c),
        _ => None,
    }
}

pub fn choice_for_char(rows: &[DialogChoice], c: char) -> Option<&DialogChoice> {
    let key = latin_key(c);
    rows.iter().find(|row| row.has_key(key))
}
