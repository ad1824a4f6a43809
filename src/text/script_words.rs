//! Splits text into words and the characters between them, to judge the scripts of a word's letters.

use icu_properties::props::{Alphabetic, GeneralCategory, Script};
use icu_properties::{CodePointMapData, CodePointSetData};

const EAST_ASIAN: [Script; 5] = [
    Script::Han,
    Script::Hangul,
    Script::Hiragana,
    Script::Katakana,
    Script::Bopomofo,
];

/// A word, an escape, or one other character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextPart<'a> {
    /// Byte offset.
    pub(super) start: usize,
    pub(super) text: &'a str,
    pub(super) kind: PartKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    /// Letters, digits and marks without a separator between them.
    Word,
    /// `\n`, `\u001b` or `%5d`: its letter is not part of the word that follows.
    Escape,
    Other,
}

/// The parts of `text`, in order. O(len).
pub(super) fn text_parts(text: &str) -> impl Iterator<Item = TextPart<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = &text[start..];
        let first = rest.chars().next()?;
        let (length, kind) = match escape_length(rest) {
            _ if is_in_word(first) => {
                let end = rest.find(|c| !is_in_word(c));
                (end.unwrap_or(rest.len()), PartKind::Word)
            }
            Some(length) => (length, PartKind::Escape),
            None => (first.len_utf8(), PartKind::Other),
        };
        let part = TextPart {
            start,
            text: &rest[..length],
            kind,
        };
        start += length;
        Some(part)
    })
}

/// The length of the escape at the start of `rest`, as used in strings, regular expressions and
/// format strings.
fn escape_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let second = *bytes.get(1)?;
    match bytes[0] {
        b'\\' if second.is_ascii_graphic() => {
            let digits = match second {
                b'x' => 2,
                b'u' => 4,
                b'U' => 8,
                _ => 0,
            };
            let code = bytes.get(2..2 + digits);
            let has_code = code.is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit));
            Some(2 + if has_code { digits } else { 0 })
        }
        b'%' => {
            let is_flag =
                |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'#' | b'.' | b'*');
            let flags = bytes[1..].iter().take_while(|byte| is_flag(byte)).count();
            let sizes = bytes[1 + flags..].iter();
            let sizes = sizes.take_while(|byte| matches!(byte, b'l' | b'h' | b'z'));
            let letter = 1 + flags + sizes.count();
            let is_letter = |at: &usize| bytes.get(*at).is_some_and(u8::is_ascii_alphabetic);
            // In `%h` before a non-ASCII letter, the `h` itself is the conversion letter.
            let letter = [letter, letter - 1].into_iter().find(is_letter)?;
            Some(letter + 1)
        }
        _ => None,
    }
}

fn is_in_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric()
        || is_mathematical(c)
        || script_of(c) == Script::Inherited
        || CodePointSetData::new::<Alphabetic>().contains(c)
}

pub(super) fn script_of(c: char) -> Script {
    match c {
        // Unicode assigns these digits to `Common`, because other scripts use them too.
        '٠'..='٩' => Script::Arabic,
        c => CodePointMapData::<Script>::new().get(c),
    }
}

pub(super) fn is_east_asian(c: char) -> bool {
    !c.is_ascii() && EAST_ASIAN.contains(&script_of(c))
}

pub(super) fn is_non_ascii_digit(c: char) -> bool {
    let category = || CodePointMapData::<GeneralCategory>::new().get(c);
    !c.is_ascii() && category() == GeneralCategory::DecimalNumber
}

/// Mathematical alphanumeric symbols: bold, italic and other forms of ASCII and Greek letters.
pub(super) fn is_mathematical(c: char) -> bool {
    matches!(c, '\u{1D400}'..='\u{1D7FF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_belong_to_no_word() {
        for (text, parts) in [
            ("a\\nпривет b", "a|\\n|привет| |b"),
            ("%5.2lfм %sзначение 5%", "%5.2lf|м| |%s|значение| |5|%"),
            ("\\u001bслово\\xслово", "\\u001b|слово|\\x|слово"),
            ("%hа", "%h|а"),
            ("C:\\а\\\\б", "C|:|\\|а|\\\\|б"),
            ("%", "%"),
            ("\\", "\\"),
        ] {
            let found: Vec<_> = text_parts(text).map(|part| part.text).collect();
            assert_eq!(found.join("|"), parts);
        }
    }
}
