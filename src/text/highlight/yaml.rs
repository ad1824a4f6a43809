//! Lexes YAML: keys, quoted and plain scalars, and block scalars after `|` and `>`, which contain
//! all lines that are indented deeper than their key.

use super::Token;
use super::line_cursor::{LineCursor, count_examined, is_blank};
use super::state::{LexMode, LexState};

const CONSTANTS: [&[u8]; 9] = [
    b"true", b"false", b"null", b"yes", b"no", b"on", b"off", b"~", b".inf",
];

struct YamlLexer<'p, 'a> {
    state: &'p mut LexState,
    cursor: &'p mut LineCursor<'a>,
    /// Column of the last key or dash. A block scalar must be indented deeper than this.
    parent_column: usize,
    /// Number of `[` and `{` open on this line.
    depth: usize,
}

pub(super) fn lex(state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let indent_width = cursor.run_end(cursor.position, is_blank) - cursor.position;
    if let LexMode::BlockScalar { indent } = state.mode {
        let is_line_blank = cursor.position + indent_width == cursor.end;
        if is_line_blank || indent_width > usize::from(indent) {
            cursor.paint_rest(if is_line_blank {
                Token::Plain
            } else {
                Token::String
            });
            return;
        }
        state.mode = LexMode::Start;
    }
    let line_start = cursor.position;
    let mut lexer = YamlLexer {
        state,
        cursor,
        parent_column: indent_width,
        depth: 0,
    };
    if let LexMode::String { syntax: quote, .. } = lexer.state.mode {
        lexer.lex_quoted(quote, lexer.cursor.position);
    } else {
        lexer.lex_document_marker();
    }
    while let Some(byte) = lexer.cursor.peek() {
        count_examined(1);
        lexer.lex_node(byte, line_start);
    }
}

impl YamlLexer<'_, '_> {
    fn lex_document_marker(&mut self) {
        if self.cursor.starts_with("---") || self.cursor.starts_with("...") {
            let after_marker = self.cursor.byte_at(self.cursor.position + 3);
            if after_marker.is_none_or(is_blank) {
                self.cursor.paint_bytes(3, Token::Heading);
            }
        } else if self.cursor.starts_with("%") {
            self.cursor.paint_rest(Token::Keyword);
        }
    }

    fn lex_node(&mut self, byte: u8, line_start: usize) {
        let next = self.cursor.byte_at(self.cursor.position + 1);
        let is_after_blank = self.cursor.previous_byte().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.cursor.paint_blanks(),
            b'#' if is_after_blank => self.cursor.paint_rest(Token::Comment),
            b'"' | b'\'' => {
                self.parent_column = self.cursor.position - line_start;
                self.lex_quoted(byte, self.cursor.position + 1);
            }
            b'-' | b'?' if next.is_none_or(is_blank) => {
                self.parent_column = self.cursor.position - line_start;
                self.cursor.paint_bytes(1, Token::Keyword);
            }
            b'&' | b'*' | b'!' if is_after_blank => {
                let end = self
                    .cursor
                    .run_end(self.cursor.position, |byte| !is_blank(byte) && byte != b',');
                self.cursor.paint_to(end, Token::Type);
            }
            b'|' | b'>' if self.lex_block_scalar_header() => {}
            b'[' | b'{' => self.lex_bracket(self.depth + 1),
            b']' | b'}' => self.lex_bracket(self.depth.saturating_sub(1)),
            b',' | b':' => self.cursor.paint_bytes(1, Token::Plain),
            _ => self.lex_scalar(line_start),
        }
    }

    fn lex_bracket(&mut self, depth: usize) {
        self.depth = depth;
        self.cursor.paint_bytes(1, Token::Plain);
    }

    /// Lexes a block scalar header such as `|`, `>-` or `|2+`, which only a comment may follow.
    /// Returns whether there was a header.
    fn lex_block_scalar_header(&mut self) -> bool {
        let is_indicator = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-');
        let end = self.cursor.run_end(self.cursor.position + 1, is_indicator);
        let ends_line = self
            .cursor
            .next_non_blank(end)
            .is_none_or(|byte| byte == b'#');
        let is_header = ends_line && self.depth == 0;
        if is_header {
            self.cursor.paint_to(end, Token::Keyword);
            let indent = u16::try_from(self.parent_column).unwrap_or(u16::MAX);
            self.state.mode = LexMode::BlockScalar { indent };
        }
        is_header
    }

    /// Lexes a quoted string, which may span lines. Its text on this line starts at `start`.
    fn lex_quoted(&mut self, quote: u8, start: usize) {
        let mut end = start;
        let bytes = self.cursor.bytes();
        while end < bytes.len() && bytes[end] != quote {
            count_examined(1);
            end += if bytes[end] == b'\\' && quote == b'"' {
                2
            } else {
                1
            };
        }
        let is_closed = end < bytes.len();
        self.cursor
            .paint_to((end + 1).min(bytes.len()), Token::String);
        self.state.mode = match is_closed {
            true => LexMode::Start,
            false => LexMode::String {
                syntax: quote,
                count: 0,
                tag: 0,
            },
        };
        if is_closed && self.cursor.next_non_blank(self.cursor.position) == Some(b':') {
            self.cursor.repaint(Token::Key);
        }
    }

    /// Lexes a plain scalar, which is a key if a colon ends it.
    fn lex_scalar(&mut self, line_start: usize) {
        let bytes = self.cursor.bytes();
        let start = self.cursor.position;
        let is_blank_at = |position: usize| bytes.get(position).copied().is_none_or(is_blank);
        let mut position = start + 1;
        let mut end = position;
        while let Some(&byte) = bytes.get(position) {
            count_examined(1);
            let ends = match byte {
                b':' => is_blank_at(position + 1),
                b'#' => is_blank_at(position - 1),
                b',' | b']' | b'}' => self.depth > 0,
                _ => false,
            };
            if ends {
                break;
            }
            position += 1;
            if !is_blank(byte) {
                end = position;
            }
        }
        let text = &bytes[start..end];
        let token = if bytes.get(position) == Some(&b':') {
            self.parent_column = start - line_start;
            Token::Key
        } else if is_number(text) || CONSTANTS.iter().any(|c| text.eq_ignore_ascii_case(c)) {
            Token::Number
        } else {
            Token::Plain
        };
        self.cursor.paint_to(end, token);
    }
}

/// Whether `text` is a number, or a date or version made of digits and the characters that join
/// them.
fn is_number(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let is_hex = unsigned.starts_with(b"0x");
    let is_digit_or_joiner = |byte: &u8| byte.is_ascii_digit() || b".-+:_eETZ".contains(byte);
    count_examined(text.len());
    unsigned.first().is_some_and(u8::is_ascii_digit)
        && (unsigned.iter().all(is_digit_or_joiner)
            || is_hex && unsigned.iter().all(u8::is_ascii_alphanumeric))
}
