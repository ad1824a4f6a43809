//! Parses JSON the way models write it. Accepts only these deviations: invalid escapes, lone
//! surrogates, raw control characters in strings, trailing commas, single quotes, `True`, `False`,
//! `None`, and comments. Everything else is still an error.

use serde_json::{Map, Value};
use std::iter::Peekable;
use std::str::CharIndices;

/// The nesting limit of `serde_json`.
const DEPTH_MAX: usize = 128;

#[derive(Debug, Clone, PartialEq)]
pub struct LenientValue {
    pub value: Value,
    /// The text was not valid as written.
    pub was_repaired: bool,
}

/// Parses one JSON value. The error is the one from strict parsing, which describes the text as
/// written. O(len).
pub fn parse(text: &str) -> Result<LenientValue, String> {
    let strict_error = match serde_json::from_str(text) {
        Ok(value) => {
            return Ok(LenientValue {
                value,
                was_repaired: false,
            });
        }
        Err(error) => error.to_string(),
    };
    let mut reader = LenientJsonReader {
        text,
        chars: text.char_indices().peekable(),
    };
    let value = reader.parse_value(0).ok_or_else(|| strict_error.clone())?;
    reader.skip_whitespace_and_comments();
    match reader.chars.next() {
        None => Ok(LenientValue {
            value,
            was_repaired: true,
        }),
        Some(_) => Err(strict_error),
    }
}

