//! Lexes constructs that start with punctuation: comments, preprocessor directives, section
//! headers, sigils, escapes and here-documents.

use super::Token;
use super::code::{CodeLexer, contains_byte};
use super::line_cursor::{count_examined, fingerprint, is_blank, is_word, is_word_start};
use super::state::LexMode;

impl CodeLexer<'_, '_, '_> {
    /// Lexes the start of a block comment, or a line comment. Returns whether there is one.
    pub fn lex_comment_start(&mut self) -> bool {
        let before = self.cursor.previous_byte();
        for (index, block) in self.syntax.block_comments.iter().enumerate() {
            if self.cursor.starts_with(block.open) && !(block.is_at_line_start && before.is_some())
            {
                self.cursor.paint_bytes(block.open.len(), Token::Comment);
                self.state.mode = LexMode::Comment {
                    block: index as u8,
                    depth: 0,
                };
                return true;
            }
        }
        // No line comment starts in interpolated code: it would include the end of the string.
        let is_detached = before.is_none_or(|byte| is_blank(byte) || matches!(byte, b';' | b'('));
        let may_start =
            self.state.frame_count == 0 && (is_detached || !self.syntax.comments_need_space);
        let is_comment = may_start
            && self
                .syntax
                .line_comments
                .iter()
                .any(|start| self.cursor.starts_with(start));
        if is_comment {
            self.cursor.paint_rest(Token::Comment);
        }
        is_comment
    }

    /// Paints the open block comment up to its end, or to the end of the line. `index` is its index
    /// in `CodeSyntax::block_comments`.
    pub fn lex_comment(&mut self, index: u8, mut depth: u16) {
        let Some(block) = self.syntax.block_comments.get(usize::from(index)) else {
            self.state.mode = LexMode::Start;
            return;
        };
        let (open, close) = (block.open.as_bytes(), block.close.as_bytes());
        let bytes = self.cursor.bytes();
        let mut end = self.cursor.position;
        while end < bytes.len() {
            count_examined(1);
            if bytes[end] == close[0] && bytes[end..].starts_with(close) {
                end += close.len();
                if depth == 0 {
                    self.state.mode = LexMode::Start;
                    self.cursor.paint_to(end, Token::Comment);
                    return;
                }
                depth -= 1;
            } else if block.is_nestable && bytes[end..].starts_with(open) {
                end += open.len();
                depth = depth.saturating_add(1);
            } else if block.is_at_line_start {
                break;
            } else {
                end += 1;
            }
        }
        self.state.mode = LexMode::Comment {
            block: index,
            depth,
        };
        self.cursor.paint_rest(Token::Comment);
    }

    pub fn lex_directive(&mut self) -> bool {
        if !self.cursor.bytes()[..self.cursor.position]
            .iter()
            .all(|b| is_blank(*b))
        {
            return false;
        }
        let start = self.cursor.run_end(self.cursor.position + 1, is_blank);
        let end = self.cursor.run_end(start, is_word);
        self.cursor.paint_to(end, Token::Keyword);
        if self.cursor.bytes()[start..end].starts_with(b"include") {
            self.cursor.paint_blanks();
            if self.cursor.peek() == Some(b'<') {
                let close = self
                    .cursor
                    .run_end(self.cursor.position, |byte| byte != b'>');
                self.cursor
                    .paint_to((close + 1).min(self.cursor.end), Token::String);
            }
        }
        true
    }

    /// Lexes a section header: `[name]` alone on its line. With a comma after it, it is an item of
    /// a list.
    pub fn lex_section_header(&mut self) -> bool {
        if self.cursor.position != 0 || self.state.frame_count > 0 {
            return false;
        }
        let is_name = |byte: u8| is_word(byte) || contains_byte("[]-.\"' :/*", byte);
        let end = self.cursor.run_end(0, is_name);
        let header = self.cursor.bytes()[..end].trim_ascii_end();
        let ends_line = self
            .cursor
            .next_non_blank(end)
            .is_none_or(|byte| byte == b'#');
        let is_header = header.ends_with(b"]") && ends_line;
        if is_header {
            self.cursor.paint_to(header.len(), Token::Heading);
        }
        is_header
    }

    pub fn lex_escape(&mut self) -> bool {
        let end = self.cursor.char_end(self.cursor.position + 1);
        let has_escaped_char = self.cursor.position + 1 < self.cursor.end;
        if has_escaped_char {
            self.cursor.paint_to(end, Token::Plain);
        }
        has_escaped_char
    }

    pub fn lex_sigil(&mut self) -> bool {
        let before = self.cursor.previous_byte();
        for &(sigil, token) in self.syntax.sigils {
            if !self.cursor.starts_with(sigil) {
                continue;
            }
            let start = self.cursor.position + sigil.len();
            let first = self.cursor.byte_at(start);
            let has_name = first.is_some_and(|byte| match sigil {
                "$" => is_word_start(byte) || is_special_variable(byte),
                "\\" => byte.is_ascii_alphabetic(),
                _ => is_word_start(byte),
            });
            let is_detached =
                before.is_none_or(|b| !is_word(b) && b != b':' && b != b')' && b != b']');
            if !has_name || !is_detached && !sigil.starts_with(['$', '\\']) {
                continue;
            }
            let mut end = match sigil.as_bytes()[0] {
                b'\\' => self
                    .cursor
                    .run_end(start, |byte| byte.is_ascii_alphabetic()),
                b'$' => self.cursor.run_end(start + 1, is_word),
                _ => self.word_end(start + 1),
            };
            // A decorator includes the path after its name.
            while token == Token::Function
                && self.cursor.byte_at(end) == Some(b'.')
                && self.cursor.byte_at(end + 1).is_some_and(is_word_start)
            {
                end = self.word_end(end + 1);
            }
            self.cursor.paint_to(end, token);
            self.is_after_value = true;
            return true;
        }
        false
    }

    pub fn lex_heredoc_start(&mut self) -> bool {
        let operator = self.syntax.heredoc_start;
        if operator.is_empty() || !self.cursor.starts_with(operator) || self.heredoc.is_some() {
            return false;
        }
        let mut start = self.cursor.position + operator.len();
        start = self
            .cursor
            .run_end(start, |byte| contains_byte("-~ ", byte))
            .min(start + 2);
        let quote = self
            .cursor
            .byte_at(start)
            .filter(|byte| contains_byte("'\"", *byte));
        start += usize::from(quote.is_some());
        let end = self.cursor.run_end(start, is_word);
        // `1 << n` shifts, so an unquoted word must begin with an uppercase letter or `_`.
        let is_uppercase = self
            .cursor
            .byte_at(start)
            .is_some_and(|b| b.is_ascii_uppercase() || b == b'_');
        if end == start
            || !(is_uppercase || quote.is_some())
            || self.cursor.previous_byte() == Some(b'<')
        {
            return false;
        }
        self.heredoc = Some(fingerprint(&self.cursor.bytes()[start..end]));
        let is_closed = quote.is_some() && self.cursor.byte_at(end) == quote;
        self.cursor
            .paint_to(end + usize::from(is_closed), Token::String);
        true
    }

    /// Paints a line of a here-document, or the word that ends it, which has the fingerprint
    /// `end_fingerprint`.
    pub fn lex_heredoc_line(&mut self, end_fingerprint: u32) {
        let start = self.cursor.run_end(self.cursor.position, is_blank);
        let end = self.cursor.run_end(start, is_word);
        let is_followed_by_blank = self.cursor.byte_at(end).is_some_and(is_blank);
        if end > start
            && !is_followed_by_blank
            && fingerprint(&self.cursor.bytes()[start..end]) == end_fingerprint
        {
            self.state.mode = LexMode::Start;
            self.cursor.paint_to(end, Token::String);
        } else {
            self.cursor.paint_rest(Token::String);
        }
    }
}

/// Whether `$` and `byte` form a special variable, such as `$?` and `$1`.
fn is_special_variable(byte: u8) -> bool {
    byte.is_ascii_digit() || contains_byte("?@#*!$&", byte)
}
