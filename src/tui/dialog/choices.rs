//! What the keys and the check of a dialog share: which choice a key takes, and scrolling.

use crate::tui::dialog::state::{Dialog, DialogChoice};
use crate::tui::input::decode::{latin_key, normalize_key};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Characters kept of what is wrong with edited arguments: a schema's complaint
/// quotes the value, however long that is.
pub const ERROR_CHARS_MAX: usize = 400;

/// Keys that scroll what is asked about, also while a word is typed.
pub fn scroll_key(ask: &mut Dialog, key: KeyEvent) -> bool {
    let by_row = KeyModifiers::SHIFT | KeyModifiers::CONTROL;
    match normalize_key(key) {
        (KeyCode::PageUp, _) => ask.scroll_by(-ask.page_rows()),
        (KeyCode::PageDown, _) => ask.scroll_by(ask.page_rows()),
        (KeyCode::Up, held) if held.intersects(by_row) => ask.scroll_by(-1),
        (KeyCode::Down, held) if held.intersects(by_row) => ask.scroll_by(1),
        _ => return false,
    }
    true
}

/// The choice that a key takes.
pub fn choice_for_key<'a>(
    ask: &Dialog,
    rows: &'a [DialogChoice],
    key: KeyEvent,
) -> Option<&'a DialogChoice> {
    match normalize_key(key) {
        (KeyCode::Enter, _) => ask.selected_choice.and_then(|at| rows.get(at)),
        (KeyCode::Char(c), KeyModifiers::NONE) => choice_for_char(rows, c),
        _ => None,
    }
}

pub fn choice_for_char(rows: &[DialogChoice], c: char) -> Option<&DialogChoice> {
    let key = latin_key(c);
    rows.iter()
        .find(|row| row.key == Some(key) || row.digit == Some(key))
}
