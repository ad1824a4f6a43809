//! Halves of surrogate pairs in JSON. Other programs write an escape such as `\ud83d`
//! without the second half, or send the halves of one character in two stream events.
//! serde_json rejects both, so the escapes are repaired before parsing. Pure.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// Bytes of an escape such as `\ud800`.
const ESCAPE_BYTES: usize = 6;
/// Stands for a lone half in parsed text, followed by a private-use character that names
/// the half. Unicode reserves this code point for internal use: text has none.
const MARKER: char = '\u{FDD0}';
const FIRST_MARKED_HALF: u32 = 0xE000;
const HIGH_FIRST: u16 = 0xD800;
const LOW_FIRST: u16 = 0xDC00;
const LOW_LAST: u16 = 0xDFFF;

/// JSON in which each half that lacks its partner is U+FFFD. Borrowed if there is none. O(len).
pub fn repair_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    replace_lone(json, |_, out| out.extend_from_slice(br"\ufffd"))
}

/// Like [`repaired`], but remembers which half it was, so that [`Halves`] can join it with
/// its partner in a later event.
pub fn mark_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    replace_lone(json, |half, out| {
        let code = FIRST_MARKED_HALF + u32::from(half - HIGH_FIRST);
        out.extend_from_slice(format!(r"\u{:04x}\u{code:04x}", u32::from(MARKER)).as_bytes());
    })
}

fn replace_lone(json: &[u8], replace: impl Fn(u16, &mut Vec<u8>)) -> Cow<'_, [u8]> {
    let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
    let next_backslash = |at: usize| json.get(at..)?.iter().position(|byte| *byte == b'\\');
    while let Some(found) = next_backslash(at) {
        at += found;
        let partner = || json.get(at + ESCAPE_BYTES..).and_then(escaped_half);
        match escaped_half(&json[at..]) {
            // Step over the escaped byte too: it may be another backslash.
            None => at += 2,
            Some(HIGH_FIRST..LOW_FIRST) if matches!(partner(), Some(LOW_FIRST..)) => {
                at += 2 * ESCAPE_BYTES;
            }
            Some(half) => {
                out.extend_from_slice(&json[copied..at]);
                replace(half, &mut out);
                at += ESCAPE_BYTES;
                copied = at;
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json[copied..]);
    Cow::Owned(out)
}

/// The surrogate half that `json` begins with an escape of.
fn escaped_half(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(br"\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    (HIGH_FIRST..=LOW_LAST).contains(&unit).then_some(unit)
}

/// Joins marked halves in one field of a stream, over the borders of its events.
#[derive(Debug, Default)]
pub struct SurrogateJoiner {
    /// A high half at the end of what came, whose partner may still come.
    pending_high: Option<u16>,
}

impl SurrogateJoiner {
    /// The text that is final: halves are joined, a high half at the end is held back, and
    /// every other half is U+FFFD.
    pub fn push<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if text.is_empty() || (self.pending_high.is_none() && !text.contains(MARKER)) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let half = chars
                .peek()
                .filter(|_| c == MARKER)
                .copied()
                .and_then(marked_half);
            if half.is_some() {
                chars.next();
            }
            match (self.pending_high.take(), half) {
                (Some(high), Some(low @ LOW_FIRST..)) => {
                    out.extend(char::decode_utf16([high, low]).flatten());
                }
                (before, half) => {
                    out.extend(before.map(|_| char::REPLACEMENT_CHARACTER));
                    match half {
                        None => out.push(c),
                        Some(high @ ..LOW_FIRST) => self.pending_high = Some(high),
                        Some(_) => out.push(char::REPLACEMENT_CHARACTER),
                    }
                }
            }
        }
        Cow::Owned(out)
    }

    /// The end of the field: what stands for a half that found no partner.
    pub fn finish(&mut self) -> &'static str {
        self.pending_high.take().map_or("", |_| "\u{FFFD}")
    }
}

fn marked_half(c: char) -> Option<u16> {
    let offset = u16::try_from(u32::from(c).checked_sub(FIRST_MARKED_HALF)?).ok()?;
    let half = HIGH_FIRST.checked_add(offset)?;
    (half <= LOW_LAST).then_some(half)
}

