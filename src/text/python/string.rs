//! Python string literals: prefixes, quotes and escapes.

use super::{PythonReader, error_message};

#[derive(Debug, Clone, Copy, Default)]
struct StringPrefix {
    is_raw: bool,
    is_bytes: bool,
    is_format: bool,
}

impl StringPrefix {
    fn parse(letters: &str) -> Option<Self> {
        let mut prefix = Self::default();
        for letter in letters.bytes() {
            match letter.to_ascii_lowercase() {
                b'r' if !prefix.is_raw => prefix.is_raw = true,
                b'b' if !prefix.is_bytes => prefix.is_bytes = true,
                b'f' if !prefix.is_format => prefix.is_format = true,
                b'u' if letters.len() == 1 => {}
                _ => return None,
            }
        }
        Some(prefix)
    }
}

impl PythonReader<'_> {
    pub(super) fn is_at_string(&mut self) -> bool {
        let start = self.position();
        prefix_and_quote(&self.text[start..]).is_some()
    }

    /// Concatenates them, as Python does.
    pub(super) fn parse_adjacent_strings(&mut self) -> Result<String, String> {
        let mut text = String::new();
        while self.is_at_string() {
            self.parse_string(&mut text)?;
            self.skip_whitespace_and_comments();
        }
        Ok(text)
    }

    fn parse_string(&mut self, text: &mut String) -> Result<(), String> {
        let start = self.position();
        let literal = &self.text[start..];
        let Some((prefix, quote)) = prefix_and_quote(literal) else {
            return Err(error_message(literal, "is not a plain value"));
        };
        let prefix_len = literal.find(quote).unwrap_or_default();
        self.skip_ascii(prefix_len);
        let is_triple_quoted = self.starts_with(&quote.to_string().repeat(3));
        let quote_count = if is_triple_quoted { 3 } else { 1 };
        self.skip_ascii(quote_count);
        let closing_quotes = quote.to_string().repeat(quote_count);
        loop {
            if self.starts_with(&closing_quotes) {
                self.skip_ascii(quote_count);
                return Ok(());
            }
            match self.next() {
                None => return Err(error_message(literal, "is an unterminated string")),
                Some('\\') => self.parse_escape(prefix, text)?,
                Some(c @ ('{' | '}')) if prefix.is_format => {
                    if !self.next_if(c) {
                        let problem = "is an f-string, which is not a plain value";
                        return Err(error_message(literal, problem));
                    }
                    text.push(c);
                }
                Some(c) => {
                    self.was_repaired |= c == '\n' && !is_triple_quoted;
                    text.push(c);
                }
            }
        }
    }

    fn skip_ascii(&mut self, count: usize) {
        if count > 0 {
            self.chars.nth(count - 1);
        }
    }

    /// Keeps the backslash of an unknown escape, as Python does.
    fn parse_escape(&mut self, prefix: StringPrefix, text: &mut String) -> Result<(), String> {
        let Some(c) = self.next() else {
            text.push('\\');
            return Ok(());
        };
        if prefix.is_raw {
            text.extend(['\\', c]);
            return Ok(());
        }
        match c {
            '\n' => {}
            '\r' if self.peek() == Some('\n') => {
                self.next();
            }
            '\\' | '\'' | '"' => text.push(c),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{C}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'v' => text.push('\u{B}'),
            '0'..='7' => self.parse_octal_escape(c, text),
            'x' => self.parse_code_point_escape(c, 2, text),
            'u' if !prefix.is_bytes => self.parse_code_point_escape(c, 4, text),
            'U' if !prefix.is_bytes => self.parse_code_point_escape(c, 8, text),
            'N' if !prefix.is_bytes && self.peek() == Some('{') => {
                return Err("`\\N{…}` is not supported: write the character itself".to_owned());
            }
            c => text.extend(['\\', c]),
        }
        Ok(())
    }

    fn parse_octal_escape(&mut self, first: char, text: &mut String) {
        let mut code_point = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            if let Some((_, c)) = self.chars.next_if(|(_, c)| c.is_digit(8)) {
                code_point = code_point * 8 + c.to_digit(8).unwrap_or_default();
            }
        }
        text.push(char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn parse_code_point_escape(&mut self, letter: char, digit_count: usize, text: &mut String) {
        let Some(value) = self.take_hex_digits(digit_count) else {
            self.was_repaired = true;
            text.extend(['\\', letter]);
            return;
        };
        let mut code_point = value;
        // Python does not combine surrogate pairs, but models write them as in JSON.
        if digit_count == 4 && (0xD800..0xDC00).contains(&value) {
            self.was_repaired = true;
            if let Some(low) = self.take_low_surrogate() {
                code_point = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
            }
        }
        let c = char::from_u32(code_point);
        self.was_repaired |= c.is_none();
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn take_low_surrogate(&mut self) -> Option<u32> {
        let start = self.position();
        let digits = self.text[start..].strip_prefix("\\u")?.get(..4)?;
        let low = u32::from_str_radix(digits, 16).ok()?;
        (0xDC00..0xE000).contains(&low).then(|| {
            self.skip_ascii(6);
            low
        })
    }

    /// Consumes nothing if there are fewer.
    fn take_hex_digits(&mut self, count: usize) -> Option<u32> {
        let start = self.position();
        let digits = self.text.get(start..start + count)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.skip_ascii(count);
        u32::from_str_radix(digits, 16).ok()
    }
}

fn prefix_and_quote(text: &str) -> Option<(StringPrefix, char)> {
    let prefix_len = text
        .bytes()
        .take(3)
        .position(|byte| matches!(byte, b'"' | b'\''))?;
    let prefix = StringPrefix::parse(text.get(..prefix_len)?)?;
    Some((
        prefix,
        if text.as_bytes()[prefix_len] == b'"' {
            '"'
        } else {
            '\''
        },
    ))
}
