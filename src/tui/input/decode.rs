//! Interprets keys: maps Hangul jamo to the Latin letters on the same keys, and groups bursts of keys
//! as pastes.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// At least this many text keys in one read are a burst, not typing.
const BURST_KEYS_MIN: usize = 4;
/// The same while a question is open, which a short paste must not answer.
const BURST_KEYS_MIN_WHILE_ASKING: usize = 2;
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
/// other text follows them; at the end of the run they are separate keys. While a question is open, a
/// short run is a burst, too, unless it comes from one key that is held down.
pub fn group_keys(keys: &[KeyEvent], is_asking: bool) -> Vec<KeyGroup> {
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
        let burst = rest.get(..burst_len).unwrap_or_default();
        let is_held_down = burst.iter().all(|key| key.code == first.code);
        let keys_min = match is_asking && !is_held_down {
            true => BURST_KEYS_MIN_WHILE_ASKING,
            false => BURST_KEYS_MIN,
        };
        if burst_len >= keys_min {
            let text = burst.iter().filter_map(text_char).collect();
            groups.push(KeyGroup::Burst(text));
            rest = &rest[burst_len..];
        } else {
            groups.push(KeyGroup::Key(*first));
            rest = &rest[1..];
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<KeyEvent> {
        let key = |c| match c {
            '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
        };
        text.chars().map(key).collect()
    }

    #[test]
    fn enter_after_a_burst_is_a_separate_key() {
        let groups = group_keys(&keys("ab\ncd\n"), false);
        let enter = KeyGroup::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        assert_eq!(groups, [KeyGroup::Burst("ab\ncd".into()), enter]);
    }

    #[test]
    fn a_short_burst_of_keys_counts_as_typing() {
        assert_eq!(group_keys(&keys("ab\n"), false).len(), 3);
    }

    #[test]
    fn a_short_burst_while_a_question_is_open_is_no_typing() {
        for pasted in ["y\nn", "\nn", "yn", "ㅛn"] {
            let burst = KeyGroup::Burst(pasted.to_owned());
            assert_eq!(group_keys(&keys(pasted), true), [burst]);
        }
        for typed in ["y", "y\n", "nn", "jjj"] {
            let groups = group_keys(&keys(typed), true);
            assert_eq!(groups.len(), typed.chars().count(), "{typed}");
        }
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
