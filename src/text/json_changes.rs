//! Differences between JSON as written and the value that is used. Finds those of parsing: repeated
//! keys, numbers that do not fit into 64 bits, and lone surrogates, which the parsed value does not
//! show.

use super::lenient_json::{self, blank_length, is_literal_char};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;

/// Maximum number of changes listed; further ones are only counted.
pub const CHANGES_MAX: usize = 5;
/// Length of an escape such as `\ud800`.
const ESCAPE_BYTES: usize = 6;

/// A difference between JSON as written and its parsed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonChange {
    /// An object has this key more than once; the last value is kept.
    RepeatedKey {
        key: String,
        count: usize,
    },
    Number {
        written: String,
        kept: String,
    },
    /// The escape of a surrogate without its counterpart; it becomes U+FFFD.
    LoneSurrogate {
        written: String,
    },
    /// A value was JSON in a string, which its schema does not allow; the JSON is used.
    JsonInString {
        key: String,
    },
    /// An optional value that its schema does not allow.
    LeftOut {
        key: String,
        written: String,
    },
    /// Changes that are not listed.
    Further {
        count: usize,
    },
}

impl fmt::Display for JsonChange {
    /// A sentence, not sanitized.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedKey { key, count } => {
                let key = Value::from(key.as_str());
                match count {
                    2 => write!(f, "The model wrote {key} twice; the last one is used."),
                    _ => write!(
                        f,
                        "The model wrote {key} {count} times; the last one is used."
                    ),
                }
            }
            Self::Number { written, kept } => {
                write!(f, "The model wrote {written}; the number becomes {kept}.")
            }
            Self::LoneSurrogate { written } => write!(
                f,
                "The model wrote {written}, half of a character; it becomes U+FFFD."
            ),
            Self::JsonInString { key } => {
                let key = Value::from(key.as_str());
                write!(
                    f,
                    "The model wrote {key} as a string; the JSON in it is used."
                )
            }
            Self::LeftOut { key, written } => {
                let key = Value::from(key.as_str());
                write!(
                    f,
                    "The model wrote {written} for {key}, which does not accept it; {key} is left out."
                )
            }
            Self::Further { count: 1 } => f.write_str("Reading the arguments made 1 more change."),
            Self::Further { count } => {
                write!(f, "Reading the arguments made {count} more changes.")
            }
        }
    }
}

/// The changes of all texts: repeated keys first, because they hide a whole value, then others, in
/// the order of the texts, except those that are `undone`. Reads strict JSON and the deviations of
/// [`super::lenient_json`]. O(len).
pub fn find_json_changes<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    undone: impl Fn(&JsonChange) -> bool,
) -> Vec<JsonChange> {
    let mut found = FoundChanges::default();
    for json in texts {
        let mut scan = ChangeScan {
            json,
            position: 0,
            containers: Vec::new(),
            found: &mut found,
            undone: &undone,
        };
        while scan.step() {}
    }
    let mut listed = found.repeated_keys;
    listed.append(&mut found.others);
    listed.truncate(CHANGES_MAX);
    let count = found.count - listed.len();
    if count > 0 {
        listed.push(JsonChange::Further { count });
    }
    listed
}

/// Counts the changes after the first [`CHANGES_MAX`].
pub fn limit_changes(mut changes: Vec<JsonChange>) -> Vec<JsonChange> {
    let count = changes.len().saturating_sub(CHANGES_MAX);
    changes.truncate(CHANGES_MAX);
    changes.extend((count > 0).then_some(JsonChange::Further { count }));
    changes
}

/// At most [`CHANGES_MAX`] of each list are kept.
#[derive(Default)]
struct FoundChanges {
    repeated_keys: Vec<JsonChange>,
    others: Vec<JsonChange>,
    count: usize,
}

impl FoundChanges {
    fn add(&mut self, change: JsonChange) {
        let list = match change {
            JsonChange::RepeatedKey { .. } => &mut self.repeated_keys,
            _ => &mut self.others,
        };
        self.count += 1;
        if list.len() < CHANGES_MAX {
            list.push(change);
        }
    }
}

