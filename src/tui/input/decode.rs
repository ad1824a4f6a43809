//! Decodes terminal input: maps Hangul jamo to the Latin keys they share, detects bursts of
//! keys as pastes, and filters out the terminal's reply to the background query.

use crate::tui::theme::TerminalBackground;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// A read with at least this many text keys is a burst, not typing.
const BURST_KEYS_MIN: usize = 4;
/// How long after the query a reply may arrive.
const REPLY_WITHIN: Duration = Duration::from_secs(3);
/// How long an incomplete reply is held.
const REPLY_GAP: Duration = Duration::from_millis(100);
/// Start of a reply, as [`reply_char`] spells it.
const REPLY_START: &str = "\u{1b}11;";
/// Maximum length of a reply in keys.
const REPLY_KEYS_MAX: usize = 40;

/// The Latin key of a two-set (Dubeolsik) jamo; any other character in lower case.
pub fn latin_key(c: char) -> char {
    const JAMO: [(char, char); 33] = [
        ('ㅂ', 'q'),
        ('ㅃ', 'q'),
        ('ㅈ', 'w'),
        ('ㅉ', 'w'),
        ('ㄷ', 'e'),
        ('ㄸ', 'e'),
        ('ㄱ', 'r'),
        ('ㄲ', 'r'),
        ('ㅅ', 't'),
        ('ㅆ', 't'),
        ('ㅛ', 'y'),
        ('ㅕ', 'u'),
        ('ㅑ', 'i'),
        ('ㅐ', 'o'),
        ('ㅒ', 'o'),
        ('ㅔ', 'p'),
        ('ㅖ', 'p'),
        ('ㅁ', 'a'),
        ('ㄴ', 's'),
        ('ㅇ', 'd'),
        ('ㄹ', 'f'),
        ('ㅎ', 'g'),
        ('ㅗ', 'h'),
        ('ㅓ', 'j'),
        ('ㅏ', 'k'),
        ('ㅣ', 'l'),
        ('ㅋ', 'z'),
        ('ㅌ', 'x'),
        ('ㅊ', 'c'),
        ('ㅍ', 'v'),
        ('ㅠ', 'b'),
        ('ㅜ', 'n'),
        ('ㅡ', 'm'),
    ];
    // Conjoining forms, which some input methods send, in Unicode order.
    const LEADING: &str = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
    const VOWELS: &str = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗ    ㅛㅜ    ㅠㅡ ㅣ";
    let nth = |list: &'static str, base: u32| list.chars().nth((u32::from(c) - base) as usize);
    let compatible = match c {
        '\u{1100}'..='\u{1112}' => nth(LEADING, 0x1100),
        '\u{1161}'..='\u{1175}' => nth(VOWELS, 0x1161),
        _ => None,
    };
    let c = compatible.unwrap_or(c);
    JAMO.iter()
        .find(|(jamo, _)| *jamo == c)
        .map_or_else(|| c.to_ascii_lowercase(), |(_, key)| *key)
}

/// Normalizes a key to the form used in the keymap.
pub fn normalize_key(key: KeyEvent) -> (KeyCode, KeyModifiers) {
    let chord = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let mut modifiers = key.modifiers & (chord | KeyModifiers::SHIFT);
    let code = match key.code {
        KeyCode::Char(c) => {
            modifiers -= KeyModifiers::SHIFT;
            // AltGr arrives as Ctrl+Alt and types a character.
            if modifiers == chord {
                modifiers = KeyModifiers::NONE;
            }
            if modifiers.is_empty() {
                KeyCode::Char(c)
            } else {
                KeyCode::Char(latin_key(c))
            }
        }
        KeyCode::BackTab => {
            modifiers |= KeyModifiers::SHIFT;
            KeyCode::Tab
        }
        code => code,
    };
    (code, modifiers)
}

/// The character typed by a key, if any.
pub fn typed_char(key: KeyEvent) -> Option<char> {
    match normalize_key(key) {
        (KeyCode::Char(c), modifiers) if modifiers.is_empty() => Some(c),
        _ => None,
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum KeyGroup {
    Key(KeyEvent),
    Burst(String),
}

/// Combines a long run of text keys into one burst. Enter belongs to the burst only if text
/// follows; a final Enter is a key of its own.
pub fn group_keys(keys: &[KeyEvent]) -> Vec<KeyGroup> {
    let text = |key: &KeyEvent| match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Enter if key.modifiers.is_empty() => Some('\n'),
        KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => Some('\n'),
        KeyCode::Tab if key.modifiers.is_empty() => Some('\t'),
        _ => typed_char(*key),
    };
    let mut groups = Vec::new();
    let mut rest = keys;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|key| text(key).is_some()).count();
        let controls = rest[..run]
            .iter()
            .rev()
            .take_while(|key| typed_char(**key).is_none())
            .count();
        let run = run - controls;
        if run >= BURST_KEYS_MIN {
            groups.push(KeyGroup::Burst(
                rest[..run].iter().filter_map(text).collect(),
            ));
            rest = &rest[run..];
        } else {
            groups.push(KeyGroup::Key(*first));
            rest = &rest[1..];
        }
    }
    groups
}

