//! A key with its modifiers: its name, parsing a name, and whether a terminal can send it.

use crate::tui::input::decode::latin_key;
use crossterm::event::{KeyCode, KeyModifiers};
use std::fmt;
use std::str::FromStr;

pub(super) const CTRL: KeyModifiers = KeyModifiers::CONTROL;
pub(super) const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
pub(super) const ALT: KeyModifiers = KeyModifiers::ALT;
pub(super) const CTRL_SHIFT: KeyModifiers = CTRL.union(SHIFT);
pub(super) const ALT_SHIFT: KeyModifiers = ALT.union(SHIFT);

/// The highest function key. Terminals send those above [`PLAIN_FUNCTION_KEY_MAX`] only with the
/// enhanced keyboard protocol.
const FUNCTION_KEY_MAX: u8 = 24;
const PLAIN_FUNCTION_KEY_MAX: u8 = 12;

/// A key in the form of the tables: letters are Latin and in lower case, and `Shift` is set
/// only for named keys and for letters without another modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    chord(KeyCode::Char(c), CTRL)
}

pub(super) const fn alt(c: char) -> Chord {
    chord(KeyCode::Char(c), ALT)
}

/// How the terminal reports keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyProtocol {
    /// The kitty keyboard protocol, which distinguishes all keys.
    Enhanced,
    /// Control characters and escape sequences.
    #[default]
    Legacy,
}

impl Chord {
    /// Whether the key types a character into the message.
    pub fn types_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.modifiers.difference(SHIFT).is_empty()
    }

    /// Whether the key is a function key, Insert, or a character together with Ctrl or Alt. Layers,
    /// dialogs and text fields leave such keys to actions.
    pub fn is_shortcut(self) -> bool {
        match self.code {
            KeyCode::F(_) | KeyCode::Insert => true,
            KeyCode::Char(_) => !self.types_text(),
            _ => false,
        }
    }

    /// The key that a legacy terminal reports for this one, if it reports another. The control
    /// characters 0x1C to 0x1F arrive as Ctrl with a digit.
    pub(super) fn legacy_alias(self) -> Option<Self> {
        let digit = match self.code {
            KeyCode::Char('\\') => '4',
            KeyCode::Char(']') => '5',
            KeyCode::Char('^') => '6',
            KeyCode::Char('_' | '/') => '7',
            _ => return None,
        };
        (self.modifiers == CTRL).then_some(Self {
            code: KeyCode::Char(digit),
            modifiers: CTRL,
        })
    }

    /// Why a terminal with this protocol cannot send the key, as a clause; `None` if it can.
    pub(super) fn unsendable_reason(self, protocol: KeyProtocol) -> Option<String> {
        if protocol == KeyProtocol::Enhanced {
            return None;
        }
        let confused_with = match (self.code, self.modifiers) {
            (KeyCode::Char('i'), CTRL) => "Tab",
            (KeyCode::Char('m'), CTRL) | (KeyCode::Enter, CTRL | SHIFT) => "Enter",
            (KeyCode::Char('[' | '3'), CTRL) => "Esc",
            (KeyCode::Char('h' | '8'), CTRL) => "Backspace",
            (KeyCode::Backspace, CTRL) => "Ctrl+H",
            (KeyCode::Backspace, SHIFT) => "Backspace",
            (KeyCode::Char(' '), SHIFT) => "Space",
            (KeyCode::Tab, CTRL) => "Tab",
            (code, modifiers) => {
                let is_sent = match (code, modifiers) {
                    (KeyCode::Char(c), CTRL) => c.is_ascii_lowercase() || " \\]^_/4567".contains(c),
                    // These begin escape sequences.
                    (KeyCode::Char('[' | ']'), ALT) => false,
                    (KeyCode::F(number), _) => number <= PLAIN_FUNCTION_KEY_MAX,
                    (KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace, modifiers) => {
                        matches!(modifiers, KeyModifiers::NONE | ALT)
                            || (code, modifiers) == (KeyCode::Tab, SHIFT)
                    }
                    _ => true,
                };
                return (!is_sent).then(|| format!("this terminal does not send {self}"));
            }
        };
        Some(format!(
            "this terminal sends {self} as {confused_with}, because it lacks the enhanced keyboard \
             protocol"
        ))
    }
}

