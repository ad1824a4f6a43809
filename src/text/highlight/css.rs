//! Reads style sheets. What stands before a brace selects, what stands before a
//! colon and no brace is a property; that is decided by one look at the line.

use super::Token;
use super::line_cursor::{LineCursor, is_blank, is_word, is_word_start, looked, number_end};
use super::state::{Mode, State};

struct Lexer<'p, 'a> {
    state: &'p mut State,
    cursor: &'p mut LineCursor<'a>,
    /// The next `{`, `}` or `;`, found once for all that stands before it.
    sign: usize,
}

/// Paints what `pen` has left of the line.
pub(super) fn lex(state: &mut State, cursor: &mut LineCursor<'_>) {
    let mut lexer = Lexer {
        sign: cursor.at,
        state,
        cursor,
    };
    while let Some(byte) = lexer.cursor.peek() {
        looked(1);
        match lexer.state.mode {
            Mode::Comment { .. } => lexer.comment(),
            _ => lexer.token(byte),
        }
    }
    // A value goes on where it visibly misses something; a sheet without
    // semicolons ends it with the line.
    let last = cursor.bytes().trim_ascii_end().last();
    if state.mode == Mode::Property && !matches!(last, Some(b',' | b':' | b'(')) {
        state.mode = Mode::Start;
    }
}

impl Lexer<'_, '_> {
    fn comment(&mut self) {
        match self.cursor.find(self.cursor.at, "*/") {
            Some(at) => {
                self.cursor.to(at + 2, Token::Comment);
                let depth = matches!(self.state.mode, Mode::Comment { depth: 1, .. });
                self.state.mode = if depth { Mode::Property } else { Mode::Start };
            }
            None => self.cursor.all(Token::Comment),
        }
    }

    fn token(&mut self, byte: u8) {
        let value = self.state.mode == Mode::Property;
        let next = self.cursor.byte_at(self.cursor.at + 1);
        let named = next.is_some_and(is_name);
        let free = self.cursor.before().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.cursor.blanks(),
            b'/' if next == Some(b'*') => {
                self.cursor.take(2, Token::Comment);
                // The depth tells where the comment stood: 1 is in a value.
                let depth = u16::from(value);
                self.state.mode = Mode::Comment { block: 0, depth };
            }
            b'/' if next == Some(b'/') && free => self.cursor.all(Token::Comment),
            b'"' | b'\'' => self.string(byte),
            b'{' | b'}' | b';' => {
                self.cursor.take(1, Token::Plain);
                self.state.mode = Mode::Start;
            }
            b'@' if named && !value => self.name(1, Token::Keyword),
            b'@' | b'$' if named => self.variable(),
            b'-' if next == Some(b'-') => self.variable(),
            b'#' if named && value => self.name(1, Token::Number),
            b'.' if next.is_some_and(|next| next.is_ascii_digit()) => self.number(),
            b'#' | b'.' if named && !value => self.name(1, Token::Type),
            b'!' if named => self.name(1, Token::Keyword),
            b':' if !value => self.pseudo(),
            _ if byte.is_ascii_digit() => self.number(),
            _ if is_word_start(byte) || byte == b'-' && named => self.word(value),
            b'&' => self.cursor.take(1, Token::Keyword),
            _ => self.cursor.take(1, Token::Plain),
        }
    }

    fn name(&mut self, sign: usize, token: Token) {
        let end = self.cursor.run(self.cursor.at + sign, is_name);
        self.cursor.to(end, token);
    }

    /// `--accent`, `$accent`, `@accent`; with a colon it is being set.
    fn variable(&mut self) {
        self.name(1, Token::Key);
        if self.state.mode == Mode::Start && self.cursor.peek() == Some(b':') {
            self.cursor.take(1, Token::Plain);
            self.state.mode = Mode::Property;
        }
    }

    fn pseudo(&mut self) {
        let start = self.cursor.run(self.cursor.at, |byte| byte == b':');
        let end = self.cursor.run(start, is_name);
        let token = if end > start {
            Token::Function
        } else {
            Token::Plain
        };
        self.cursor.to(end, token);
    }

    fn number(&mut self) {
        let end = number_end(self.cursor.bytes(), self.cursor.at);
        let percent = self.cursor.byte_at(end) == Some(b'%');
        self.cursor.to(end + usize::from(percent), Token::Number);
    }

    fn string(&mut self, quote: u8) {
        let mut at = self.cursor.at + 1;
        let bytes = self.cursor.bytes();
        while at < bytes.len() && bytes[at] != quote {
            looked(1);
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.cursor.to((at + 1).min(self.cursor.end), Token::Text);
    }

    fn word(&mut self, value: bool) {
        let end = self.cursor.run(self.cursor.at + 1, is_name);
        let next = self.cursor.byte_at(end);
        let address = self.cursor.bytes()[self.cursor.at..end].eq_ignore_ascii_case(b"url");
        if next == Some(b'(') {
            self.cursor.to(end, Token::Function);
            if address && !matches!(self.cursor.byte_at(end + 1), Some(b'"' | b'\'')) {
                self.cursor.take(1, Token::Plain);
                let close = self.cursor.run(self.cursor.at, |byte| byte != b')');
                self.cursor.to(close, Token::Text);
            }
        } else if value {
            self.cursor.to(end, Token::Plain);
        } else if next == Some(b':') && self.cursor.before() == Some(b'(') {
            // A feature of `@media`, which no semicolon ends.
            self.cursor.to(end, Token::Key);
            self.cursor.take(1, Token::Plain);
        } else if self.cursor.next_solid(end) == Some(b':') && !self.selects() {
            self.cursor.to(end, Token::Key);
            self.cursor.blanks();
            self.cursor.take(1, Token::Plain);
            self.state.mode = Mode::Property;
        } else {
            self.cursor.to(end, Token::Keyword);
        }
    }

    /// Whether a brace comes before the end of the declaration.
    fn selects(&mut self) -> bool {
        if self.sign <= self.cursor.at {
            let sign = |byte: u8| matches!(byte, b'{' | b'}' | b';');
            self.sign = self.cursor.run(self.cursor.at, |byte| !sign(byte));
        }
        self.cursor.byte_at(self.sign) == Some(b'{')
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}
