//! Repairs lone surrogates in JSON. Some programs write an escape such as `\ud83d` without its low
//! surrogate, or split a surrogate pair between two stream events. serde_json rejects both, so the
//! escapes are repaired before parsing.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// Length of an escape such as `\ud800`.
const ESCAPE_BYTES: usize = 6;
/// Marks a lone surrogate in parsed text; the private-use character after it encodes the surrogate.
/// The marker is a Unicode noncharacter, so ordinary text does not contain it.
const MARKER: char = '\u{FDD0}';
/// The private-use character that encodes [`HIGH_FIRST`]; the other surrogates follow in order.
const ENCODED_FIRST: u32 = 0xE000;
const HIGH_FIRST: u16 = 0xD800;
const LOW_FIRST: u16 = 0xDC00;
const LOW_LAST: u16 = 0xDFFF;

/// Replaces each lone surrogate in `json` with U+FFFD. Borrowed if there is none. O(len).
pub fn repair_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    replace_lone_surrogates(json, |_, out| out.extend_from_slice(br"\ufffd"))
}

/// Like [`repair_surrogates`], but marks each lone surrogate instead, so that [`SurrogateJoiner`]
/// can join it with its partner in another event.
pub fn mark_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    replace_lone_surrogates(json, |surrogate, out| {
        let code = ENCODED_FIRST + u32::from(surrogate - HIGH_FIRST);
        out.extend_from_slice(format!(r"\u{:04x}\u{code:04x}", u32::from(MARKER)).as_bytes());
    })
}

fn replace_lone_surrogates(json: &[u8], replace: impl Fn(u16, &mut Vec<u8>)) -> Cow<'_, [u8]> {
    let (mut out, mut copied, mut position) = (Vec::new(), 0, 0);
    let next_backslash =
        |position: usize| json.get(position..)?.iter().position(|byte| *byte == b'\\');
    while let Some(distance) = next_backslash(position) {
        position += distance;
        let partner = || {
            json.get(position + ESCAPE_BYTES..)
                .and_then(escaped_surrogate)
        };
        match escaped_surrogate(&json[position..]) {
            // Skip the escaped byte too: it may be another backslash.
            None => position += 2,
            Some(HIGH_FIRST..LOW_FIRST) if matches!(partner(), Some(LOW_FIRST..)) => {
                position += 2 * ESCAPE_BYTES;
            }
            Some(surrogate) => {
                out.extend_from_slice(&json[copied..position]);
                replace(surrogate, &mut out);
                position += ESCAPE_BYTES;
                copied = position;
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json[copied..]);
    Cow::Owned(out)
}

/// The surrogate whose escape is at the start of `json`.
fn escaped_surrogate(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(br"\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let unit = u16::from_str_radix(digits, 16).ok()?;
    (HIGH_FIRST..=LOW_LAST).contains(&unit).then_some(unit)
}

/// Joins marked surrogates within one field of a stream, across events.
#[derive(Debug, Default)]
pub struct SurrogateJoiner {
    /// A trailing high surrogate whose partner may still arrive.
    pending_high: Option<u16>,
}

impl SurrogateJoiner {
    /// Joins the marked surrogates in `text` and holds back a trailing high one. The others without
    /// a partner become U+FFFD.
    pub fn push<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if text.is_empty() || (self.pending_high.is_none() && !text.contains(MARKER)) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let surrogate = chars
                .peek()
                .filter(|_| c == MARKER)
                .copied()
                .and_then(decode_surrogate);
            if surrogate.is_some() {
                chars.next();
            }
            match (self.pending_high.take(), surrogate) {
                (Some(high), Some(low @ LOW_FIRST..)) => {
                    out.extend(char::decode_utf16([high, low]).flatten());
                }
                (pending_high, surrogate) => {
                    out.extend(pending_high.map(|_| char::REPLACEMENT_CHARACTER));
                    match surrogate {
                        None => out.push(c),
                        Some(high @ ..LOW_FIRST) => self.pending_high = Some(high),
                        Some(_) => out.push(char::REPLACEMENT_CHARACTER),
                    }
                }
            }
        }
        Cow::Owned(out)
    }

    /// Ends the field. Returns U+FFFD if a surrogate is still pending, otherwise an empty string.
    pub fn finish(&mut self) -> &'static str {
        self.pending_high.take().map_or("", |_| "\u{FFFD}")
    }
}

/// The surrogate that a character after [`MARKER`] encodes.
fn decode_surrogate(c: char) -> Option<u16> {
    let offset = u16::try_from(u32::from(c).checked_sub(ENCODED_FIRST)?).ok()?;
    let surrogate = HIGH_FIRST.checked_add(offset)?;
    (surrogate <= LOW_LAST).then_some(surrogate)
}

/// Joins or replaces the marked surrogates of a complete text.
pub fn join_surrogates(text: &str) -> Cow<'_, str> {
    let mut joiner = SurrogateJoiner::default();
    match (joiner.push(text), joiner.finish()) {
        (text, "") => text,
        (text, replacement) => Cow::Owned(text.into_owned() + replacement),
    }
}

/// Applies [`join_surrogates`] to every key and string in `value`, except a string whose key is in
/// `raw_keys`.
pub fn join_surrogates_in_value(value: &mut Value, raw_keys: &[&str]) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(joined) = join_surrogates(text) {
                *text = joined;
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| join_surrogates_in_value(item, raw_keys)),
        Value::Object(members) => join_surrogates_in_members(members, raw_keys),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Like [`join_surrogates_in_value`], for the members of an object.
pub fn join_surrogates_in_members(members: &mut Map<String, Value>, raw_keys: &[&str]) {
    if members.keys().any(|key| key.contains(MARKER)) {
        let old = std::mem::take(members).into_iter();
        members.extend(old.map(|(key, value)| (join_surrogates(&key).into_owned(), value)));
    }
    for (key, value) in members {
        match value {
            Value::String(_) if raw_keys.contains(&key.as_str()) => {}
            value => join_surrogates_in_value(value, raw_keys),
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

    /// Parses each text as the contents of a JSON string and pushes it into one joiner. The last
    /// item is the result of `finish`.
    fn joined(texts: &[&str]) -> Vec<String> {
        let mut joiner = SurrogateJoiner::default();
        let parsed = texts.iter().map(|text| {
            let json = format!("\"{text}\"");
            serde_json::from_slice::<String>(&mark_surrogates(json.as_bytes())).expect("valid JSON")
        });
        let mut out: Vec<String> = parsed.map(|text| joiner.push(&text).into_owned()).collect();
        out.push(joiner.finish().to_owned());
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
    fn surrogates_are_joined_everywhere_except_in_strings_under_raw_keys() {
        let json = br#"{"text":"\ud83d","a":["\ud83d"],"\ude00":{"text":{"b":"\ude00"}}}"#;
        let mut value: Value = serde_json::from_slice(&mark_surrogates(json)).expect("valid JSON");
        join_surrogates_in_value(&mut value, &["text"]);
        let raw_text = value["text"].clone();
        assert_ne!(raw_text, json!("\u{FFFD}"));
        let expected =
            json!({"text": raw_text, "a": ["\u{FFFD}"], "\u{FFFD}": {"text": {"b": "\u{FFFD}"}}});
        assert_eq!(value, expected);
        join_surrogates_in_value(&mut value, &[]);
        assert_eq!(value["text"], "\u{FFFD}");
    }
}