struct ChangeScan<'a, 'f> {
    json: &'a str,
    position: usize,
    /// How often each key occurs in each open object; `None` for an open array.
    containers: Vec<Option<HashMap<String, usize>>>,
    found: &'f mut FoundChanges,
    undone: &'f dyn Fn(&JsonChange) -> bool,
}

impl ChangeScan<'_, '_> {
    /// Returns false at the end of the text.
    fn step(&mut self) -> bool {
        let rest = &self.json[self.position..];
        let Some(c) = rest.chars().next() else {
            return false;
        };
        let length = match c {
            '"' | '\'' => self.read_string(rest, c),
            '/' | '#' => blank_length(rest).max(1),
            c if is_literal_char(c) => {
                let end = rest.find(|c| !is_literal_char(c)).unwrap_or(rest.len());
                let change = number_change(&rest[..end]);
                if let Some(change) = change.filter(|change| !(self.undone)(change)) {
                    self.found.add(change);
                }
                end
            }
            c => {
                match c {
                    '{' => self.containers.push(Some(HashMap::new())),
                    '[' => self.containers.push(None),
                    '}' | ']' => self.close(),
                    _ => {}
                }
                c.len_utf8()
            }
        };
        self.position += length;
        true
    }

    /// Returns the length of the string with its quotes.
    fn read_string(&mut self, rest: &str, quote: char) -> usize {
        let mut end = 1;
        while let Some(c) = rest[end..].chars().next().filter(|c| *c != quote) {
            end += match c {
                '\\' => self.read_escape(&rest[end..]),
                c => c.len_utf8(),
            };
        }
        let is_key = rest
            .get(end + 1..)
            .is_some_and(|after| after[blank_length(after)..].starts_with(':'));
        if let (true, Some(Some(keys))) = (is_key, self.containers.last_mut())
            && let Ok(key) = lenient_json::parse(&rest[..=end])
            && let Value::String(key) = key.value
        {
            *keys.entry(key).or_default() += 1;
        }
        (end + 1).min(rest.len())
    }

    /// Returns the length of the escape.
    fn read_escape(&mut self, rest: &str) -> usize {
        let escaped = rest.chars().nth(1);
        match is_high_surrogate(rest) {
            None => 1 + escaped.map_or(0, char::len_utf8),
            Some(true) if is_high_surrogate(&rest[ESCAPE_BYTES..]) == Some(false) => {
                2 * ESCAPE_BYTES
            }
            Some(_) => {
                let written = rest[..ESCAPE_BYTES].to_owned();
                self.found.add(JsonChange::LoneSurrogate { written });
                ESCAPE_BYTES
            }
        }
    }

    fn close(&mut self) {
        let Some(Some(keys)) = self.containers.pop() else {
            return;
        };
        let repeated = keys.into_iter().filter(|(_, count)| *count > 1);
        let mut repeated: Vec<_> = repeated.collect();
        repeated.sort();
        for (key, count) in repeated {
            self.found.add(JsonChange::RepeatedKey { key, count });
        }
    }
}

/// `Some(true)` if `text` starts with the escape of a high surrogate, `Some(false)` if with that of
/// a low one.
fn is_high_surrogate(text: &str) -> Option<bool> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..0xDC00 => Some(true),
        0xDC00..0xE000 => Some(false),
        _ => None,
    }
}

/// Whether parsing changes the value of a number, or makes an integer a float.
pub fn is_changed_by_parsing(number: &str) -> bool {
    number_change(number).is_some()
}

/// The change to a number, if its value changes or an integer becomes a float.
fn number_change(written: &str) -> Option<JsonChange> {
    let Ok(Value::Number(number)) = serde_json::from_str(written) else {
        return None;
    };
    let kept = number.to_string();
    let value = decimal(written);
    let is_integer = |text: &str| !text.contains(['.', 'e', 'E']);
    let is_zero = value.1.is_empty();
    let changes_form = is_integer(written) && !is_integer(&kept) && !is_zero;
    (value != decimal(&kept) && !is_zero || changes_form).then(|| JsonChange::Number {
        written: written.to_owned(),
        kept,
    })
}