struct LenientJsonReader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl LenientJsonReader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|&(_, c)| c)
    }

    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, c)| c)
    }

    fn next_if(&mut self, expected: char) -> bool {
        self.chars.next_if(|&(_, c)| c == expected).is_some()
    }

    fn skip_whitespace_and_comments(&mut self) {
        let start = self
            .chars
            .peek()
            .map_or(self.text.len(), |(offset, _)| *offset);
        let end = start + blank_length(&self.text[start..]);
        while self.chars.next_if(|&(offset, _)| offset < end).is_some() {}
    }

    fn parse_value(&mut self, depth: usize) -> Option<Value> {
        if depth == DEPTH_MAX {
            return None;
        }
        self.skip_whitespace_and_comments();
        match self.peek()? {
            '{' => self.parse_object(depth),
            '[' => self.parse_array(depth),
            '"' | '\'' => self.parse_string().map(Value::String),
            _ => self.parse_literal(),
        }
    }

    fn parse_object(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut map = Map::new();
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if('}') {
                return Some(Value::Object(map));
            }
            let key = self.parse_string()?;
            self.skip_whitespace_and_comments();
            if !self.next_if(':') {
                return None;
            }
            map.insert(key, self.parse_value(depth + 1)?);
            self.skip_whitespace_and_comments();
            if !self.next_if(',') && self.peek() != Some('}') {
                return None;
            }
        }
    }

    fn parse_array(&mut self, depth: usize) -> Option<Value> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if(']') {
                return Some(Value::Array(items));
            }
            items.push(self.parse_value(depth + 1)?);
            self.skip_whitespace_and_comments();
            if !self.next_if(',') && self.peek() != Some(']') {
                return None;
            }
        }
    }

    fn parse_string(&mut self) -> Option<String> {
        let quote = self.next().filter(|c| matches!(c, '"' | '\''))?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '\\' => self.parse_escape(&mut text)?,
                c if c == quote => return Some(text),
                c => text.push(c),
            }
        }
    }

    /// An invalid escape keeps its backslash, as in `C:\Users`.
    fn parse_escape(&mut self, text: &mut String) -> Option<()> {
        let c = self.next()?;
        match c {
            '"' | '\\' | '/' | '\'' => text.push(c),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{C}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => self.parse_unicode_escape(text),
            c => text.extend(['\\', c]),
        }
        Some(())
    }

    fn parse_unicode_escape(&mut self, text: &mut String) {
        let Some(high) = self.take_four_hex_digits() else {
            text.push_str("\\u");
            return;
        };
        let mut code_point = high;
        if (0xD800..0xDC00).contains(&high)
            && let Some(low) = self.take_low_surrogate()
        {
            code_point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        }
        text.push(char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn take_low_surrogate(&mut self) -> Option<u32> {
        let start = self.chars.peek()?.0;
        let escape = self.text.get(start..start + 2)?;
        let digits = self.text.get(start + 2..start + 6)?;
        let low = u32::from_str_radix(digits, 16).ok()?;
        ((0xDC00..0xE000).contains(&low) && escape == "\\u").then(|| {
            self.chars.nth(5);
            low
        })
    }

    /// Consumes nothing if there are fewer.
    fn take_four_hex_digits(&mut self) -> Option<u32> {
        let start = self.chars.peek()?.0;
        let digits = self.text.get(start..start + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.chars.nth(3);
        u32::from_str_radix(digits, 16).ok()
    }

    fn parse_literal(&mut self) -> Option<Value> {
        let start = self.chars.peek()?.0;
        let mut end = start;
        while let Some((offset, c)) = self.chars.next_if(|&(_, c)| is_literal_char(c)) {
            end = offset + c.len_utf8();
        }
        match &self.text[start..end] {
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            "None" => Some(Value::Null),
            literal => serde_json::from_str(literal).ok(),
        }
    }
}

/// The length of the whitespace and comments at the start of `rest`.
pub(super) fn blank_length(rest: &str) -> usize {
    let mut length = 0;
    loop {
        let blank = &rest[length..];
        let spaces = blank.len() - blank.trim_start().len();
        match spaces + comment_length(&blank[spaces..]) {
            0 => return length,
            more => length += more,
        }
    }
}

/// The length of the comment at the start of `rest`, or 0. An unclosed one extends to the end of
/// `rest`.
fn comment_length(rest: &str) -> usize {
    if let Some(inside) = rest.strip_prefix("/*") {
        return inside.find("*/").map_or(rest.len(), |end| end + 4);
    }
    match rest.starts_with("//") || rest.starts_with('#') {
        true => rest.find('\n').unwrap_or(rest.len()),
        false => 0,
    }
}

/// Whether `c` may occur in a number or constant.
pub fn is_literal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lenient(text: &str) -> Value {
        let parsed = parse(text).expect("repairable JSON");
        assert!(parsed.was_repaired, "{text}");
        parsed.value
    }

    #[test]
    fn valid_json_is_not_reported_as_repaired() {
        let parsed =
            parse(r#" {"a": [1, -2.5e3, "\u00e9\ud83d\ude00"], "b": null} "#).expect("valid JSON");
        assert!(!parsed.was_repaired);
        assert_eq!(parsed.value, json!({"a": [1, -2.5e3, "é😀"], "b": null}));
    }

    #[test]
    fn invalid_escapes_are_kept_literally() {
        assert_eq!(
            lenient(r#"{"p": "C:\Users\d"}"#),
            json!({"p": r"C:\Users\d"})
        );
        assert_eq!(
            lenient(r#"["\u12", "\ud800", "\d\ud83d\ude00"]"#),
            json!([r"\u12", "\u{FFFD}", "\\d😀"])
        );
        assert_eq!(lenient(r#"["\$HOME \"x\""]"#), json!(["\\$HOME \"x\""]));
    }

    #[test]
    fn raw_newlines_in_strings_are_kept() {
        assert_eq!(lenient("{\"a\": \"한\n글\t!\"}"), json!({"a": "한\n글\t!"}));
    }

    #[test]
    fn trailing_commas_single_quotes_python_constants_and_comments_are_accepted() {
        let text = "{'a': [1, 2,], # one\n 'b': True, /* two * / */ 'c': None, // three\n 'd': False, 'it\\'s': \"x\",}";
        assert_eq!(
            lenient(text),
            json!({"a": [1, 2], "b": true, "c": null, "d": false, "it's": "x"})
        );
    }

    #[test]
    fn unrepairable_text_is_rejected_with_the_position_of_the_error() {
        for text in [
            "",
            "{",
            "{a: 1}",
            "[1 2]",
            "{\"a\" 1}",
            "{\"a\": 1} x",
            "[,]",
            "nul",
            "'a",
            "1e",
            "{\"a\": \"b\" \"c\"}",
            "{\"a\": 1 /*/ }",
            "{\"a\": 1 / x\n}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(
            parse("{\"a\": x}")
                .expect_err("not a constant")
                .contains("line 1 column 7")
        );
    }

    #[test]
    fn deeply_nested_json_is_rejected_without_a_stack_overflow() {
        assert!(parse(&"[".repeat(1_000_000)).is_err());
        assert!(parse(&"{'a':".repeat(1_000_000)).is_err());
    }
}