/// Single letters are written as they are typed: `y`, but `Ctrl+Y`.
impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in [(CTRL, "Ctrl+"), (ALT, "Alt+"), (SHIFT, "Shift+")] {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => f.write_str("Space"),
            KeyCode::Char(c) if self.modifiers.is_empty() => write!(f, "{c}"),
            KeyCode::Char(c) => write!(f, "{}", c.to_uppercase()),
            KeyCode::F(number) => write!(f, "F{number}"),
            KeyCode::PageUp => f.write_str("PgUp"),
            KeyCode::PageDown => f.write_str("PgDn"),
            KeyCode::Delete => f.write_str("Del"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Parses a name such as `Ctrl+K`, `alt-shift-left`, `F5` or `ㅏ` (the key of `k` on a Korean
/// keyboard layout), in any letter case. The error is a clause about the name.
impl FromStr for Chord {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = name.trim();
        // The key itself may be `+` or `-`.
        while let Some(end) = rest.find(['+', '-']).filter(|end| *end > 0) {
            let (modifier, key) = rest.split_at(end);
            let key = key[1..].trim_start();
            if key.is_empty() {
                break;
            }
            modifiers |= parse_modifier(modifier.trim())?;
            rest = key;
        }
        let (code, implied) = parse_key(rest)?;
        let modifiers = modifiers | implied;
        let KeyCode::Char(c) = code else {
            return Ok(Self { code, modifiers });
        };
        if modifiers.contains(CTRL | ALT) {
            return Err("Ctrl+Alt types characters on keyboards with AltGr".to_owned());
        }
        if modifiers.contains(SHIFT) && c != ' ' {
            if modifiers != SHIFT {
                return Err("Shift makes no difference together with Ctrl or Alt".to_owned());
            }
            if !c.is_ascii_lowercase() {
                return Err("name the character itself instead of Shift".to_owned());
            }
        }
        Ok(Self { code, modifiers })
    }
}

fn parse_modifier(name: &str) -> Result<KeyModifiers, String> {
    match name.to_lowercase().as_str() {
        "ctrl" | "control" => Ok(CTRL),
        "alt" | "option" => Ok(ALT),
        "shift" => Ok(SHIFT),
        "cmd" | "command" | "super" | "win" | "windows" | "meta" => {
            Err("terminals do not pass this modifier on".to_owned())
        }
        _ => Err("the modifiers are Ctrl, Alt and Shift".to_owned()),
    }
}

/// A key without modifiers, and the modifiers that its name implies.
fn parse_key(name: &str) -> Result<(KeyCode, KeyModifiers), String> {
    let lower = name.to_lowercase();
    let code = match lower.as_str() {
        "enter" | "return" => KeyCode::Enter,
        "esc" | "escape" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => return Ok((KeyCode::Tab, SHIFT)),
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "del" | "delete" => KeyCode::Delete,
        "ins" | "insert" => KeyCode::Insert,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" | "pageup" => KeyCode::PageUp,
        "pgdn" | "pgdown" | "pagedown" => KeyCode::PageDown,
        _ => {
            let character = single_key_character(&lower);
            let number = lower.strip_prefix('f').and_then(|rest| rest.parse().ok());
            let function_key = number.filter(|number| (1..=FUNCTION_KEY_MAX).contains(number));
            let code = character.map(KeyCode::Char);
            code.or(function_key.map(KeyCode::F))
                .ok_or("there is no such key")?
        }
    };
    Ok((code, KeyModifiers::NONE))
}

/// The character of a key that types one character. An input method composes a Hangul syllable
/// from several keys.
fn single_key_character(name: &str) -> Option<char> {
    let mut chars = name.chars();
    let character = latin_key(chars.next()?);
    let is_composed = ('\u{AC00}'..='\u{D7A3}').contains(&character);
    let is_key = !character.is_control() && !character.is_whitespace() && !is_composed;
    (chars.next().is_none() && is_key).then_some(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(text: &str) -> String {
        text.parse::<Chord>()
            .map_or_else(|error| format!("! {error}"), |chord| chord.to_string())
    }

    #[test]
    fn key_names_are_parsed_in_any_case_and_with_either_separator() {
        for (text, expected) in [
            ("Ctrl+K", "Ctrl+K"),
            ("ctrl-k", "Ctrl+K"),
            (" control + k ", "Ctrl+K"),
            ("Ctrl+ㅏ", "Ctrl+K"),
            ("ㅏ", "k"),
            ("Y", "y"),
            ("shift+y", "Shift+Y"),
            ("Alt+Shift+Left", "Alt+Shift+Left"),
            ("f5", "F5"),
            ("F", "f"),
            ("SPACE", "Space"),
            ("ctrl+space", "Ctrl+Space"),
            ("Tab", "Tab"),
            ("BackTab", "Shift+Tab"),
            ("shift-tab", "Shift+Tab"),
            ("PageDown", "PgDn"),
            ("alt-del", "Alt+Del"),
            ("+", "+"),
            ("-", "-"),
            ("Ctrl++", "Ctrl++"),
            ("alt--", "Alt+-"),
            ("Ctrl+_", "Ctrl+_"),
        ] {
            assert_eq!(name_of(text), expected, "{text}");
        }
    }

    #[test]
    fn parsing_a_displayed_name_gives_the_same_key() {
        for binding in crate::tui::keymap::all_bindings() {
            for key in binding.default_keys {
                assert_eq!(key.to_string().parse().as_ref(), Ok(key));
            }
        }
    }

    #[test]
    fn invalid_key_names_are_explained() {
        for (text, expected) in [
            ("", "! there is no such key"),
            ("Ctrl+", "! there is no such key"),
            ("Kontrol+K", "! the modifiers are Ctrl, Alt and Shift"),
            ("Cmd+K", "! terminals do not pass this modifier on"),
            ("F25", "! there is no such key"),
            ("F0", "! there is no such key"),
            ("Ctrl+Foo", "! there is no such key"),
            ("가", "! there is no such key"),
            ("\u{1b}", "! there is no such key"),
            (
                "Ctrl+Shift+K",
                "! Shift makes no difference together with Ctrl or Alt",
            ),
            (
                "Ctrl+Alt+K",
                "! Ctrl+Alt types characters on keyboards with AltGr",
            ),
            ("Shift+1", "! name the character itself instead of Shift"),
        ] {
            assert_eq!(name_of(text), expected, "{text}");
        }
    }

    #[test]
    fn legacy_terminals_cannot_send_every_key() {
        let is_sent = |name: &str, protocol| {
            let chord: Chord = name.parse().expect(name);
            chord.unsendable_reason(protocol).is_none()
        };
        let unsendable = [
            "Ctrl+I",
            "Ctrl+M",
            "Ctrl+[",
            "Ctrl+H",
            "Ctrl+Enter",
            "Shift+Enter",
            "Ctrl+Tab",
            "Ctrl+Backspace",
            "Shift+Space",
            "Ctrl+;",
            "Ctrl+1",
            "Alt+[",
            "F13",
            "Ctrl+Shift+Enter",
        ];
        for name in unsendable {
            assert!(!is_sent(name, KeyProtocol::Legacy), "{name}");
            assert!(is_sent(name, KeyProtocol::Enhanced), "{name}");
        }
        for name in [
            "Ctrl+K",
            "Ctrl+J",
            "Ctrl+Space",
            "Ctrl+_",
            "Alt+Enter",
            "Alt+K",
            "Shift+Tab",
            "Ctrl+Left",
            "F12",
            "Shift+F5",
            "Shift+Y",
        ] {
            assert!(is_sent(name, KeyProtocol::Legacy), "{name}");
        }
    }
}
