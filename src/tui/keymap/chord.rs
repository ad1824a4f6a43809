//! A key with its modifiers, as the tables write it and as the user reads it.

use crossterm::event::{KeyCode, KeyModifiers};
use std::fmt;

pub(super) const CTRL: KeyModifiers = KeyModifiers::CONTROL;
pub(super) const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
pub(super) const ALT: KeyModifiers = KeyModifiers::ALT;
pub(super) const CTRL_SHIFT: KeyModifiers = CTRL.union(SHIFT);
pub(super) const ALT_SHIFT: KeyModifiers = ALT.union(SHIFT);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chord {
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
}

pub(super) const fn chord(code: KeyCode, modifiers: KeyModifiers) -> Chord {
    Chord { code, modifiers }
}

pub(super) const fn key(code: KeyCode) -> Chord {
    chord(code, KeyModifiers::NONE)
}

pub(super) const fn ctrl(c: char) -> Chord {
    chord(KeyCode::Char(c), KeyModifiers::CONTROL)
}

pub(super) const fn alt(c: char) -> Chord {
    chord(KeyCode::Char(c), KeyModifiers::ALT)
}

pub(super) const fn function_key(number: u8) -> Chord {
    key(KeyCode::F(number))
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in [(CTRL, "Ctrl+"), (ALT, "Alt+"), (SHIFT, "Shift+")] {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) => write!(f, "{}", c.to_uppercase()),
            KeyCode::F(number) => write!(f, "F{number}"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            KeyCode::Delete => f.write_str("Del"),
            other => write!(f, "{other:?}"),
        }
    }
}
