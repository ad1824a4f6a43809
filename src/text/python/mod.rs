//! Parses the arguments of a Python call the way models write them: literals passed by name, never
//! expressions. More lenient than Python about strings (raw line breaks, invalid escapes) and
//! parameter names, and accepts JSON's `true`, `false` and `null`.

mod bracket_scanner;
mod string;

pub use bracket_scanner::BracketScanner;

use super::lenient_json::LenientValue;
use serde_json::{Map, Number, Value};
use std::iter::Peekable;
use std::str::CharIndices;

/// The nesting limit of [`super::lenient_json`].
const DEPTH_MAX: usize = 128;
/// Maximum number of source characters quoted in an error.
const EXCERPT_CHARS_MAX: usize = 24;

/// Parses an argument list such as `(city='Paris', n=3)`, parentheses included, into an object in
/// source order. The error quotes the text that was not understood. O(len).
pub fn parse_arguments(text: &str) -> Result<LenientValue, String> {
    let mut reader = PythonReader::new(text);
    let map = reader.parse_arguments()?;
    reader.skip_whitespace_and_comments();
    match reader.peek() {
        None => Ok(LenientValue {
            value: Value::Object(map),
            was_repaired: reader.was_repaired,
        }),
        Some(_) => Err(reader.error_here("follows the call; write one call only")),
    }
}

/// Whether `c` may occur in a Python identifier, a module path, or the name of a tool or parameter.
pub fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':')
}

struct PythonReader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    was_repaired: bool,
}

impl<'a> PythonReader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            chars: text.char_indices().peekable(),
            was_repaired: false,
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|&(_, c)| c)
    }

    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, c)| c)
    }

    fn next_if(&mut self, expected: char) -> bool {
        self.chars.next_if(|&(_, c)| c == expected).is_some()
    }

    fn position(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |&(at, _)| at)
    }

    fn starts_with(&mut self, text: &str) -> bool {
        let start = self.position();
        self.text[start..].starts_with(text)
    }

    /// Also skips line continuations.
    fn skip_whitespace_and_comments(&mut self) {
        loop {
            match self.peek() {
                Some(c) if c.is_whitespace() => {
                    self.next();
                }
                Some('#') => while self.next().is_some_and(|c| c != '\n') {},
                Some('\\') if self.starts_with("\\\n") || self.starts_with("\\\r\n") => {
                    self.next();
                }
                _ => return,
            }
        }
    }

    /// Quotes the text at the current position.
    fn error_here(&mut self, problem: &str) -> String {
        let start = self.position();
        error_message(&self.text[start..], problem)
    }

    fn parse_arguments(&mut self) -> Result<Map<String, Value>, String> {
        self.skip_whitespace_and_comments();
        if !self.next_if('(') {
            return Err(self.error_here("does not start an argument list"));
        }
        let mut map = Map::new();
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if(')') {
                return Ok(map);
            }
            let start = self.position();
            let name = self.parse_name();
            self.skip_whitespace_and_comments();
            let is_named = !name.is_empty() && self.peek() == Some('=') && !self.starts_with("==");
            if !is_named {
                let problem = "has no name: pass arguments by name, as in `city=\"Paris\"`";
                return Err(error_message(&self.text[start..], problem));
            }
            self.next();
            let value = self.parse_value(0)?;
            if map.insert(name.to_owned(), value).is_some() {
                return Err(format!("`{}` is given twice", excerpt(name)));
            }
            self.expect_separator(')')?;
        }
    }

    /// Expects a comma, or `end` without consuming it.
    fn expect_separator(&mut self, end: char) -> Result<(), String> {
        self.skip_whitespace_and_comments();
        if self.next_if(',') || self.peek() == Some(end) {
            return Ok(());
        }
        Err(self.error_here("follows a value; expected a comma or the closing bracket"))
    }

    fn parse_name(&mut self) -> &'a str {
        let start = self.position();
        while self
            .chars
            .next_if(|&(_, c)| is_name_char(c) && c != ':')
            .is_some()
        {}
        let end = self.position();
        &self.text[start..end]
    }

    fn parse_value(&mut self, depth: usize) -> Result<Value, String> {
        if depth == DEPTH_MAX {
            return Err("its values are nested too deeply".to_owned());
        }
        self.skip_whitespace_and_comments();
        match self.peek() {
            Some('{') => self.parse_dict(depth),
            Some('[') => {
                self.next();
                self.parse_items(']', depth)
                    .map(|(items, _)| Value::Array(items))
            }
            Some('(') => self.parse_tuple(depth),
            _ if self.is_at_string() => self.parse_adjacent_strings().map(Value::String),
            _ => self.parse_constant_or_number(),
        }
    }

    fn parse_dict(&mut self, depth: usize) -> Result<Value, String> {
        self.next();
        let mut map = Map::new();
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if('}') {
                return Ok(Value::Object(map));
            }
            if self.starts_with("**") {
                return Err(self.error_here("is not a plain value"));
            }
            let key = match self.parse_value(depth + 1)? {
                Value::String(key) => key,
                Value::Array(_) | Value::Object(_) => {
                    return Err("a list or an object cannot be a key".to_owned());
                }
                // Converted as Python's `json` does.
                plain => plain.to_string(),
            };
            self.skip_whitespace_and_comments();
            if !self.next_if(':') {
                return Err(self.error_here("follows a key; expected `:`"));
            }
            let value = self.parse_value(depth + 1)?;
            map.insert(key, value);
            self.expect_separator('}')?;
        }
    }

    /// Also returns whether a comma followed any of them.
    fn parse_items(&mut self, end: char, depth: usize) -> Result<(Vec<Value>, bool), String> {
        let mut items = Vec::new();
        let mut has_comma = false;
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if(end) {
                return Ok((items, has_comma));
            }
            items.push(self.parse_value(depth + 1)?);
            self.skip_whitespace_and_comments();
            has_comma |= self.peek() == Some(',');
            self.expect_separator(end)?;
        }
    }

    fn parse_tuple(&mut self, depth: usize) -> Result<Value, String> {
        self.next();
        let (mut items, has_comma) = self.parse_items(')', depth)?;
        match items.pop() {
            // Parentheses around a single value only group.
            Some(only) if items.is_empty() && !has_comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Value::Array(items))
            }
        }
    }

    fn parse_constant_or_number(&mut self) -> Result<Value, String> {
        let start = self.position();
        let mut previous = ' ';
        let mut is_hex = false;
        while let Some((offset, c)) = self.chars.next_if(|&(_, c)| {
            let is_sign = matches!(c, '+' | '-');
            let is_exponent = matches!(previous, 'e' | 'E') && !is_hex;
            is_name_char(c) && !matches!(c, ':' | '/' | '-')
                || is_sign && (previous == ' ' || is_exponent)
        }) {
            is_hex |= offset > start && matches!(c, 'x' | 'X');
            previous = c;
        }
        let end = self.position();
        let token = &self.text[start..end];
        let value = match token {
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            "None" | "null" => Some(Value::Null),
            _ => parse_number(token).map(Value::Number),
        };
        value.ok_or_else(|| {
            if token.is_empty() && start == self.text.len() {
                return "a value is missing at the end".to_owned();
            }
            error_message(&self.text[start..], "is not a plain value")
        })
    }
}

fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let mut excerpt: String = chars.by_ref().take(EXCERPT_CHARS_MAX).collect();
    if chars.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}

fn error_message(rest: &str, problem: &str) -> String {
    match rest.is_empty() {
        true => format!("the end of the text {problem}"),
        false => format!("`{}` {problem}", excerpt(rest)),
    }
}

/// Parses a Python number that JSON can represent.
fn parse_number(token: &str) -> Option<Number> {
    let (is_negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token.strip_prefix('+').unwrap_or(token)),
    };
    let is_well_formed = !digits.starts_with('_')
        && !digits.ends_with('_')
        && !digits.contains("__")
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !is_well_formed {
        return None;
    }
    let plain: String = digits.chars().filter(|&c| c != '_').collect();
    let lower = plain.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            let value = i64::from_str_radix(digits, radix).ok()?;
            return digits
                .starts_with(|c: char| c.is_ascii_alphanumeric())
                .then(|| Number::from(if is_negative { -value } else { value }));
        }
    }
    let is_integer = plain.bytes().all(|byte| byte.is_ascii_digit());
    if is_integer && (plain == "0" || !plain.starts_with('0')) {
        let signed = if is_negative {
            format!("-{plain}")
        } else {
            plain
        };
        return serde_json::from_str(&signed).ok();
    }
    // Rust parses `1.`, `.5` and `1e5` as Python does; `inf` and `nan` were rejected above because
    // they do not start with a digit.
    let float: f64 = lower.parse().ok().filter(|_| !is_integer)?;
    Number::from_f64(if is_negative { -float } else { float })
}

#[cfg(test)]
mod tests;
