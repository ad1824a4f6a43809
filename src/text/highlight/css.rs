//! Lexes style sheets. A word before a brace is a selector; a word before a colon that no brace
//! follows is a property. One look-ahead per declaration decides.

use super::Token;
use super::line_cursor::{
    LineCursor, count_examined, is_blank, is_word, is_word_start, number_end,
};
use super::state::{LexMode, LexState};

struct CssLexer<'p, 'a> {
    state: &'p mut LexState,
    cursor: &'p mut LineCursor<'a>,
    /// Position of the next `{`, `}` or `;`; one search finds it for all words before it.
    next_delimiter: usize,
}

pub(super) fn lex(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let mut lexer = CssLexer {
        next_delimiter: cursor.position,
        state,
        cursor,
    };
    while let Some(byte) = lexer.cursor.peek() {
        count_examined(1);
        match lexer.state.mode {
            LexMode::Comment { .. } => lexer.lex_comment(),
            _ => lexer.lex_token(byte),
        }
    }
    // A value continues on the next line only if it is visibly incomplete: in style sheets without
    // semicolons, values end with their lines.
    let last = cursor.bytes().trim_ascii_end().last();
    if state.mode == LexMode::PropertyValue && !matches!(last, Some(b',' | b':' | b'(')) {
        state.mode = LexMode::Start;
    }
}

impl CssLexer<'_, '_> {
    fn lex_comment(&mut self) {
        match self.cursor.find(self.cursor.position, "*/") {
            Some(at) => {
                self.cursor.paint_to(at + 2, Token::Comment);
                let is_in_value = matches!(self.state.mode, LexMode::Comment { depth: 1, .. });
                self.state.mode = if is_in_value {
                    LexMode::PropertyValue
                } else {
                    LexMode::Start
                };
            }
            None => self.cursor.paint_rest(Token::Comment),
        }
    }

    fn lex_token(&mut self, byte: u8) {
        let is_in_value = self.state.mode == LexMode::PropertyValue;
        let next = self.cursor.byte_at(self.cursor.position + 1);
        let is_name_next = next.is_some_and(is_name);
        let is_after_blank = self.cursor.previous_byte().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.cursor.paint_blanks(),
            b'/' if next == Some(b'*') => {
                self.cursor.paint_bytes(2, Token::Comment);
                // The depth records where the comment is: 1 means in a value.
                let depth = u16::from(is_in_value);
                self.state.mode = LexMode::Comment { block: 0, depth };
            }
            b'/' if next == Some(b'/') && is_after_blank => self.cursor.paint_rest(Token::Comment),
            b'"' | b'\'' => self.lex_string(byte),
            b'{' | b'}' | b';' => {
                self.cursor.paint_bytes(1, Token::Plain);
                self.state.mode = LexMode::Start;
            }
            b'@' if is_name_next && !is_in_value => self.lex_name(1, Token::Keyword),
            b'@' | b'$' if is_name_next => self.lex_variable(),
            b'-' if next == Some(b'-') => self.lex_variable(),
            b'#' if is_name_next && is_in_value => self.lex_name(1, Token::Number),
            b'.' if next.is_some_and(|next| next.is_ascii_digit()) => self.lex_number(),
            b'#' | b'.' if is_name_next && !is_in_value => self.lex_name(1, Token::Type),
            b'!' if is_name_next => self.lex_name(1, Token::Keyword),
            b':' if !is_in_value => self.lex_pseudo_selector(),
            _ if byte.is_ascii_digit() => self.lex_number(),
            _ if is_word_start(byte) || byte == b'-' && is_name_next => self.lex_word(is_in_value),
            b'&' => self.cursor.paint_bytes(1, Token::Keyword),
            _ => self.cursor.paint_bytes(1, Token::Plain),
        }
    }

    /// Paints a name and the `prefix_bytes` before it.
    fn lex_name(&mut self, prefix_bytes: usize, token: Token) {
        let start = self.cursor.position + prefix_bytes;
        let end = self.cursor.run_end(start, is_name);
        self.cursor.paint_to(end, token);
    }

    /// Lexes a variable such as `--accent`, `$accent` or `@accent`. A colon after it starts its
    /// value.
    fn lex_variable(&mut self) {
        self.lex_name(1, Token::Key);
        if self.state.mode == LexMode::Start && self.cursor.peek() == Some(b':') {
            self.cursor.paint_bytes(1, Token::Plain);
            self.state.mode = LexMode::PropertyValue;
        }
    }

    fn lex_pseudo_selector(&mut self) {
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

    fn lex_number(&mut self) {
        let end = number_end(self.cursor.bytes(), self.cursor.position);
        let has_percent = self.cursor.byte_at(end) == Some(b'%');
        self.cursor
            .paint_to(end + usize::from(has_percent), Token::Number);
    }

    fn lex_string(&mut self, quote: u8) {
        let mut end = self.cursor.position + 1;
        let bytes = self.cursor.bytes();
        while end < bytes.len() && bytes[end] != quote {
            count_examined(1);
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        self.cursor
            .paint_to((end + 1).min(self.cursor.end), Token::String);
    }

    fn lex_word(&mut self, is_in_value: bool) {
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
        } else if is_in_value {
            self.cursor.paint_to(end, Token::Plain);
        } else if next == Some(b':') && self.cursor.previous_byte() == Some(b'(') {
            // A media feature, which does not end with a semicolon.
            self.cursor.paint_to(end, Token::Key);
            self.cursor.paint_bytes(1, Token::Plain);
        } else if self.cursor.next_non_blank(end) == Some(b':') && !self.is_in_selector() {
            self.cursor.paint_to(end, Token::Key);
            self.cursor.paint_blanks();
            self.cursor.paint_bytes(1, Token::Plain);
            self.state.mode = LexMode::PropertyValue;
        } else {
            self.cursor.paint_to(end, Token::Keyword);
        }
    }

    /// Whether a `{` comes before the end of the declaration.
    fn is_in_selector(&mut self) -> bool {
        if self.next_delimiter <= self.cursor.position {
            let is_delimiter = |byte: u8| matches!(byte, b'{' | b'}' | b';');
            self.next_delimiter = self
                .cursor
                .run_end(self.cursor.position, |byte| !is_delimiter(byte));
        }
        self.cursor.byte_at(self.next_delimiter) == Some(b'{')
    }
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}
