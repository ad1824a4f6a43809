//! Decodes terminal input: maps Hangul jamo to the Latin letters on the same keys, groups bursts
//! of keys as pastes, and filters out the terminal's reply to the background query.

use crate::tui::theme::TerminalBackground;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// At least this many text keys in one read are a burst, not typing.
const BURST_KEYS_MIN: usize = 4;
/// How long after a query a reply may arrive. The first query is sent when the program starts.
const REPLY_TIMEOUT: Duration = Duration::from_secs(3);
/// How long an incomplete reply is held.
const REPLY_HOLD_TIME: Duration = Duration::from_millis(100);
/// Start of a reply in the characters that [`reply_char`] returns.
const REPLY_START: &str = "\u{1b}11;";
const REPLY_KEYS_MAX: usize = 40;

/// Maps a jamo of the two-set (Dubeolsik) keyboard to the Latin letter on the same key, and an
/// ASCII letter to lower case.
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
    // The jamo for the conjoining forms that some input methods send, in Unicode order. A space
    // stands for a vowel without a key of its own.
    const LEADING: &str = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
    const VOWELS: &str = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗ   ㅛㅜ   ㅠㅡ ㅣ";
    let nth_jamo = |jamo: &'static str, base: u32| jamo.chars().nth((u32::from(c) - base) as usize);
    let compatibility_jamo = match c {
        '\u{1100}'..='\u{1112}' => nth_jamo(LEADING, 0x1100),
        '\u{1161}'..='\u{1175}' => nth_jamo(VOWELS, 0x1161),
        _ => None,
    };
    let c = compatibility_jamo.filter(|jamo| *jamo != ' ').unwrap_or(c);
    JAMO.iter()
        .find(|(jamo, _)| *jamo == c)
        .map_or_else(|| c.to_ascii_lowercase(), |(_, key)| *key)
}

