//! Lexes YAML: keys, quoted and plain scalars, and block scalars after `|` and `>`, which last
//! while lines are indented deeper than their key.

use super::Token;
use super::line_cursor::{LineCursor, count_examined, is_blank};
use super::state::{LexMode, LexState};

const CONSTANTS: [&[u8]; 9] = [
    b"true", b"false", b"null", b"yes", b"no", b"on", b"off", b"~", b".inf",
];

struct YamlLexer<'p, 'a> {
    state: &'p mut LexState,
    cursor: &'p mut LineCursor<'a>,
    /// Column of the last key or dash; a block scalar must be indented deeper.
    column: usize,
    /// Open `[` and `{` on this line.
    depth: usize,
}

/// Paints the rest of the line.
pub(super) fn lex(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let column = cursor.run_end(cursor.position, is_blank) - cursor.position;
    if let LexMode::BlockScalar { indent } = state.mode {
        let blank = cursor.position + column == cursor.end;
        if blank || column > usize::from(indent) {
            cursor.paint_rest(if blank { Token::Plain } else { Token::String });
            return;
        }
        state.mode = LexMode::Start;
    }
    let start = cursor.position;
    let mut lexer = YamlLexer {
        state,
        cursor,
        column,
        depth: 0,
    };
    if let LexMode::String { rule, .. } = lexer.state.mode {
        lexer.quoted(rule, lexer.cursor.position);
    } else {
        lexer.document_marker();
    }
    while let Some(byte) = lexer.cursor.peek() {
        count_examined(1);
        lexer.node(byte, start);
    }
}

impl YamlLexer<'_, '_> {
    fn document_marker(&mut self) {
        if self.cursor.starts_with("---") || self.cursor.starts_with("...") {
            let blank = self
                .cursor
                .byte_at(self.cursor.position + 3)
                .is_none_or(is_blank);
            self.cursor
                .paint_bytes(if blank { 3 } else { 0 }, Token::Heading);
        } else if self.cursor.starts_with("%") {
            self.cursor.paint_rest(Token::Keyword);
        }
    }

    fn node(&mut self, byte: u8, start: usize) {
        let next = self.cursor.byte_at(self.cursor.position + 1);
        let after_blank = self.cursor.previous_byte().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.cursor.paint_blanks(),
            b'#' if after_blank => self.cursor.paint_rest(Token::Comment),
            b'"' | b'\'' => {
                self.column = self.cursor.position - start;
                self.quoted(byte, self.cursor.position + 1);
            }
            b'-' | b'?' if next.is_none_or(is_blank) => {
                self.column = self.cursor.position - start;
                self.cursor.paint_bytes(1, Token::Keyword);
            }
            b'&' | b'*' | b'!' if after_blank => {
                let end = self
                    .cursor
                    .run_end(self.cursor.position, |byte| !is_blank(byte) && byte != b',');
                self.cursor.paint_to(end, Token::Type);
            }
            b'|' | b'>' if self.block_scalar_header() => {}
            b'[' | b'{' => self.bracket(self.depth + 1),
            b']' | b'}' => self.bracket(self.depth.saturating_sub(1)),
            b',' | b':' => self.cursor.paint_bytes(1, Token::Plain),
            _ => self.scalar(start),
        }
    }

    fn bracket(&mut self, depth: usize) {
        self.depth = depth;
        self.cursor.paint_bytes(1, Token::Plain);
    }

    /// `|`, `>-`, `|2+`, followed by at most a comment.
    fn block_scalar_header(&mut self) -> bool {
        let sign = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-');
        let end = self.cursor.run_end(self.cursor.position + 1, sign);
        let ends_line = self
            .cursor
            .next_non_blank(end)
            .is_none_or(|byte| byte == b'#');
        if ends_line && self.depth == 0 {
            self.cursor.paint_to(end, Token::Keyword);
            let indent = u16::try_from(self.column).unwrap_or(u16::MAX);
            self.state.mode = LexMode::BlockScalar { indent };
        }
        ends_line && self.depth == 0
    }

    /// Lexes a quoted string that continues at `at`; it may span lines.
    fn quoted(&mut self, quote: u8, mut at: usize) {
        let bytes = self.cursor.bytes();
        while at < bytes.len() && bytes[at] != quote {
            count_examined(1);
            at += if bytes[at] == b'\\' && quote == b'"' {
                2
            } else {
                1
            };
        }
        let closed = at < bytes.len();
        self.cursor
            .paint_to((at + 1).min(bytes.len()), Token::String);
        self.state.mode = match closed {
            true => LexMode::Start,
            false => LexMode::String {
                rule: quote,
                count: 0,
                tag: 0,
            },
        };
        if closed && self.cursor.next_non_blank(self.cursor.position) == Some(b':') {
            self.cursor.repaint(Token::Key);
        }
    }

    /// Lexes a plain scalar: a key if a colon ends it.
    fn scalar(&mut self, start: usize) {
        let bytes = self.cursor.bytes();
        let from = self.cursor.position;
        let blank_at = |at: usize| bytes.get(at).copied().is_none_or(is_blank);
        let mut at = from + 1;
        let mut end = at;
        while let Some(&byte) = bytes.get(at) {
            count_examined(1);
            let ends = match byte {
                b':' => blank_at(at + 1),
                b'#' => blank_at(at - 1),
                b',' | b']' | b'}' => self.depth > 0,
                _ => false,
            };
            if ends {
                break;
            }
            at += 1;
            if !is_blank(byte) {
                end = at;
            }
        }
        let text = &bytes[from..end];
        let token = if bytes.get(at) == Some(&b':') {
            self.column = from - start;
            Token::Key
        } else if is_number(text) || CONSTANTS.iter().any(|c| text.eq_ignore_ascii_case(c)) {
            Token::Number
        } else {
            Token::Plain
        };
        self.cursor.paint_to(end, token);
    }
}

/// Also matches dates and versions: digits and the characters that join them.
fn is_number(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let hex = unsigned.starts_with(b"0x");
    let joins = |byte: &u8| byte.is_ascii_digit() || b".-+:_eETZ".contains(byte);
    count_examined(text.len());
    unsigned.first().is_some_and(u8::is_ascii_digit)
        && (unsigned.iter().all(joins) || hex && unsigned.iter().all(u8::is_ascii_alphanumeric))
}
