//! The position of a lexer in a line, and the spans painted so far. Every span ends at a char
//! boundary: next to an ASCII byte, after a whole char (`char_end`), or at the end of the line.

use super::Token;

#[cfg(test)]
thread_local! {
    /// On this thread; tests use it to measure work.
    pub(super) static BYTES_EXAMINED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[inline(always)]
pub(super) fn count_examined(bytes: usize) {
    #[cfg(test)]
    BYTES_EXAMINED.with(|count| count.set(count.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

pub(super) struct LineCursor<'a> {
    pub line: &'a str,
    /// Everything before this byte is painted.
    pub position: usize,
    /// End of the text in the current language, which may be before the end of the line.
    pub end: usize,
    /// The end and token of each painted span.
    spans: &'a mut Vec<(u32, Token)>,
    /// Index of the first span of this line; spans of earlier lines are never extended.
    first_span: usize,
}

impl<'a> LineCursor<'a> {
    pub fn new(line: &'a str, spans: &'a mut Vec<(u32, Token)>) -> Self {
        Self {
            line,
            position: 0,
            end: line.len(),
            first_span: spans.len(),
            spans,
        }
    }

    /// The bytes up to `end`, from the start of the line.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        &self.line.as_bytes()[..self.end]
    }

    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.byte_at(self.position)
    }

    #[inline]
    pub fn byte_at(&self, offset: usize) -> Option<u8> {
        self.bytes().get(offset).copied()
    }

    /// The last painted byte.
    #[inline]
    pub fn previous_byte(&self) -> Option<u8> {
        self.bytes()[..self.position].last().copied()
    }

    #[inline]
    pub fn starts_with(&self, start: &str) -> bool {
        self.starts_with_at(self.position, start)
    }

    #[inline]
    pub fn starts_with_at(&self, offset: usize, start: &str) -> bool {
        count_examined(start.len());
        self.bytes()[offset..].starts_with(start.as_bytes())
    }

    /// Paints up to byte `end`. Extends the last span if it has the same token.
    #[inline]
    pub fn paint_to(&mut self, end: usize, token: Token) {
        if end <= self.position {
            return;
        }
        debug_assert!(self.line.is_char_boundary(end), "char boundary");
        self.position = end;
        match self.spans[self.first_span..].last_mut() {
            Some((last_end, last)) if *last == token => *last_end = end as u32,
            _ => self.spans.push((end as u32, token)),
        }
    }

    /// Repaints the last span, for example when a colon shows that a string is a key.
    pub fn repaint(&mut self, token: Token) {
        if self.spans.len() > self.first_span && self.spans.pop().is_some() {
            let end = self.position;
            self.position = self.spans[self.first_span..]
                .last()
                .map_or(0, |(end, _)| *end as usize);
            self.paint_to(end, token);
        }
    }

    #[inline]
    pub fn paint_bytes(&mut self, bytes: usize, token: Token) {
        self.paint_to(self.position + bytes, token);
    }

    /// Paints up to [`Self::end`].
    pub fn paint_rest(&mut self, token: Token) {
        self.paint_to(self.end, token);
    }

    pub fn paint_blanks(&mut self) {
        self.paint_to(self.run_end(self.position, is_blank), Token::Plain);
    }

    /// The end of the run of matching bytes that starts at `from`.
    #[inline]
    pub fn run_end(&self, from: usize, matches: impl Fn(u8) -> bool) -> usize {
        let bytes = &self.bytes()[from..];
        let count = bytes.iter().take_while(|byte| matches(**byte)).count();
        count_examined(count + 1);
        from + count
    }

    /// The end of the char at `offset`.
    pub fn char_end(&self, offset: usize) -> usize {
        self.run_end((offset + 1).min(self.end), |byte| byte & 0xC0 == 0x80)
    }

    /// The next occurrence of `needle` at or after `from`, ignoring case.
    pub fn find(&self, from: usize, needle: &str) -> Option<usize> {
        let (bytes, needle) = (&self.bytes()[from..], needle.as_bytes());
        let distance = bytes
            .windows(needle.len())
            .position(|window| window.eq_ignore_ascii_case(needle));
        count_examined(distance.unwrap_or(bytes.len()));
        distance.map(|at| from + at)
    }

    /// The first non-blank byte at or after `from`.
    pub fn next_non_blank(&self, from: usize) -> Option<u8> {
        self.byte_at(self.run_end(from, is_blank))
    }
}

const WORD: u8 = 1;
const WORD_START: u8 = 2;
const BLANK: u8 = 4;

/// The classes of each byte. A lookup table, because computing them would take most of the
/// lexer's time.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let is_word_start = byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80;
        classes[byte as usize] = match byte {
            b' ' | b'\t' | b'\r' => BLANK,
            b'0'..=b'9' => WORD,
            _ if is_word_start => WORD | WORD_START,
            _ => 0,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & BLANK != 0
}

/// Whether `byte` may be part of a word: letters, digits, `_`, and all non-ASCII bytes, since names
/// may be in any script.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & WORD != 0
}

#[inline]
pub(super) fn is_word_start(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & WORD_START != 0
}

/// The end of the number at `start`, such as `0xFF_u8`, `1.5e-3`, `1'000`, `10px` or `1.2.3`.
pub(super) fn number_end(bytes: &[u8], start: usize) -> usize {
    let is_hex_digit_at = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_hexdigit);
    let is_hex = bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X'));
    let mut end = start + 1;
    while let Some(&byte) = bytes.get(end) {
        let is_after_exponent = matches!(bytes[end - 1], b'e' | b'E') && !is_hex;
        let continues = match byte {
            b'.' => bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            b'\'' => is_hex_digit_at(end + 1),
            b'+' | b'-' => is_after_exponent && bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            _ => byte.is_ascii_alphanumeric() || byte == b'_',
        };
        if !continues {
            break;
        }
        end += 1;
    }
    count_examined(end - start);
    end
}

/// Hashes a word, so that it can be compared later without storing it (FNV-1a).
pub(super) fn fingerprint(word: &[u8]) -> u32 {
    count_examined(word.len());
    word.iter().fold(0x811C_9DC5, |hash: u32, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}
