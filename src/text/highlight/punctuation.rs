//! What signs begin: comments, directives, sections, sigils, escapes, and texts that
//! start on the next line.

use super::Token;
use super::code::{Lexer, has};
use super::line_cursor::{fingerprint, is_blank, is_word, is_word_start, looked};
use super::state::Mode;

impl Lexer<'_, '_, '_> {
    pub fn comment_start(&mut self) -> bool {
        let before = self.cursor.before();
        for (number, block) in self.code.blocks.iter().enumerate() {
            if self.cursor.starts_with(block.open) && !(block.starts_line && before.is_some()) {
                self.cursor.take(block.open.len(), Token::Comment);
                self.state.mode = Mode::Comment {
                    block: number as u8,
                    depth: 0,
                };
                return true;
            }
        }
        // Inside a string's code a comment would swallow the string's end.
        let free = before.is_none_or(|byte| is_blank(byte) || matches!(byte, b';' | b'('));
        let may_start = self.state.height == 0 && (free || !self.code.comments_spaced);
        let starts = self
            .code
            .comments
            .iter()
            .any(|c| self.cursor.starts_with(c));
        if may_start && starts {
            self.cursor.all(Token::Comment);
        }
        may_start && starts
    }

    pub fn comment(&mut self, number: u8, mut depth: u16) {
        let Some(block) = self.code.blocks.get(usize::from(number)) else {
            self.state.mode = Mode::Start;
            return;
        };
        let (open, close) = (block.open.as_bytes(), block.close.as_bytes());
        let bytes = self.cursor.bytes();
        let mut at = self.cursor.at;
        while at < bytes.len() {
            looked(1);
            if bytes[at] == close[0] && bytes[at..].starts_with(close) {
                at += close.len();
                if depth == 0 {
                    self.state.mode = Mode::Start;
                    self.cursor.to(at, Token::Comment);
                    return;
                }
                depth -= 1;
            } else if block.nests && bytes[at..].starts_with(open) {
                at += open.len();
                depth = depth.saturating_add(1);
            } else if block.starts_line {
                break;
            } else {
                at += 1;
            }
        }
        self.state.mode = Mode::Comment {
            block: number,
            depth,
        };
        self.cursor.all(Token::Comment);
    }

    pub fn directive(&mut self) -> bool {
        if !self.cursor.bytes()[..self.cursor.at]
            .iter()
            .all(|b| is_blank(*b))
        {
            return false;
        }
        let start = self.cursor.run(self.cursor.at + 1, is_blank);
        let end = self.cursor.run(start, is_word);
        self.cursor.to(end, Token::Keyword);
        if self.cursor.bytes()[start..end].starts_with(b"include") {
            self.cursor.blanks();
            if self.cursor.peek() == Some(b'<') {
                let close = self.cursor.run(self.cursor.at, |byte| byte != b'>');
                self.cursor
                    .to((close + 1).min(self.cursor.end), Token::Text);
            }
        }
        true
    }

    /// `[name]` alone at the start of a line, which a value of a list is not.
    pub fn section(&mut self) -> bool {
        if self.cursor.at != 0 || self.state.height > 0 {
            return false;
        }
        let name = |byte: u8| is_word(byte) || has("[]-.\"' :/*", byte);
        let end = self.cursor.run(0, name);
        let head = self.cursor.bytes()[..end].trim_ascii_end();
        let alone = self.cursor.next_solid(end).is_none_or(|byte| byte == b'#');
        let is_head = head.ends_with(b"]") && alone;
        if is_head {
            self.cursor.to(head.len(), Token::Heading);
        }
        is_head
    }

    pub fn escape(&mut self) -> bool {
        let end = self.cursor.after_char(self.cursor.at + 1);
        let more = self.cursor.at + 1 < self.cursor.end;
        if more {
            // To Lisp it is a char.
            let is_char = self.code.head_calls;
            self.cursor
                .to(end, if is_char { Token::Text } else { Token::Plain });
        }
        more
    }

    pub fn sigil(&mut self) -> bool {
        let before = self.cursor.before();
        for &(sigil, token) in self.code.sigils {
            if !self.cursor.starts_with(sigil) {
                continue;
            }
            let start = self.cursor.at + sigil.len();
            let first = self.cursor.byte_at(start);
            let named = first.is_some_and(|byte| match sigil {
                "$" => is_word_start(byte) || dollar(byte),
                "\\" => byte.is_ascii_alphabetic(),
                _ => is_word_start(byte),
            });
            let free = before.is_none_or(|b| !is_word(b) && b != b':' && b != b')' && b != b']');
            if !named || !free && !sigil.starts_with(['$', '\\']) {
                continue;
            }
            let mut end = match sigil.as_bytes()[0] {
                b'\\' => self.cursor.run(start, |byte| byte.is_ascii_alphabetic()),
                b'$' => self.cursor.run(start + 1, is_word),
                _ => self.word_end(start + 1),
            };
            // A decorator's path is painted whole.
            while token == Token::Function
                && self.cursor.byte_at(end) == Some(b'.')
                && self.cursor.byte_at(end + 1).is_some_and(is_word_start)
            {
                end = self.word_end(end + 1);
            }
            self.cursor.to(end, token);
            self.value = true;
            return true;
        }
        false
    }

    pub fn heredoc_start(&mut self) -> bool {
        let sign = self.code.heredoc;
        if sign.is_empty() || !self.cursor.starts_with(sign) || self.heredoc.is_some() {
            return false;
        }
        let mut start = self.cursor.at + sign.len();
        start = self
            .cursor
            .run(start, |byte| has("-~ ", byte))
            .min(start + 2);
        let quote = self.cursor.byte_at(start).filter(|byte| has("'\"", *byte));
        start += usize::from(quote.is_some());
        let end = self.cursor.run(start, is_word);
        // `1 << n` shifts; words of here-documents are written large.
        let large = self
            .cursor
            .byte_at(start)
            .is_some_and(|b| b.is_ascii_uppercase() || b == b'_');
        if end == start || !(large || quote.is_some()) || self.cursor.before() == Some(b'<') {
            return false;
        }
        self.heredoc = Some(fingerprint(&self.cursor.bytes()[start..end]));
        let closed = quote.is_some() && self.cursor.byte_at(end) == quote;
        self.cursor.to(end + usize::from(closed), Token::Text);
        true
    }

    pub fn heredoc_line(&mut self, word: u32) {
        let start = self.cursor.run(self.cursor.at, is_blank);
        let end = self.cursor.run(start, is_word);
        let alone = self.cursor.byte_at(end).is_none_or(|byte| !is_blank(byte));
        if end > start && alone && fingerprint(&self.cursor.bytes()[start..end]) == word {
            self.state.mode = Mode::Start;
            self.cursor.to(end, Token::Text);
        } else {
            self.cursor.all(Token::Text);
        }
    }
}

/// Bytes that `$` makes a variable of without a name.
fn dollar(byte: u8) -> bool {
    byte.is_ascii_digit() || has("?@#*!$&", byte)
}
