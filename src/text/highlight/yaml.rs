//! Reads YAML: keys, quoted and plain scalars, and the texts behind `|` and `>`,
//! which last as long as lines are indented deeper than their key.

use super::Token;
use super::line_cursor::{LineCursor, is_blank, looked};
use super::state::{Mode, State};

const CONSTANTS: [&[u8]; 9] = [
    b"true", b"false", b"null", b"yes", b"no", b"on", b"off", b"~", b".inf",
];

struct Lexer<'p, 'a> {
    state: &'p mut State,
    cursor: &'p mut LineCursor<'a>,
    /// Where the last key or dash starts: a text must be indented deeper.
    column: usize,
    /// Open `[` and `{` on this line.
    depth: usize,
}

/// Paints what `pen` has left of the line.
pub(super) fn lex(state: &mut State, cursor: &mut LineCursor<'_>) {
    let column = cursor.run(cursor.at, is_blank) - cursor.at;
    if let Mode::Scalar { indent } = state.mode {
        let blank = cursor.at + column == cursor.end;
        if blank || column > usize::from(indent) {
            cursor.all(if blank { Token::Plain } else { Token::Text });
            return;
        }
        state.mode = Mode::Start;
    }
    let start = cursor.at;
    let mut lexer = Lexer {
        state,
        cursor,
        column,
        depth: 0,
    };
    if let Mode::Quote { rule, .. } = lexer.state.mode {
        lexer.quoted(rule, lexer.cursor.at);
    } else {
        lexer.marker();
    }
    while let Some(byte) = lexer.cursor.peek() {
        looked(1);
        lexer.node(byte, start);
    }
}

impl Lexer<'_, '_> {
    fn marker(&mut self) {
        if self.cursor.starts_with("---") || self.cursor.starts_with("...") {
            let blank = self.cursor.byte_at(self.cursor.at + 3).is_none_or(is_blank);
            self.cursor.take(if blank { 3 } else { 0 }, Token::Heading);
        } else if self.cursor.starts_with("%") {
            self.cursor.all(Token::Keyword);
        }
    }

    fn node(&mut self, byte: u8, start: usize) {
        let behind = self.cursor.byte_at(self.cursor.at + 1);
        let free = self.cursor.before().is_none_or(is_blank);
        match byte {
            _ if is_blank(byte) => self.cursor.blanks(),
            b'#' if free => self.cursor.all(Token::Comment),
            b'"' | b'\'' => {
                self.column = self.cursor.at - start;
                self.quoted(byte, self.cursor.at + 1);
            }
            b'-' | b'?' if behind.is_none_or(is_blank) => {
                self.column = self.cursor.at - start;
                self.cursor.take(1, Token::Keyword);
            }
            b'&' | b'*' | b'!' if free => {
                let end = self
                    .cursor
                    .run(self.cursor.at, |byte| !is_blank(byte) && byte != b',');
                self.cursor.to(end, Token::Type);
            }
            b'|' | b'>' if self.text_follows() => {}
            b'[' | b'{' => self.bracket(self.depth + 1),
            b']' | b'}' => self.bracket(self.depth.saturating_sub(1)),
            b',' | b':' => self.cursor.take(1, Token::Plain),
            _ => self.scalar(start),
        }
    }

    fn bracket(&mut self, depth: usize) {
        self.depth = depth;
        self.cursor.take(1, Token::Plain);
    }

    /// `|`, `>-`, `|2+`, with at most a comment behind.
    fn text_follows(&mut self) -> bool {
        let sign = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-');
        let end = self.cursor.run(self.cursor.at + 1, sign);
        let alone = self.cursor.next_solid(end).is_none_or(|byte| byte == b'#');
        if alone && self.depth == 0 {
            self.cursor.to(end, Token::Keyword);
            let indent = u16::try_from(self.column).unwrap_or(u16::MAX);
            self.state.mode = Mode::Scalar { indent };
        }
        alone && self.depth == 0
    }

    /// A string whose text goes on at `at`; it may span lines.
    fn quoted(&mut self, quote: u8, mut at: usize) {
        let bytes = self.cursor.bytes();
        while at < bytes.len() && bytes[at] != quote {
            looked(1);
            at += if bytes[at] == b'\\' && quote == b'"' {
                2
            } else {
                1
            };
        }
        let closed = at < bytes.len();
        self.cursor.to((at + 1).min(bytes.len()), Token::Text);
        self.state.mode = match closed {
            true => Mode::Start,
            false => Mode::Quote {
                rule: quote,
                count: 0,
                tag: 0,
            },
        };
        if closed && self.cursor.next_solid(self.cursor.at) == Some(b':') {
            self.cursor.repaint(Token::Key);
        }
    }

    /// A scalar without quotes: a key where a colon ends it.
    fn scalar(&mut self, start: usize) {
        let bytes = self.cursor.bytes();
        let from = self.cursor.at;
        let blank_at = |at: usize| bytes.get(at).copied().is_none_or(is_blank);
        let mut at = from + 1;
        let mut end = at;
        while let Some(&byte) = bytes.get(at) {
            looked(1);
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
        self.cursor.to(end, token);
    }
}

/// Also dates and versions: what consists of digits and what joins them.
fn is_number(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let hex = unsigned.starts_with(b"0x");
    let joins = |byte: &u8| byte.is_ascii_digit() || b".-+:_eETZ".contains(byte);
    looked(text.len());
    unsigned.first().is_some_and(u8::is_ascii_digit)
        && (unsigned.iter().all(joins) || hex && unsigned.iter().all(u8::is_ascii_alphanumeric))
}
