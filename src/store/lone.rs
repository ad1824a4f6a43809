//! Halves of characters: JSON of other programs may hold a surrogate escape without
//! its other half, which is no text. Such a file opens, with U+FFFD in its place.

use std::borrow::Cow;

/// Bytes of an escape such as `\\ud800`.
const ESCAPE: usize = 6;
const REPLACEMENT: &[u8; ESCAPE] = b"\\ufffd";

/// JSON in which each surrogate has its other half: borrowed where that was so before.
pub(super) fn mended(json: &[u8]) -> Cow<'_, [u8]> {
    let mut mended: Cow<[u8]> = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(found) = json[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        at += match (surrogate(&json[at..]), json.get(at + ESCAPE..)) {
            // An escaped backslash begins no escape.
            (None, _) => 2,
            (Some(Half::High), Some(next)) if surrogate(next) == Some(Half::Low) => 2 * ESCAPE,
            (Some(_), _) => {
                mended.to_mut()[at..at + ESCAPE].copy_from_slice(REPLACEMENT);
                ESCAPE
            }
        };
        if at >= json.len() {
            break;
        }
    }
    mended
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The half of a character that `json` begins with an escape of.
fn surrogate(json: &[u8]) -> Option<Half> {
    let digits = json.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_half_is_replaced_and_nothing_else_is() {
        for (json, expected) in [
            (r#""a\ud800""#, r#""a\ufffd""#),
            (r#""\uDC00\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud800 \u00e9""#, r#""\\ud800 \u00e9""#),
            (r#""\ud8"#, r#""\ud8"#),
            ("\"\\", "\"\\"),
        ] {
            let mended = mended(json.as_bytes());
            assert_eq!(mended, expected.as_bytes(), "{json}");
            assert_eq!(matches!(mended, Cow::Borrowed(_)), json == expected);
        }
    }
}
