//! Takes secrets out of a line: those that are known by value, and those that are
//! known by the name before them.

use crate::domain::model::Secret;
use std::collections::BTreeSet;
use std::fmt;

const HIDDEN: &str = "[hidden]";
/// A shorter one is no secret, and hiding it would make the log unreadable.
const SECRET_BYTES_MIN: usize = 4;
/// What stands behind one of these names and `:` or `=` is hidden.
const NAMES: [&str; 6] = [
    "authorization",
    "api-key",
    "api_key",
    "apikey",
    "access_token",
    "refresh_token",
];
const SCHEME: &str = "bearer ";

/// Longest first, so that a secret that holds another goes as a whole.
#[derive(Default)]
pub(super) struct Scrubber {
    secrets: Vec<String>,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrubber({} secrets)", self.secrets.len())
    }
}

impl Scrubber {
    pub(super) fn hide(&mut self, secrets: Vec<Secret>) {
        let mut all: BTreeSet<String> = self.secrets.drain(..).collect();
        for secret in &secrets {
            let plain = secret.expose();
            // Bodies are logged as JSON, and fields with their quotes escaped.
            let quoted = serde_json::Value::from(plain).to_string();
            let escaped = &quoted[1..quoted.len() - 1];
            all.extend([plain.to_owned(), escaped.to_owned()]);
        }
        all.retain(|secret| secret.len() >= SECRET_BYTES_MIN);
        self.secrets = all.into_iter().collect();
        self.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    pub(super) fn scrubbed(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for secret in &self.secrets {
            if line.contains(secret.as_str()) {
                line = line.replace(secret.as_str(), HIDDEN);
            }
        }
        without_named(&line)
    }
}

/// `line` without the values of headers that carry keys, and without tokens.
fn without_named(line: &str) -> String {
    // Of the same length as the line, byte for byte, since only ASCII changes.
    let lower = line.to_ascii_lowercase();
    let mut out = String::with_capacity(line.len());
    let mut from = 0;
    while let Some((start, end)) = next_value(&lower, from) {
        out.push_str(&line[from..start]);
        out.push_str(HIDDEN);
        from = end;
    }
    out.push_str(&line[from..]);
    out
}

/// The bytes of the next value to hide.
fn next_value(lower: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let found = NAMES
            .iter()
            .chain([&SCHEME])
            .filter_map(|name| Some((at + lower[at..].find(name)?, *name)))
            .min_by_key(|(start, _)| *start)?;
        let (start, name) = found;
        at = start + name.len();
        let value = if name == SCHEME {
            Some((at, at + token_length(&lower[at..])))
        } else {
            named_value(lower, at)
        };
        match value {
            Some((start, end)) if start < end => return Some((start, end)),
            _ => {}
        }
    }
}

/// The value behind a name that ends at `at`: `: value`, `=value`, `":"value"`,
/// `\":\"value\"`, `", "value"`. It ends where the text or the list around it does.
fn named_value(lower: &str, at: usize) -> Option<(usize, usize)> {
    let opens = |letter: char| matches!(letter, '"' | '\'' | '\\' | ' ' | '\t' | '(' | '[');
    let rest = &lower[at..];
    let is_quoted = rest.starts_with(['"', '\\']);
    let separators: &[char] = if is_quoted {
        &[':', '=', ',']
    } else {
        &[':', '=']
    };
    let behind = rest.trim_start_matches(opens).strip_prefix(separators)?;
    let value = behind.trim_start_matches(opens);
    let start = lower.len() - value.len();
    let ends = |letter: char| matches!(letter, '"' | '\'' | '\\' | ',' | '}' | ')' | ';');
    let end = value.find(ends).unwrap_or(value.len());
    Some((start, start + end))
}

fn token_length(rest: &str) -> usize {
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "-._~+/=[]".contains(letter);
    rest.find(|letter| !is_token(letter)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_whatever_stands_around_them() {
        let mut scrubber = Scrubber::default();
        let secrets = ["sk-1234", "sk-1234-long", "qu\"ote\\d", "", "abc"];
        scrubber.hide(secrets.map(Secret::new).to_vec());
        let cases = [
            ("key sk-1234-long, sk-1234.", "key [hidden], [hidden]."),
            (
                r#"{"k":"qu\"ote\\d"} qu"ote\d"#,
                r#"{"k":"[hidden]"} [hidden]"#,
            ),
            ("abc of nothing", "abc of nothing"),
            ("Authorization: Basic dTpw", "Authorization: [hidden]"),
            ("AUTHORIZATION=x, n=1", "AUTHORIZATION=[hidden], n=1"),
            (
                r#"{"authorization": "Bearer ab.c-d", "host": "h"}"#,
                r#"{"authorization": "[hidden]", "host": "h"}"#,
            ),
            (
                r#"\"X-Api-Key\":\"zzz\",\"a\":1"#,
                r#"\"X-Api-Key\":\"[hidden]\",\"a\":1"#,
            ),
            (r#"("x-api-key", "zzz")"#, r#"("x-api-key", "[hidden]")"#),
            (r#""x-api-key": ["zzz"]"#, r#""x-api-key": ["[hidden]"]"#),
            ("sent bearer a/b+c== on", "sent bearer [hidden] on"),
            ("authorization failed", "authorization failed"),
            ("bearer ", "bearer "),
            (
                "한글 Bearer 토큰 Bearer t",
                "한글 Bearer 토큰 Bearer [hidden]",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(scrubber.scrubbed(line), expected);
        }
    }
}
