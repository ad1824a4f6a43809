//! Lexes strings, chars and regexes: openings, closings, and interpolated code.

use super::Token;
use super::code::{CodeLexer, contains_byte};
use super::language::{StringDelimiter, StringSyntax};
use super::line_cursor::{count_examined, fingerprint, is_word, is_word_start};
use super::state::LexMode;

/// The maximum length of a raw string delimiter in standard C++.
const TAG_BYTES_MAX: usize = 16;

/// The opening of a string.
struct StringOpening {
    /// The first byte after the opening.
    end: usize,
    count: u8,
    tag: u32,
}

impl CodeLexer<'_, '_, '_> {
    /// Lexes a string that opens at `at`, directly after the current word.
    pub fn prefixed_string(&mut self, at: usize) -> bool {
        let word = &self.cursor.bytes()[self.cursor.position..at];
        let rules = self.code.strings;
        let fits = |rule: &StringSyntax| {
            let mut prefixes = rule.prefixes.iter();
            prefixes.any(|prefix| word.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        self.open_first_match(at, rules, fits)
    }

    pub fn unprefixed_string(&mut self, byte: u8) -> bool {
        let behind_letter = self.cursor.previous_byte().is_some_and(is_word);
        if byte == b'\'' && self.code.has_apostrophes_in_words && behind_letter {
            return false;
        }
        let rules = self.code.strings;
        self.open_first_match(self.cursor.position, rules, |rule| {
            rule.prefixes.contains(&"")
        })
    }

    fn open_first_match(
        &mut self,
        at: usize,
        rules: &[StringSyntax],
        fits: impl Fn(&StringSyntax) -> bool,
    ) -> bool {
        for (number, rule) in rules.iter().enumerate() {
            if !fits(rule) {
                continue;
            }
            if let Some(opening) = self.opening(rule, at) {
                self.cursor.paint_to(opening.end, Token::String);
                self.state.mode = LexMode::String {
                    rule: number as u8,
                    count: opening.count,
                    tag: opening.tag,
                };
                return true;
            }
        }
        false
    }

    fn opening(&self, rule: &StringSyntax, at: usize) -> Option<StringOpening> {
        let cursor = &self.cursor;
        let open = |end, count, tag| Some(StringOpening { end, count, tag });
        match rule.delimiter {
            StringDelimiter::Plain => {
                let end = at + rule.open.len();
                cursor.starts_with_at(at, rule.open).then_some(())?;
                open(end, 0, 0)
            }
            StringDelimiter::Hashes(least) => {
                // Only the first `#` of a run counts; otherwise each `#` of many would scan all of
                // them.
                let first = at == 0 || cursor.byte_at(at - 1) != Some(b'#');
                let end = cursor.run_end(at, |byte| first && byte == b'#');
                let count = u8::try_from(end - at)
                    .ok()
                    .filter(|count| *count >= least)?;
                cursor.starts_with_at(end, rule.open).then_some(())?;
                open(end + rule.open.len(), count, 0)
            }
            StringDelimiter::Levels => {
                cursor.starts_with_at(at, "[").then_some(())?;
                let end = cursor.run_end(at + 1, |byte| byte == b'=');
                let count = u8::try_from(end - at - 1).ok()?;
                cursor.starts_with_at(end, "[").then_some(())?;
                open(end + 1, count, 0)
            }
            StringDelimiter::Tagged => {
                cursor.starts_with_at(at, "\"").then_some(())?;
                let rest = &cursor.bytes()[at + 1..];
                let window = &rest[..rest.len().min(TAG_BYTES_MAX + 1)];
                let length = window.iter().position(|byte| *byte == b'(')?;
                open(
                    at + length + 2,
                    length as u8,
                    fingerprint(&window[..length]),
                )
            }
        }
    }

    /// Paints the open string up to its end, to interpolated code, or to the end of the line.
    pub fn string_body(&mut self, number: u8, count: u8, tag: u32) {
        let Some(rule) = self.code.strings.get(usize::from(number)) else {
            self.state.mode = LexMode::Start;
            return;
        };
        let bytes = self.cursor.bytes();
        let (closer, opener) = (rule.close.as_bytes()[0], rule.interpolation.map(|i| i.open));
        let inside_first = opener.map_or(0, |open| open.as_bytes()[0]);
        let mut at = self.cursor.position;
        self.line_continues = false;
        while let Some(&byte) = bytes.get(at) {
            count_examined(1);
            if byte == closer
                && let Some(end) = self.closing_end(rule, at, count, tag)
            {
                self.cursor.paint_to(end, Token::String);
                self.state.mode = LexMode::Start;
                self.after_value = true;
                if self.code.has_quoted_keys && self.is_key(end) {
                    self.cursor.repaint(Token::Key);
                }
                return;
            }
            if byte == inside_first
                && opener.is_some_and(|open| self.cursor.starts_with_at(at, open))
            {
                if opener == Some("{") && bytes.get(at + 1) == Some(&b'{') {
                    at += 2;
                    continue;
                }
                self.cursor.paint_to(at, Token::String);
                if self.state.enter_interpolation(number) {
                    self.cursor
                        .paint_bytes(opener.map_or(1, str::len), Token::Plain);
                    (self.at_command, self.after_value) = (self.code.is_command_language, false);
                    return;
                }
            }
            if byte == rule.escape && byte != 0 {
                self.line_continues = at + 1 == bytes.len();
                at += 2;
                continue;
            }
            let variable = byte == b'$' && rule.has_variables;
            if variable && bytes.get(at + 1).copied().is_some_and(is_word_start) {
                self.cursor.paint_to(at, Token::String);
                at = self.cursor.run_end(at + 1, is_word);
                self.cursor.paint_to(at, Token::Key);
                continue;
            }
            at += 1;
        }
        self.cursor.paint_rest(Token::String);
    }

    /// The end of the closing delimiter of `rule` at `at`.
    fn closing_end(&self, rule: &StringSyntax, at: usize, count: u8, tag: u32) -> Option<usize> {
        let cursor = &self.cursor;
        let count = usize::from(count);
        let end = match rule.delimiter {
            StringDelimiter::Plain => at + rule.close.len(),
            StringDelimiter::Hashes(_) => at + rule.close.len() + count,
            StringDelimiter::Levels | StringDelimiter::Tagged => at + count + 2,
        };
        let closing = cursor.bytes().get(at..end)?;
        count_examined(closing.len());
        let closes = match rule.delimiter {
            StringDelimiter::Plain => closing == rule.close.as_bytes(),
            StringDelimiter::Hashes(_) => {
                let hashes = closing.strip_prefix(rule.close.as_bytes())?;
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

    /// `'a'`, `'\n'`; if no quote closes it, `'a` is a lifetime or type name.
    pub fn char_literal(&mut self) -> bool {
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
            self.after_value = true;
            return true;
        }
        let names = is_word_start(first) && !self.cursor.previous_byte().is_some_and(is_word);
        if names {
            self.cursor
                .paint_to(self.cursor.run_end(start, is_word), Token::Type);
        }
        names
    }

    pub fn regex(&mut self) -> bool {
        let blank = self.cursor.byte_at(self.cursor.position + 1) == Some(b' ');
        let end = match blank {
            true => None,
            false => self.delimited_end(self.cursor.position, 1),
        };
        self.paint_delimited(end)
    }

    /// `%w[a b]`, `~r/x/`.
    pub fn percent_literal(&mut self) -> bool {
        let start = self.cursor.position + 1;
        let end = self
            .cursor
            .run_end(start, |byte| byte.is_ascii_alphabetic());
        let delimiter = self.cursor.byte_at(end);
        // Without a letter it is an operator.
        let opens =
            end == start + 1 && delimiter.is_some_and(|byte| contains_byte("/{([<|!\"'", byte));
        let end = opens.then(|| self.delimited_end(end, 1)).flatten();
        self.paint_delimited(end)
    }

    /// `qw(a b)`, `s/x/y/`; `at` is after the word.
    pub fn quote_operator(&mut self, at: usize) -> bool {
        let word = &self.cursor.bytes()[self.cursor.position..at];
        let known = self
            .code
            .quote_operators
            .iter()
            .any(|known| known.as_bytes() == word);
        let delimiter = self.cursor.byte_at(at);
        let member = matches!(
            self.cursor.previous_byte(),
            Some(b'$' | b'@' | b'%' | b'>' | b'-' | b'{')
        );
        if !known || member || !delimiter.is_some_and(|byte| contains_byte("/{([|!#~", byte)) {
            return false;
        }
        let parts = if matches!(word, b"s" | b"tr" | b"y") {
            2
        } else {
            1
        };
        let end = self.delimited_end(at, parts);
        self.paint_delimited(end)
    }

    fn paint_delimited(&mut self, end: Option<usize>) -> bool {
        if let Some(end) = end {
            let flags = self.cursor.run_end(end, |byte| byte.is_ascii_alphabetic());
            self.cursor.paint_to(flags, Token::String);
            (self.after_value, self.at_command) = (true, false);
        }
        end.is_some()
    }

    /// The position after `parts` delimited texts that start at `at`, all on this line.
    fn delimited_end(&mut self, at: usize, parts: usize) -> Option<usize> {
        // Whatever did not close before will not close later: at most one scan to the end per line.
        if self.no_more_closings {
            return None;
        }
        let bytes = self.cursor.bytes();
        let open = bytes[at];
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            same => same,
        };
        let (mut depth, mut left, mut in_class) = (0_usize, parts, false);
        let mut next = at + 1;
        while let Some(&byte) = bytes.get(next) {
            count_examined(1);
            next += 1;
            match byte {
                b'\\' => next += 1,
                b'[' if open == b'/' => in_class = true,
                b']' if open == b'/' => in_class = false,
                _ if byte == close && depth == 0 && !in_class => {
                    left -= 1;
                    if left == 0 {
                        return Some(next);
                    }
                    // The second text of a bracketed pair has its own opening bracket.
                    next += usize::from(open != close && bytes.get(next) == Some(&open));
                }
                _ if byte == open && open != close => depth += 1,
                _ if byte == close => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.no_more_closings = true;
        None
    }
}
