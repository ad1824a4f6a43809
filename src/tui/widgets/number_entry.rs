//! Numbers typed in a numbered list. A number takes effect at once, unless a longer number begins
//! with it; then it waits for another digit or for Enter.

use crate::tui::input::decode::typed_char;
use crate::tui::keymap::Keymap;
use crate::tui::keymap::layers::{KeyContext, LayerKey};
use crossterm::event::KeyEvent;

#[derive(Debug, Default)]
pub struct NumberEntry {
    digits: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKey {
    Chosen(usize),
    /// The number may be complete, but a longer one may follow.
    Typed(usize),
    /// The key belongs to the number, but yields none: it deleted a digit, or there is no such
    /// number.
    Discarded,
    Unhandled,
}

impl NumberEntry {
    /// Handles a key in a list with the numbers 0 to `last`.
    pub fn key(&mut self, key: KeyEvent, last: usize, keymap: &Keymap) -> NumberKey {
        match keymap.layer_key(key, &[KeyContext::Picker]) {
            Some(LayerKey::Confirm) if self.digits.is_empty() => return NumberKey::Unhandled,
            Some(LayerKey::Confirm) => {
                let number = std::mem::take(&mut self.digits).parse::<usize>();
                let number = number.ok().filter(|number| *number <= last);
                return number.map_or(NumberKey::Discarded, NumberKey::Chosen);
            }
            Some(LayerKey::Erase) => {
                self.digits.pop();
                return NumberKey::Discarded;
            }
            _ => {}
        }
        let Some(digit) = typed_char(key).filter(char::is_ascii_digit) else {
            self.digits.clear();
            return NumberKey::Unhandled;
        };
        self.digits.push(digit);
        let number = self.digits.parse::<usize>().ok();
        match number.filter(|number| *number <= last) {
            Some(number) if number == 0 || number.saturating_mul(10) > last => {
                self.digits.clear();
                NumberKey::Chosen(number)
            }
            Some(number) => NumberKey::Typed(number),
            None => {
                self.digits.clear();
                NumberKey::Discarded
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn keys(codes: &[KeyCode], last: usize) -> Vec<NumberKey> {
        let mut entry = NumberEntry::default();
        let key = |code: &KeyCode| {
            let key = KeyEvent::new(*code, KeyModifiers::NONE);
            entry.key(key, last, &Keymap::default())
        };
        codes.iter().map(key).collect()
    }

    #[test]
    fn a_number_waits_while_a_longer_one_may_follow() {
        use KeyCode::{Backspace, Char, Enter};
        use NumberKey::{Chosen, Discarded, Typed, Unhandled};
        assert_eq!(keys(&[Char('3')], 9), [Chosen(3)]);
        assert_eq!(keys(&[Char('0')], 12), [Chosen(0)]);
        assert_eq!(keys(&[Char('1'), Char('2')], 12), [Typed(1), Chosen(12)]);
        assert_eq!(keys(&[Char('1'), Enter], 12), [Typed(1), Chosen(1)]);
        let corrected = keys(&[Char('1'), Backspace, Char('2')], 12);
        assert_eq!(corrected, [Typed(1), Discarded, Chosen(2)]);
        assert_eq!(keys(&[Char('9'), Enter], 3), [Discarded, Unhandled]);
    }
}
