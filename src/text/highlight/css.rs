//! Lexes style sheets. A word before a brace is a selector; one before a colon without a brace is a
//! property. A single look-ahead on the line decides.

use super::Token;
use super::line_cursor::{
    LineCursor, count_examined, is_blank, is_word, is_word_start, number_end,
};
use super::state::{LexMode, LexState};

struct CssLexer<'p, 'a> {
    state: &'p mut LexState,
    cursor: &'p mut LineCursor<'a>,
    /// The next `{`, `}` or `;`, searched once for all words before it.
    next_delimiter: usize,
}

/// Paints the rest of the line.
pub(super) fn lex(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let mut lexer = CssLexer {
        next_delimiter: cursor.position,
        state,
        cursor,
    };
    while let Some(byte) = lexer.cursor.peek() {
        count_examined(1);
        match lexer.state.mode {
            LexMode::Comment { .. } => lexer.comment(),
            _ => lexer.token(byte),
        }
    }
    // A value continues on the next line only if it visibly lacks something; sheets without
    // semicolons end values at the line break.
    let last = cursor.bytes().trim_ascii_end().last();
    if state.mode == LexMode::Property && !matches!(last, Some(b',' | b':' | b'(')) {
        state.mode = LexMode::Start;
    }
}

impl CssLexer<'_, '_> {
    fn comment(&mut self) {
        match self.cursor.find(self.cursor.position, "*/") {
            Some(at) => {
                self.cursor.paint_to(at + 2, Token::Comment);
                let in_value = matches!(self.state.mode, LexMode::Comment { depth: 1, .. });
                self.state.mode = if in_value {
                    LexMode::Property
                } else {
                    LexMode::Start
                };
            }
            None => self.cursor.paint_rest(Token::Comment),
        }
    }

    fn token(&mut self, byte: u8) {
        let in_value = self.state.mode == LexMode::Property;
        let next = self.cursor.byte_at(self.cursor.position + 1);
        let named = next.is_some_and(is_name);
        let after_blank = self.cursor.previous_byte().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.cursor.paint_blanks(),
            b'/' if next == Some(b'*') => {
                self.cursor.paint_bytes(2, Token::Comment);
                // The depth records where the comment is: 1 means in a value.
                let depth = u16::from(in_value);
                self.state.mode = LexMode::Comment { block: 0, depth };
            }
            b'/' if next == Some(b'/') && after_blank => self.cursor.paint_rest(Token::Comment),
            b'"' | b'\'' => self.string(byte),
            b'{' | b'}' | b';' => {
                self.cursor.paint_bytes(1, Token::Plain);
                self.state.mode = LexMode::Start;
            }
            b'@' if named && !in_value => self.name(1, Token::Keyword),
            b'@' | b'$' if named => self.variable(),
            b'-' if next == Some(b'-') => self.variable(),
            b'#' if named && in_value => self.name(1, Token::Number),
            b'.' if next.is_some_and(|next| next.is_ascii_digit()) => self.number(),
            b'#' | b'.' if named && !in_value => self.name(1, Token::Type),
            b'!' if named => self.name(1, Token::Keyword),
            b':' if !in_value => self.pseudo_selector(),
            _ if byte.is_ascii_digit() => self.number(),
            _ if is_word_start(byte) || byte == b'-' && named => self.word(in_value),
            b'&' => self.cursor.paint_bytes(1, Token::Keyword),
            _ => self.cursor.paint_bytes(1, Token::Plain),
        }
    }

    fn name(&mut self, sign: usize, token: Token) {
        let end = self.cursor.run_end(self.cursor.position + sign, is_name);
        self.cursor.paint_to(end, token);
    }

    /// `--accent`, `$accent`, `@accent`; a colon after it makes it a definition.
    fn variable(&mut self) {
        self.name(1, Token::Key);
        if self.state.mode == LexMode::Start && self.cursor.peek() == Some(b':') {
            self.cursor.paint_bytes(1, Token::Plain);
            self.state.mode = LexMode::Property;
        }
    }

    fn pseudo_selector(&mut self) {
        let start = self
            .cursor
            .run_end(self.cursor.position, |byte| byte == b':');
        let end = self.cursor.run_end(start, is_name);
        let token = if end > start {
            Token::Function
        } else {
            Token::Plain
        };
        self.cursor.paint_to(end, token);
    }

    fn number(&mut self) {
        let end = number_end(self.cursor.bytes(), self.cursor.position);
        let percent = self.cursor.byte_at(end) == Some(b'%');
        self.cursor
            .paint_to(end + usize::from(percent), Token::Number);
    }

    fn string(&mut self, quote: u8) {
        let mut at = self.cursor.position + 1;
        let bytes = self.cursor.bytes();
        while at < bytes.len() && bytes[at] != quote {
            count_examined(1);
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.cursor
            .paint_to((at + 1).min(self.cursor.end), Token::String);
    }

    fn word(&mut self, in_value: bool) {
        let end = self.cursor.run_end(self.cursor.position + 1, is_name);
        let next = self.cursor.byte_at(end);
        let is_url = self.cursor.bytes()[self.cursor.position..end].eq_ignore_ascii_case(b"url");
        if next == Some(b'(') {
            self.cursor.paint_to(end, Token::Function);
            if is_url && !matches!(self.cursor.byte_at(end + 1), Some(b'"' | b'\'')) {
                self.cursor.paint_bytes(1, Token::Plain);
                let close = self
                    .cursor
                    .run_end(self.cursor.position, |byte| byte != b')');
                self.cursor.paint_to(close, Token::String);
            }
        } else if in_value {
            self.cursor.paint_to(end, Token::Plain);
        } else if next == Some(b':') && self.cursor.previous_byte() == Some(b'(') {
            // A media feature, which no semicolon ends.
            self.cursor.paint_to(end, Token::Key);
            self.cursor.paint_bytes(1, Token::Plain);
        } else if self.cursor.next_non_blank(end) == Some(b':') && !self.is_in_selector() {
            self.cursor.paint_to(end, Token::Key);
            self.cursor.paint_blanks();
            self.cursor.paint_bytes(1, Token::Plain);
            self.state.mode = LexMode::Property;
        } else {
            self.cursor.paint_to(end, Token::Keyword);
        }
    }

    /// Whether a brace precedes the end of the declaration.
    fn is_in_selector(&mut self) -> bool {
        if self.next_delimiter <= self.cursor.position {
            let sign = |byte: u8| matches!(byte, b'{' | b'}' | b';');
            self.next_delimiter = self
                .cursor
                .run_end(self.cursor.position, |byte| !sign(byte));
        }
        self.cursor.byte_at(self.next_delimiter) == Some(b'{')
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}
