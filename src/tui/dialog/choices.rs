//! Helpers shared by key handling and checks: the choice for a key, and scrolling.

use crate::tui::dialog::state::{OpenAsk, Row};
use crate::tui::input::decode::{key_under, normal};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Characters kept of an error about edited arguments. Schema errors quote the value,
/// which may be long.
pub const FAULT_CHARS_MAX: usize = 400;

/// Scrolls the body if this is a scroll key. Works while a text field is open, too.
pub fn scrolls(ask: &mut OpenAsk, key: KeyEvent) -> bool {
    let by_row = KeyModifiers::SHIFT | KeyModifiers::CONTROL;
    match normal(key) {
        (KeyCode::PageUp, _) => ask.scroll_by(-ask.page()),
        (KeyCode::PageDown, _) => ask.scroll_by(ask.page()),
        (KeyCode::Up, held) if held.intersects(by_row) => ask.scroll_by(-1),
        (KeyCode::Down, held) if held.intersects(by_row) => ask.scroll_by(1),
        _ => return false,
    }
    true
}

/// The choice a key selects, if any.
pub fn chosen_by<'a>(ask: &OpenAsk, rows: &'a [Row], key: KeyEvent) -> Option<&'a Row> {
    match normal(key) {
        (KeyCode::Enter, _) => ask.chosen.and_then(|at| rows.get(at)),
        (KeyCode::Char(c), KeyModifiers::NONE) => meant(rows, c),
        _ => None,
    }
}

pub fn meant(rows: &[Row], c: char) -> Option<&Row> {
    let key = key_under(c);
    rows.iter()
        .find(|row| row.key == Some(key) || row.digit == Some(key))
}