/// Sign, digits without leading and trailing zeros, and the exponent of the last digit.
fn decimal(number: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let digits = mantissa.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_end_matches('0');
    let zeros = (all.len() - kept.len()) as i64;
    let exponent = exponent.parse::<i64>().unwrap_or(0) - fraction.len() as i64 + zeros;
    let kept = kept.trim_start_matches('0');
    (mantissa.starts_with('-'), kept.to_owned(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(json: &str) -> Vec<JsonChange> {
        find_json_changes([json], |_| false)
    }

    fn number(written: &str, kept: &str) -> JsonChange {
        JsonChange::Number {
            written: written.to_owned(),
            kept: kept.to_owned(),
        }
    }

    fn repeated(key: &str, count: usize) -> JsonChange {
        JsonChange::RepeatedKey {
            key: key.to_owned(),
            count,
        }
    }

    #[test]
    fn repeated_keys_rounded_numbers_and_lone_surrogates_are_found() {
        for (json, expected) in [
            (r#"{"path": "a", "path": "b"}"#, repeated("path", 2)),
            (r#"{"a": {"b": 1, "\u0062": 2, "b": 3}}"#, repeated("b", 3)),
            (r#"[{'x': 1, "x": 2,}]"#, repeated("x", 2)),
            (
                "10000000000000000000000",
                number("10000000000000000000000", "1e+22"),
            ),
            (
                "[12345678901234567890123]",
                number("12345678901234567890123", "1.2345678901234568e+22"),
            ),
            (
                "0.1000000000000000055511",
                number("0.1000000000000000055511", "0.1"),
            ),
            (
                "{\"a\":-9223372036854775809}",
                number("-9223372036854775809", "-9.223372036854776e+18"),
            ),
            (
                r#"{"a": "x\ud83dy"}"#,
                JsonChange::LoneSurrogate {
                    written: r"\ud83d".to_owned(),
                },
            ),
            (
                r#"{"a": "\\\uDE00"}"#,
                JsonChange::LoneSurrogate {
                    written: r"\uDE00".to_owned(),
                },
            ),
        ] {
            assert_eq!(find(json), [expected], "{json}");
        }
    }

    #[test]
    fn json_preserved_by_parsing_has_no_changes() {
        for json in [
            r#"{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}], "c": "a"}"#,
            r#"{"code": "{\"a\": 1, \"a\": 2} 1e400 10000000000000000000000"}"#,
            "[1, -1, 0, -0, 0.0, 1.50, 1e5, 1E+5, 0.1, 18446744073709551615, 1e22, 5e-324]",
            r#"["\ud83d\ude00", "\\ud83d", "한글", "\n\"", "\한"]"#,
            "{ // a \"b\n 'a': True /* {\"a\": 1, \"a\": 2} */ }",
            "\"",
            "{\"a",
            "\"\\",
            "\"\\u",
            "",
            "}}]]",
            "/",
            "'\\한",
        ] {
            assert_eq!(find(json), [], "{json}");
        }
    }

    #[test]
    fn repeated_keys_come_first_and_further_changes_are_counted() {
        let numbers = ["10000000000000000000001"; 8].join(",");
        let json = format!(r#"{{"n": [{numbers}], "path": "a", "path": "b"}}"#);
        let changes = find(&json);
        assert_eq!(changes[0], repeated("path", 2));
        assert_eq!(changes[1], number("10000000000000000000001", "1e+22"));
        assert_eq!(changes.len(), CHANGES_MAX + 1);
        assert_eq!(changes[CHANGES_MAX], JsonChange::Further { count: 4 });
    }

    #[test]
    fn json_comments_end_where_the_parser_ends_them() {
        for (json, expected) in [
            (r#"{"a": 1, /*/ "a": 2, */ "b": 3}"#, None),
            (r#"{"a": 1, /*/ "b": 2, /*/ "a": 3}"#, Some(2)),
            ("{\"a\" /* x */ : 1, \"a\" // y\n: 3}", Some(2)),
            ("{'a\\'': 1, \"a'\": 3}", Some(2)),
        ] {
            assert!(lenient_json::parse(json).is_ok(), "{json}");
            let keys: Vec<_> = find(json)
                .into_iter()
                .map(|change| match change {
                    JsonChange::RepeatedKey { count, .. } => count,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(keys, expected.into_iter().collect::<Vec<usize>>(), "{json}");
        }
    }
}
