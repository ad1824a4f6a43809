//! Lexes strings, chars and regexes: how they open and close, and where interpolated code starts.

use super::Token;
use super::code::{CodeLexer, contains_byte};
use super::language::{StringDelimiter, StringSyntax};
use super::line_cursor::{count_examined, fingerprint, is_word, is_word_start};
use super::state::LexMode;

/// The maximum length of a raw string delimiter in standard C++.
const TAG_BYTES_MAX: usize = 16;

struct StringOpening {
    /// The first byte after the opening.
    end: usize,
    /// Number of hashes, levels or tag bytes, which the closing delimiter repeats.
    count: u8,
    /// The fingerprint of the tag.
    tag: u32,
}

impl CodeLexer<'_, '_, '_> {
    /// Opens a string at `start`, with the current word as its prefix. Returns false if no string with
    /// this prefix opens there.
    pub fn lex_prefixed_string(&mut self, start: usize) -> bool {
        let word = &self.cursor.bytes()[self.cursor.position..start];
        let strings = self.syntax.strings;
        let has_prefix = |string: &StringSyntax| {
            let mut prefixes = string.prefixes.iter();
            prefixes.any(|prefix| word.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        self.open_first_match(start, strings, has_prefix)
    }

    pub fn lex_unprefixed_string(&mut self, byte: u8) -> bool {
        let is_in_word = self.cursor.previous_byte().is_some_and(is_word);
        if byte == b'\'' && self.syntax.has_apostrophes_in_words && is_in_word {
            return false;
        }
        let strings = self.syntax.strings;
        self.open_first_match(self.cursor.position, strings, |string| {
            string.prefixes.contains(&"")
        })
    }

    /// Opens a string at `start` with the first matching syntax. Returns false if none matches.
    fn open_first_match(
        &mut self,
        start: usize,
        strings: &[StringSyntax],
        has_prefix: impl Fn(&StringSyntax) -> bool,
    ) -> bool {
        for (index, string) in strings.iter().enumerate() {
            if !has_prefix(string) {
                continue;
            }
            if let Some(opening) = self.string_opening(string, start) {
                self.cursor.paint_to(opening.end, Token::String);
                self.state.mode = LexMode::String {
                    syntax: index as u8,
                    count: opening.count,
                    tag: opening.tag,
                };
                return true;
            }
        }
        false
    }

    fn string_opening(&self, string: &StringSyntax, start: usize) -> Option<StringOpening> {
        let cursor = &self.cursor;
        let opening = |end, count, tag| Some(StringOpening { end, count, tag });
        match string.delimiter {
            StringDelimiter::Plain => {
                let end = start + string.open.len();
                cursor.starts_with_at(start, string.open).then_some(())?;
                opening(end, 0, 0)
            }
            StringDelimiter::Hashes(minimum) => {
                // Only the first `#` of a run may open a string; otherwise each `#` would scan the
                // rest of the run.
                let is_first = start == 0 || cursor.byte_at(start - 1) != Some(b'#');
                let end = cursor.run_end(start, |byte| is_first && byte == b'#');
                let count = u8::try_from(end - start)
                    .ok()
                    .filter(|count| *count >= minimum)?;
                cursor.starts_with_at(end, string.open).then_some(())?;
                opening(end + string.open.len(), count, 0)
            }
            StringDelimiter::Levels => {
                cursor.starts_with_at(start, "[").then_some(())?;
                let end = cursor.run_end(start + 1, |byte| byte == b'=');
                let count = u8::try_from(end - start - 1).ok()?;
                cursor.starts_with_at(end, "[").then_some(())?;
                opening(end + 1, count, 0)
            }
            StringDelimiter::Tagged => {
                cursor.starts_with_at(start, "\"").then_some(())?;
                let rest = &cursor.bytes()[start + 1..];
                let window = &rest[..rest.len().min(TAG_BYTES_MAX + 1)];
                let length = window.iter().position(|byte| *byte == b'(')?;
                opening(
                    start + length + 2,
                    length as u8,
                    fingerprint(&window[..length]),
                )
            }
        }
    }

    /// Paints the open string up to its end, to interpolated code, or to the end of the line.
    /// `index` is its index in `CodeSyntax::strings`.
    pub fn lex_string_body(&mut self, index: u8, count: u8, tag: u32) {
        let Some(string) = self.syntax.strings.get(usize::from(index)) else {
            self.state.mode = LexMode::Start;
            return;
        };
        let bytes = self.cursor.bytes();
        let closing_byte = string.close.as_bytes()[0];
        let interpolation_open = string.interpolation.map(|interpolation| interpolation.open);
        let interpolation_byte = interpolation_open.map_or(0, |open| open.as_bytes()[0]);
        let mut position = self.cursor.position;
        self.line_continues = false;
        while let Some(&byte) = bytes.get(position) {
            count_examined(1);
            if byte == closing_byte
                && let Some(end) = self.closing_end(string, position, count, tag)
            {
                self.cursor.paint_to(end, Token::String);
                self.state.mode = LexMode::Start;
                self.is_after_value = true;
                if self.syntax.has_quoted_keys && self.is_key(end) {
                    self.cursor.repaint(Token::Key);
                }
                return;
            }
            if byte == interpolation_byte
                && interpolation_open.is_some_and(|open| self.cursor.starts_with_at(position, open))
            {
                // A doubled brace stands for the brace itself.
                if interpolation_open == Some("{") && bytes.get(position + 1) == Some(&b'{') {
                    position += 2;
                    continue;
                }
                self.cursor.paint_to(position, Token::String);
                if self.state.enter_interpolation(index) {
                    self.cursor
                        .paint_bytes(interpolation_open.map_or(1, str::len), Token::Plain);
                    (self.is_at_command, self.is_after_value) =
                        (self.syntax.is_command_language, false);
                    return;
                }
            }
            if byte == string.escape && byte != 0 {
                self.line_continues = position + 1 == bytes.len();
                position += 2;
                continue;
            }
            let is_sigil = byte == b'$' && string.has_variables;
            if is_sigil && bytes.get(position + 1).copied().is_some_and(is_word_start) {
                self.cursor.paint_to(position, Token::String);
                position = self.cursor.run_end(position + 1, is_word);
                self.cursor.paint_to(position, Token::Key);
                continue;
            }
            position += 1;
        }
        self.cursor.paint_rest(Token::String);
    }

    /// The end of the closing delimiter, if there is one at `start`.
    fn closing_end(
        &self,
        string: &StringSyntax,
        start: usize,
        count: u8,
        tag: u32,
    ) -> Option<usize> {
        let cursor = &self.cursor;
        let count = usize::from(count);
        let end = match string.delimiter {
            StringDelimiter::Plain => start + string.close.len(),
            StringDelimiter::Hashes(_) => start + string.close.len() + count,
            StringDelimiter::Levels | StringDelimiter::Tagged => start + count + 2,
        };
        let closing = cursor.bytes().get(start..end)?;
        count_examined(closing.len());
        let closes = match string.delimiter {
            StringDelimiter::Plain => closing == string.close.as_bytes(),
            StringDelimiter::Hashes(_) => {
                let hashes = closing.strip_prefix(string.close.as_bytes())?;
                hashes.iter().all(|byte| *byte == b'#')
            }
            StringDelimiter::Levels => {
                let levels = closing.strip_prefix(b"]")?.strip_suffix(b"]")?;
                levels.iter().all(|byte| *byte == b'=')
            }
            StringDelimiter::Tagged => {
                let word = closing.strip_prefix(b")")?.strip_suffix(b"\"")?;
                fingerprint(word) == tag
            }
        };
        closes.then_some(end)
    }

    /// Lexes a char such as `'a'` or `'\n'`. If no quote closes it, `'a` is a lifetime or type
    /// name.
    pub fn lex_char_literal(&mut self) -> bool {
        let start = self.cursor.position + 1;
        let Some(first) = self.cursor.byte_at(start) else {
            return false;
        };
        let end = match first {
            b'\\' => {
                let from = (start + 2).min(self.cursor.end);
                // No longer than `\u{10FFFF}`.
                self.cursor
                    .run_end(from, |b| b.is_ascii_hexdigit() || contains_byte("u{}x_", b))
                    .min(from + 10)
            }
            _ => self.cursor.char_end(start),
        };
        if self.cursor.byte_at(end) == Some(b'\'') && first != b'\'' {
            self.cursor.paint_to(end + 1, Token::String);
            self.is_after_value = true;
            return true;
        }
        let is_name = is_word_start(first) && !self.cursor.previous_byte().is_some_and(is_word);
        if is_name {
            self.cursor
                .paint_to(self.cursor.run_end(start, is_word), Token::Type);
        }
        is_name
    }

    pub fn lex_regex(&mut self) -> bool {
        // `/` before a space is treated as a division sign.
        let is_division = self.cursor.byte_at(self.cursor.position + 1) == Some(b' ');
        let end = match is_division {
            true => None,
            false => self.delimited_end(self.cursor.position),
        };
        self.paint_delimited(end)
    }

    /// Lexes a literal such as `%w[a b]` or `~r/x/`.
    pub fn lex_percent_literal(&mut self) -> bool {
        let start = self.cursor.position + 1;
        let end = self
            .cursor
            .run_end(start, |byte| byte.is_ascii_alphabetic());
        let delimiter = self.cursor.byte_at(end);
        // Without a letter, the byte is an operator.
        let opens_literal =
            end == start + 1 && delimiter.is_some_and(|byte| contains_byte("/{([<|!\"'", byte));
        let end = opens_literal.then(|| self.delimited_end(end)).flatten();
        self.paint_delimited(end)
    }

    /// Paints a literal up to `end` and the flags after it. Returns false if `end` is `None`.
    fn paint_delimited(&mut self, end: Option<usize>) -> bool {
        if let Some(end) = end {
            let flags_end = self.cursor.run_end(end, |byte| byte.is_ascii_alphabetic());
            self.cursor.paint_to(flags_end, Token::String);
            (self.is_after_value, self.is_at_command) = (true, false);
        }
        end.is_some()
    }

    /// The end of the delimited text that starts at `start`, if it closes on this line.
    fn delimited_end(&mut self, start: usize) -> Option<usize> {
        // Search to the end of a line only once.
        if self.has_unclosed_literal {
            return None;
        }
        let bytes = self.cursor.bytes();
        let open = bytes[start];
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            same => same,
        };
        let (mut depth, mut is_in_class) = (0_usize, false);
        let mut next = start + 1;
        while let Some(&byte) = bytes.get(next) {
            count_examined(1);
            next += 1;
            match byte {
                b'\\' => next += 1,
                b'[' if open == b'/' => is_in_class = true,
                b']' if open == b'/' => is_in_class = false,
                _ if byte == close && depth == 0 && !is_in_class => return Some(next),
                _ if byte == open && open != close => depth += 1,
                _ if byte == close => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.has_unclosed_literal = true;
        None
    }
}