/// Filters the terminal's reply to `OSC 11 ; ?` out of the keys. crossterm reports it as
/// Alt+], its characters, and Alt+\ or Ctrl+G.
#[derive(Debug, Clone, Default)]
pub struct ReplyFilter {
    held: Vec<KeyEvent>,
    held_since: Duration,
    done: bool,
}

impl ReplyFilter {
    /// Returns the keys that are not part of a reply, and the background once the reply is
    /// complete.
    pub fn push(
        &mut self,
        key: KeyEvent,
        at: Duration,
    ) -> (Vec<KeyEvent>, Option<TerminalBackground>) {
        if self.done || at > REPLY_WITHIN {
            let mut keys = self.release();
            keys.push(key);
            return (keys, None);
        }
        if self.held.is_empty() {
            self.held_since = at;
        }
        self.held.push(key);
        let text: String = self.held.iter().filter_map(reply_char).collect();
        if let Some(body) = text.strip_prefix(REPLY_START)
            && let Some(body) = body.strip_suffix('\u{7}')
        {
            self.done = true;
            self.held.clear();
            return (Vec::new(), parse_background(body));
        }
        let begins = text.chars().count() == self.held.len()
            && (text.starts_with(REPLY_START) || REPLY_START.starts_with(text.as_str()));
        if begins && self.held.len() < REPLY_KEYS_MAX {
            return (Vec::new(), None);
        }
        (self.release(), None)
    }

    /// Whether these keys or already held ones may start a reply.
    pub fn may_be_reply(&self, keys: &[KeyEvent]) -> bool {
        let starts = |key: &KeyEvent| reply_char(key) == REPLY_START.chars().next();
        !self.done && (!self.held.is_empty() || keys.iter().any(starts))
    }

    /// When held keys must be released because the reply did not complete.
    pub fn release_at(&self) -> Option<Duration> {
        (!self.held.is_empty()).then(|| self.held_since + REPLY_GAP)
    }

    pub fn release(&mut self) -> Vec<KeyEvent> {
        std::mem::take(&mut self.held)
    }
}

/// Spells a key of a reply as one character: ESC for its start, BEL for either terminator.
fn reply_char(key: &KeyEvent) -> Option<char> {
    match (key.code, key.modifiers - KeyModifiers::SHIFT) {
        (KeyCode::Char(']'), KeyModifiers::ALT) => Some('\u{1b}'),
        (KeyCode::Char('\\'), KeyModifiers::ALT) => Some('\u{7}'),
        (KeyCode::Char('g'), KeyModifiers::CONTROL) => Some('\u{7}'),
        (KeyCode::Char(c), KeyModifiers::NONE) => Some(c),
        _ => None,
    }
}

/// `rgb:RRRR/GGGG/BBBB` with one to four digits each (xterm's control sequences).
fn parse_background(body: &str) -> Option<TerminalBackground> {
    let colors = body.split_once(':')?.1;
    let mut parts = colors.split('/').map(|digits| {
        let max = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        (max > 0).then(|| f64::from(value) / f64::from(max))
    });
    let mut next = || parts.next().flatten();
    let (red, green, blue) = (next()?, next()?, next()?);
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if brightness > 0.5 {
        TerminalBackground::Light
    } else {
        TerminalBackground::Dark
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<KeyEvent> {
        let key = |c| match c {
            '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            '⎋' => KeyEvent::new(KeyCode::Char(']'), KeyModifiers::ALT),
            '\\' => KeyEvent::new(KeyCode::Char('\\'), KeyModifiers::ALT),
            c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
        };
        text.chars().map(key).collect()
    }

    fn filtered(filter: &mut ReplyFilter, text: &str) -> (String, Option<TerminalBackground>) {
        let mut through = String::new();
        let mut found = None;
        for key in keys(text) {
            let (keys, background) = filter.push(key, Duration::ZERO);
            through.extend(keys.iter().filter_map(reply_char));
            found = found.or(background);
        }
        (through, found)
    }

    #[test]
    fn background_reply_is_not_typed_text() {
        let mut filter = ReplyFilter::default();
        let (through, found) = filtered(&mut filter, "a⎋11;rgb:ffff/FFFF/ffff\\b");
        assert_eq!(
            (through.as_str(), found),
            ("ab", Some(TerminalBackground::Light))
        );
    }

    #[test]
    fn keys_that_only_start_like_a_reply_are_typed() {
        let mut filter = ReplyFilter::default();
        assert_eq!(filtered(&mut filter, "⎋11x").0, "\u{1b}11x");
    }

    #[test]
    fn enter_after_a_burst_is_a_separate_key() {
        let groups = group_keys(&keys("ab\ncd\n"));
        let enter = KeyGroup::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        assert_eq!(groups, [KeyGroup::Burst("ab\ncd".into()), enter]);
    }

    #[test]
    fn few_keys_count_as_typing() {
        assert_eq!(group_keys(&keys("ab\n")).len(), 3);
    }

    #[test]
    fn jamo_map_to_their_latin_keys() {
        let under: String = "ㅛㅜㅇㄷㄴㅕ\u{110E}Y".chars().map(latin_key).collect();
        assert_eq!(under, "yndesucy");
    }
}