/// Text that is whole, with its marked halves joined or replaced.
pub fn join_surrogates(text: &str) -> Cow<'_, str> {
    let mut halves = SurrogateJoiner::default();
    match (halves.push(text), halves.finish()) {
        (text, "") => text,
        (text, end) => Cow::Owned(text.into_owned() + end),
    }
}

/// Does the same in every string of `value`, except under the keys in `kept`.
pub fn join_surrogates_in_value(value: &mut Value, kept: &[&str]) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(whole) = join_surrogates(text) {
                *text = whole;
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| join_surrogates_in_value(item, kept)),
        Value::Object(members) => join_surrogates_in_members(members, kept),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// [`resolve`] for the members of an object.
pub fn join_surrogates_in_members(members: &mut Map<String, Value>, kept: &[&str]) {
    if members.keys().any(|key| key.contains(MARKER)) {
        let old = std::mem::take(members).into_iter();
        members.extend(old.map(|(key, value)| (join_surrogates(&key).into_owned(), value)));
    }
    for (key, value) in members {
        match value {
            Value::String(_) if kept.contains(&key.as_str()) => {}
            value => join_surrogates_in_value(value, kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (json, expected) in [
            (r#""a\ud800""#, r#""a\ufffd""#),
            (r#""\uDC00\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud800 \u00e9""#, r#""\\ud800 \u00e9""#),
            (r#""\ud8"#, r#""\ud8"#),
            ("\"\\", "\"\\"),
            ("\"\\한", "\"\\한"),
        ] {
            let repaired = repair_surrogates(json.as_bytes());
            assert_eq!(repaired, expected.as_bytes(), "{json}");
            assert_eq!(matches!(repaired, Cow::Borrowed(_)), json == expected);
        }
    }

    /// The texts as JSON strings with `\u` escapes, parsed and joined.
    fn joined(texts: &[&str]) -> Vec<String> {
        let mut halves = SurrogateJoiner::default();
        let parsed = texts.iter().map(|text| {
            let json = format!("\"{text}\"");
            serde_json::from_slice::<String>(&mark_surrogates(json.as_bytes())).expect("it is JSON")
        });
        let mut out: Vec<String> = parsed.map(|text| halves.push(&text).into_owned()).collect();
        out.push(halves.finish().to_owned());
        out
    }

    #[test]
    fn surrogate_pairs_split_across_events_are_joined_and_lone_ones_replaced() {
        assert_eq!(joined(&[r"a\ud83d", r"\ude00b"]), ["a", "😀b", ""]);
        assert_eq!(joined(&[r"a\ud83d", "", r"\ude00"]), ["a", "", "😀", ""]);
        assert_eq!(joined(&[r"a\ud83d", "b"]), ["a", "\u{FFFD}b", ""]);
        assert_eq!(
            joined(&[r"\udbff\udbff", r"\udfff"]),
            ["\u{FFFD}", "\u{10FFFF}", ""]
        );
        assert_eq!(joined(&[r"\ude00\ud83d"]), ["\u{FFFD}", "\u{FFFD}"]);
    }

    #[test]
    fn marker_characters_in_the_input_are_unchanged() {
        let text = "\u{FDD0} \u{E03D}\u{FDD0}";
        assert_eq!(join_surrogates(text), text);
    }

    #[test]
    fn surrogates_are_joined_in_all_values_except_under_raw_keys() {
        let json = br#"{"text":"\ud83d","a":["\ud83d"],"\ude00":{"text":{"b":"\ude00"}}}"#;
        let mut value: Value = serde_json::from_slice(&mark_surrogates(json)).expect("it is JSON");
        join_surrogates_in_value(&mut value, &["text"]);
        let kept = value["text"].clone();
        assert_ne!(kept, json!("\u{FFFD}"));
        let expected =
            json!({"text": kept, "a": ["\u{FFFD}"], "\u{FFFD}": {"text": {"b": "\u{FFFD}"}}});
        assert_eq!(value, expected);
        join_surrogates_in_value(&mut value, &[]);
        assert_eq!(value["text"], "\u{FFFD}");
    }
}
