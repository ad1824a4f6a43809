//! Reads style sheets. What stands before a brace selects, what stands before a
//! colon and no brace is a property; that is decided by one look at the line.

use super::Token;
use super::pen::{Pen, is_blank, is_word, is_word_start, looked, number_end};
use super::state::{Mode, State};

struct Lexer<'p, 'a> {
    state: &'p mut State,
    pen: &'p mut Pen<'a>,
    /// The next `{`, `}` or `;`, found once for all that stands before it.
    sign: usize,
}

/// Paints what `pen` has left of the line.
pub(super) fn lex(state: &mut State, pen: &mut Pen<'_>) {
    let mut lexer = Lexer {
        sign: pen.at,
        state,
        pen,
    };
    while let Some(byte) = lexer.pen.peek() {
        looked(1);
        match lexer.state.mode {
            Mode::Comment { .. } => lexer.comment(),
            _ => lexer.token(byte),
        }
    }
    // A value goes on where it visibly misses something; a sheet without
    // semicolons ends it with the line.
    let last = pen.bytes().trim_ascii_end().last();
    if state.mode == Mode::Property && !matches!(last, Some(b',' | b':' | b'(')) {
        state.mode = Mode::Start;
    }
}

impl Lexer<'_, '_> {
    fn comment(&mut self) {
        match self.pen.find(self.pen.at, "*/") {
            Some(at) => {
                self.pen.to(at + 2, Token::Comment);
                let depth = matches!(self.state.mode, Mode::Comment { depth: 1, .. });
                self.state.mode = if depth { Mode::Property } else { Mode::Start };
            }
            None => self.pen.all(Token::Comment),
        }
    }

    fn token(&mut self, byte: u8) {
        let value = self.state.mode == Mode::Property;
        let next = self.pen.byte_at(self.pen.at + 1);
        let named = next.is_some_and(is_name);
        let free = self.pen.before().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.pen.blanks(),
            b'/' if next == Some(b'*') => {
                self.pen.take(2, Token::Comment);
                // The depth tells where the comment stood: 1 is in a value.
                let depth = u16::from(value);
                self.state.mode = Mode::Comment { block: 0, depth };
            }
            b'/' if next == Some(b'/') && free => self.pen.all(Token::Comment),
            b'"' | b'\'' => self.string(byte),
            b'{' | b'}' | b';' => {
                self.pen.take(1, Token::Plain);
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
            b'&' => self.pen.take(1, Token::Keyword),
            _ => self.pen.take(1, Token::Plain),
        }
    }

    fn name(&mut self, sign: usize, token: Token) {
        let end = self.pen.run(self.pen.at + sign, is_name);
        self.pen.to(end, token);
    }

    /// `--accent`, `$accent`, `@accent`; with a colon it is being set.
    fn variable(&mut self) {
        self.name(1, Token::Key);
        if self.state.mode == Mode::Start && self.pen.peek() == Some(b':') {
            self.pen.take(1, Token::Plain);
            self.state.mode = Mode::Property;
        }
    }

    fn pseudo(&mut self) {
        let start = self.pen.run(self.pen.at, |byte| byte == b':');
        let end = self.pen.run(start, is_name);
        let token = if end > start {
            Token::Function
        } else {
            Token::Plain
        };
        self.pen.to(end, token);
    }

    fn number(&mut self) {
        let end = number_end(self.pen.bytes(), self.pen.at);
        let percent = self.pen.byte_at(end) == Some(b'%');
        self.pen.to(end + usize::from(percent), Token::Number);
    }

    fn string(&mut self, quote: u8) {
        let mut at = self.pen.at + 1;
        let bytes = self.pen.bytes();
        while at < bytes.len() && bytes[at] != quote {
            looked(1);
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.pen.to((at + 1).min(self.pen.end), Token::Text);
    }

    fn word(&mut self, value: bool) {
        let end = self.pen.run(self.pen.at + 1, is_name);
        let next = self.pen.byte_at(end);
        let address = self.pen.bytes()[self.pen.at..end].eq_ignore_ascii_case(b"url");
        if next == Some(b'(') {
            self.pen.to(end, Token::Function);
            if address && !matches!(self.pen.byte_at(end + 1), Some(b'"' | b'\'')) {
                self.pen.take(1, Token::Plain);
                let close = self.pen.run(self.pen.at, |byte| byte != b')');
                self.pen.to(close, Token::Text);
            }
        } else if value {
            self.pen.to(end, Token::Plain);
        } else if next == Some(b':') && self.pen.before() == Some(b'(') {
            // A feature of `@media`, which no semicolon ends.
            self.pen.to(end, Token::Key);
            self.pen.take(1, Token::Plain);
        } else if self.pen.next_solid(end) == Some(b':') && !self.selects() {
            self.pen.to(end, Token::Key);
            self.pen.blanks();
            self.pen.take(1, Token::Plain);
            self.state.mode = Mode::Property;
        } else {
            self.pen.to(end, Token::Keyword);
        }
    }

    /// Whether a brace comes before the end of the declaration.
    fn selects(&mut self) -> bool {
        if self.sign <= self.pen.at {
            let sign = |byte: u8| matches!(byte, b'{' | b'}' | b';');
            self.sign = self.pen.run(self.pen.at, |byte| !sign(byte));
        }
        self.pen.byte_at(self.sign) == Some(b'{')
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}