/// Normalizes a key to the form used in the keymap, except that a character without Ctrl or Alt stays
/// as it was typed.
pub fn normalize_key(key: KeyEvent) -> (KeyCode, KeyModifiers) {
    let ctrl_alt = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let mut modifiers = key.modifiers & (ctrl_alt | KeyModifiers::SHIFT);
    let code = match key.code {
        KeyCode::Char(c) => {
            let c = underscore_key(c, modifiers);
            modifiers -= KeyModifiers::SHIFT;
            // AltGr arrives as Ctrl+Alt and types a character.
            if modifiers == ctrl_alt {
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

/// The kitty protocol reports the key of the underscore with Shift as a hyphen.
fn underscore_key(c: char, modifiers: KeyModifiers) -> char {
    let is_shortcut = modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    match c {
        '-' if is_shortcut && modifiers.contains(KeyModifiers::SHIFT) => '_',
        c => c,
    }
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

/// Combines each long run of text keys into one burst. Enter and Tab belong to the burst only if
/// other text follows them; at the end of the run they are separate keys.
pub fn group_keys(keys: &[KeyEvent]) -> Vec<KeyGroup> {
    let text_char = |key: &KeyEvent| match key.code {
        _ if key.kind == KeyEventKind::Release => None,
        KeyCode::Enter if key.modifiers.is_empty() => Some('\n'),
        KeyCode::Char('j') if key.modifiers == KeyModifiers::CONTROL => Some('\n'),
        KeyCode::Tab if key.modifiers.is_empty() => Some('\t'),
        _ => typed_char(*key),
    };
    let mut groups = Vec::new();
    let mut rest = keys;
    while let Some(first) = rest.first() {
        let run_len = rest
            .iter()
            .take_while(|key| text_char(key).is_some())
            .count();
        let trailing_controls = rest[..run_len]
            .iter()
            .rev()
            .take_while(|key| typed_char(**key).is_none())
            .count();
        let burst_len = run_len - trailing_controls;
        if burst_len >= BURST_KEYS_MIN {
            groups.push(KeyGroup::Burst(
                rest[..burst_len].iter().filter_map(text_char).collect(),
            ));
            rest = &rest[burst_len..];
        } else {
            groups.push(KeyGroup::Key(*first));
            rest = &rest[1..];
        }
    }
    groups
}

/// Filters the terminal's reply to the background query (`OSC 11 ; ?`) out of the keys. crossterm
/// reports the reply as Alt+], the characters of the reply, and Alt+\ or Ctrl+G.
#[derive(Debug, Clone, Default)]
pub struct ReplyFilter {
    held_keys: Vec<KeyEvent>,
    held_since: Duration,
    is_done: bool,
    /// When the terminal was asked last.
    asked_at: Duration,
}

impl ReplyFilter {
    /// Expects a reply to a query that is being sent.
    pub fn expect_reply(&mut self, now: Duration) {
        self.is_done = false;
        self.asked_at = now;
    }

    /// Returns the keys that are not part of a reply, and the background once the reply is
    /// complete.
    pub fn push(
        &mut self,
        key: KeyEvent,
        now: Duration,
    ) -> (Vec<KeyEvent>, Option<TerminalBackground>) {
        if self.is_done || now > self.asked_at + REPLY_TIMEOUT {
            let mut keys = self.release();
            keys.push(key);
            return (keys, None);
        }
        if self.held_keys.is_empty() {
            self.held_since = now;
        }
        self.held_keys.push(key);
        let text: String = self.held_keys.iter().filter_map(reply_char).collect();
        if let Some(body) = text.strip_prefix(REPLY_START)
            && let Some(body) = body.strip_suffix('\u{7}')
        {
            self.is_done = true;
            self.held_keys.clear();
            return (Vec::new(), parse_background(body));
        }
        let may_be_incomplete = text.chars().count() == self.held_keys.len()
            && (text.starts_with(REPLY_START) || REPLY_START.starts_with(text.as_str()));
        if may_be_incomplete && self.held_keys.len() < REPLY_KEYS_MAX {
            return (Vec::new(), None);
        }
        (self.release(), None)
    }

    /// Whether these keys or already held ones may start a reply.
    pub fn may_be_reply(&self, keys: &[KeyEvent]) -> bool {
        let starts_reply = |key: &KeyEvent| reply_char(key) == REPLY_START.chars().next();
        !self.is_done && (!self.held_keys.is_empty() || keys.iter().any(starts_reply))
    }

    /// When held keys must be released, because no complete reply arrived in time.
    pub fn release_at(&self) -> Option<Duration> {
        (!self.held_keys.is_empty()).then(|| self.held_since + REPLY_HOLD_TIME)
    }

    pub fn release(&mut self) -> Vec<KeyEvent> {
        std::mem::take(&mut self.held_keys)
    }
}

/// The character for a key of a reply: ESC for the key that starts the reply, BEL for either
/// terminator.
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
    let mut components = colors.split('/').map(|digits| {
        let max = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        (max > 0).then(|| f64::from(value) / f64::from(max))
    });
    let mut next_component = || components.next().flatten();
    let (red, green, blue) = (next_component()?, next_component()?, next_component()?);
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
        let mut passed = String::new();
        let mut background = None;
        for key in keys(text) {
            let (keys, detected) = filter.push(key, Duration::ZERO);
            passed.extend(keys.iter().filter_map(reply_char));
            background = background.or(detected);
        }
        (passed, background)
    }

    #[test]
    fn terminal_reply_about_its_background_is_not_typed_text() {
        let mut filter = ReplyFilter::default();
        let (passed, background) = filtered(&mut filter, "a⎋11;rgb:ffff/FFFF/ffff\\b");
        assert_eq!(
            (passed.as_str(), background),
            ("ab", Some(TerminalBackground::Light))
        );
    }

    #[test]
    fn later_query_gets_a_reply_too() {
        let reply = "⎋11;rgb:ffff/ffff/ffff\\";
        let mut filter = ReplyFilter::default();
        assert!(filtered(&mut filter, reply).1.is_some());
        assert_eq!(filtered(&mut filter, reply).1, None);
        filter.expect_reply(Duration::from_secs(60));
        let light = Some(TerminalBackground::Light);
        let (keys, background) = reply_at(&mut filter, reply, Duration::from_secs(61));
        assert_eq!((keys, background), (0, light));
        filter.expect_reply(Duration::from_secs(70));
        assert_eq!(
            reply_at(&mut filter, reply, Duration::from_secs(80)).1,
            None
        );
    }

    /// The number of keys that are passed on, and the background.
    fn reply_at(
        filter: &mut ReplyFilter,
        text: &str,
        now: Duration,
    ) -> (usize, Option<TerminalBackground>) {
        let pushed = keys(text).into_iter().map(|key| filter.push(key, now));
        pushed.fold((0, None), |(count, found), (keys, detected)| {
            (count + keys.len(), found.or(detected))
        })
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
    fn a_short_burst_of_keys_counts_as_typing() {
        assert_eq!(group_keys(&keys("ab\n")).len(), 3);
    }

    #[test]
    fn jamo_map_to_their_latin_keys() {
        let latin: String = "ㅛㅜㅇㄷㄴㅕ\u{110E}Y".chars().map(latin_key).collect();
        assert_eq!(latin, "yndesucy");
    }

    #[test]
    fn conjoining_jamo_map_to_the_keys_of_their_compatibility_forms() {
        use icu_normalizer::DecomposingNormalizerBorrowed;
        let conjoining = DecomposingNormalizerBorrowed::new_nfkd();
        for jamo in 'ㄱ'..='ㅣ' {
            let decomposed = conjoining
                .normalize(jamo.encode_utf8(&mut [0; 4]))
                .into_owned();
            let latin: String = decomposed.chars().map(latin_key).collect();
            match latin_key(jamo) {
                key if key.is_ascii() => assert_eq!(latin, key.to_string(), "{jamo}"),
                // Written with several keys.
                _ => assert_eq!(latin, decomposed, "{jamo}"),
            }
        }
    }
}
