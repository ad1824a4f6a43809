//! Reads the arguments of a Python call the way models write them: literals by
//! name, and nothing that would have to be run. What Python itself refuses is
//! refused here too, but for raw line ends in strings and JSON's `true`, `null`.

mod bracket_scanner;
mod string;

pub use bracket_scanner::BracketScanner;

use super::lenient_json::LenientValue;
use serde_json::{Map, Number, Value};
use std::iter::Peekable;
use std::str::CharIndices;

/// As deep as JSON is read.
const DEPTH_MAX: usize = 128;
/// Characters of the text that a fault repeats.
const EXCERPT_CHARS_MAX: usize = 24;

/// Reads `(city='Paris', n=3)`, brackets included, as an object in the order in
/// which it was written. The error says what cannot be read. O(len).
pub fn parse_arguments(text: &str) -> Result<LenientValue, String> {
    let mut reader = PythonReader::new(text);
    let map = reader.arguments()?;
    reader.skip_whitespace_and_comments();
    match reader.peek() {
        None => Ok(LenientValue {
            value: Value::Object(map),
            was_repaired: reader.was_repaired,
        }),
        Some(_) => Err(reader.error_here("is more than one call")),
    }
}

/// What a name may be made of: Python's letters, the dots of a module, and what
/// names of tools and parameters have beyond Python.
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

    fn next_if(&mut self, wanted: char) -> bool {
        self.chars.next_if(|&(_, c)| c == wanted).is_some()
    }

    fn position(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |&(at, _)| at)
    }

    fn starts_with(&mut self, text: &str) -> bool {
        let at = self.position();
        self.text[at..].starts_with(text)
    }

    /// Skips white space, comments and line joints.
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

    /// "`what stands here` …".
    fn error_here(&mut self, what: &str) -> String {
        let at = self.position();
        error_message(&self.text[at..], what)
    }

    fn arguments(&mut self) -> Result<Map<String, Value>, String> {
        self.skip_whitespace_and_comments();
        if !self.next_if('(') {
            return Err(self.error_here("is not the start of its arguments"));
        }
        let mut map = Map::new();
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if(')') {
                return Ok(map);
            }
            let at = self.position();
            let name = self.name();
            self.skip_whitespace_and_comments();
            let named = !name.is_empty() && self.peek() == Some('=') && !self.starts_with("==");
            if !named {
                let what = "has no name: write its arguments by name, as in `city=\"Paris\"`";
                return Err(error_message(&self.text[at..], what));
            }
            self.next();
            let value = self.value(0)?;
            if map.insert(name.to_owned(), value).is_some() {
                return Err(format!("`{}` is given twice", excerpt(name)));
            }
            self.expect_separator(')')?;
        }
    }

    /// What follows an item: a comma, or the end, which is left.
    fn expect_separator(&mut self, end: char) -> Result<(), String> {
        self.skip_whitespace_and_comments();
        if self.next_if(',') || self.peek() == Some(end) {
            return Ok(());
        }
        Err(self.error_here("follows a value where a comma or the end must"))
    }

    fn name(&mut self) -> &'a str {
        let start = self.position();
        while self
            .chars
            .next_if(|&(_, c)| is_name_char(c) && c != ':')
            .is_some()
        {}
        let end = self.position();
        &self.text[start..end]
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth == DEPTH_MAX {
            return Err("its values are nested too deep".to_owned());
        }
        self.skip_whitespace_and_comments();
        match self.peek() {
            Some('{') => self.dict(depth),
            Some('[') => {
                self.next();
                self.list(']', depth).map(|(items, _)| Value::Array(items))
            }
            Some('(') => self.tuple(depth),
            _ if self.is_at_string() => self.adjacent_strings().map(Value::String),
            _ => self.constant_or_number(),
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Value, String> {
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
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                Value::Array(_) | Value::Object(_) => {
                    return Err("a list or an object cannot be a key".to_owned());
                }
                // As Python's `json` writes such keys.
                plain => plain.to_string(),
            };
            self.skip_whitespace_and_comments();
            if !self.next_if(':') {
                return Err(self.error_here("stands where `:` must follow a key"));
            }
            let value = self.value(depth + 1)?;
            map.insert(key, value);
            self.expect_separator('}')?;
        }
    }

    /// The items up to `end`, and whether a comma came among them.
    fn list(&mut self, end: char, depth: usize) -> Result<(Vec<Value>, bool), String> {
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.skip_whitespace_and_comments();
            if self.next_if(end) {
                return Ok((items, comma));
            }
            items.push(self.value(depth + 1)?);
            self.skip_whitespace_and_comments();
            comma |= self.peek() == Some(',');
            self.expect_separator(end)?;
        }
    }

    fn tuple(&mut self, depth: usize) -> Result<Value, String> {
        self.next();
        let (mut items, comma) = self.list(')', depth)?;
        match items.pop() {
            // Brackets around one value are only brackets.
            Some(only) if items.is_empty() && !comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Value::Array(items))
            }
        }
    }

    fn constant_or_number(&mut self) -> Result<Value, String> {
        let start = self.position();
        let mut before = ' ';
        let mut hex = false;
        while let Some((at, c)) = self.chars.next_if(|&(_, c)| {
            let sign = matches!(c, '+' | '-');
            let exponent = matches!(before, 'e' | 'E') && !hex;
            is_name_char(c) && !matches!(c, ':' | '/' | '-') || sign && (before == ' ' || exponent)
        }) {
            hex |= at > start && matches!(c, 'x' | 'X');
            before = c;
        }
        let end = self.position();
        let word = &self.text[start..end];
        let value = match word {
            "True" | "true" => Some(Value::Bool(true)),
            "False" | "false" => Some(Value::Bool(false)),
            "None" | "null" => Some(Value::Null),
            _ => parse_number(word).map(Value::Number),
        };
        value.ok_or_else(|| {
            if word.is_empty() && start == self.text.len() {
                return "a value is missing at its end".to_owned();
            }
            error_message(&self.text[start..], "is not a plain value")
        })
    }
}

fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let mut start: String = chars.by_ref().take(EXCERPT_CHARS_MAX).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}

fn error_message(rest: &str, what: &str) -> String {
    format!("`{}` {what}", excerpt(rest))
}

/// A Python number, which JSON can hold.
fn parse_number(word: &str) -> Option<Number> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let inner_underscores = !digits.starts_with('_')
        && !digits.ends_with('_')
        && !digits.contains("__")
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !inner_underscores {
        return None;
    }
    let plain: String = digits.chars().filter(|&c| c != '_').collect();
    let lower = plain.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            let value = i64::from_str_radix(digits, radix).ok()?;
            return digits
                .starts_with(|c: char| c.is_ascii_alphanumeric())
                .then(|| Number::from(if negative { -value } else { value }));
        }
    }
    let integer = plain.bytes().all(|byte| byte.is_ascii_digit());
    if integer && (plain == "0" || !plain.starts_with('0')) {
        let signed = if negative { format!("-{plain}") } else { plain };
        return serde_json::from_str(&signed).ok();
    }
    // Rust reads `1.`, `.5` and `1e5` as Python does, and words such as `inf`,
    // which start with no digit and were let go above.
    let float: f64 = lower.parse().ok().filter(|_| !integer)?;
    Number::from_f64(if negative { -float } else { float })
}

#[cfg(test)]
mod tests;
