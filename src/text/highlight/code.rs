//! Lexes languages that consist of comments, strings, numbers and words, according to their
//! [`CodeSyntax`]. Each step paints at least one byte. It looks ahead no further than it paints, or
//! only a bounded number of times per line, so any line costs O(len).

use super::Token;
use super::keywords::{self, KeywordKind};
use super::language::{CapitalizedNames, CodeSyntax};
use super::line_cursor::{
    LineCursor, count_examined, is_blank, is_word, is_word_start, number_end,
};
use super::state::{LexMode, LexState};

pub(super) struct CodeLexer<'c, 'p, 'a> {
    pub syntax: &'c CodeSyntax,
    pub state: &'p mut LexState,
    pub cursor: &'p mut LineCursor<'a>,
    /// The last token was a value, after which `/` divides and a quote transposes.
    pub is_after_value: bool,
    /// The token for the next word, if a keyword such as `fn` precedes it.
    next_name_token: Option<Token>,
    /// In a command language: the next word may be a command.
    pub is_at_command: bool,
    /// A here-document starts on the next line and ends at the word with this fingerprint.
    pub heredoc: Option<u32>,
    /// A regex, percent literal or quote operator was not closed on this line, so the line is not
    /// searched for more.
    pub has_unclosed_literal: bool,
    /// The line ended with a backslash.
    pub line_continues: bool,
}

/// Constructs that are still open are stored in `state`.
pub(super) fn lex(syntax: &CodeSyntax, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let mut lexer = CodeLexer {
        syntax,
        is_at_command: syntax.is_command_language && state.mode != LexMode::Continued,
        state,
        cursor,
        is_after_value: false,
        next_name_token: None,
        heredoc: None,
        has_unclosed_literal: false,
        line_continues: false,
    };
    if matches!(lexer.state.mode, LexMode::Start | LexMode::Continued) {
        lexer.state.mode = LexMode::Start;
        lexer.lex_prompt();
    }
    while let Some(byte) = lexer.cursor.peek() {
        count_examined(1);
        match lexer.state.mode {
            LexMode::Comment { block, depth } => lexer.lex_comment(block, depth),
            LexMode::String { syntax, count, tag } => lexer.lex_string_body(syntax, count, tag),
            LexMode::Heredoc { word } => lexer.lex_heredoc_line(word),
            _ => lexer.lex_token(byte),
        }
    }
    lexer.end_line();
}

impl CodeLexer<'_, '_, '_> {
    fn lex_prompt(&mut self) {
        for prompt in self.syntax.prompts {
            if self.cursor.position == 0 && self.cursor.starts_with(prompt) {
                self.cursor.paint_bytes(prompt.len(), Token::Comment);
            }
        }
    }

    #[inline]
    fn lex_token(&mut self, byte: u8) {
        if is_blank(byte) {
            self.cursor.paint_blanks();
        } else if self.starts_word(byte) {
            self.lex_word();
        } else if byte.is_ascii_digit() {
            let end = number_end(self.cursor.bytes(), self.cursor.position);
            // In a shell, words such as `7z` and `3d-model` start with a digit.
            let end = self.word_run_end(end);
            self.cursor.paint_to(end, Token::Number);
            (
                self.is_after_value,
                self.is_at_command,
                self.next_name_token,
            ) = (true, false, None);
        } else if self.syntax.special_bytes & (1 << (byte & 127)) == 0 || !self.lex_special(byte) {
            self.lex_punctuation(byte);
        }
    }

    #[inline]
    fn starts_word(&self, byte: u8) -> bool {
        is_word_start(byte)
            || !byte.is_ascii_digit() && contains_byte(self.syntax.extra_word_starts, byte)
    }

    #[inline]
    pub fn word_end(&self, from: usize) -> usize {
        let end = self.word_run_end(from);
        let next = self.cursor.byte_at(end);
        // `name?` and `name!` are words, but `name!=` compares.
        let is_extra_end =
            next.is_some_and(|byte| contains_byte(self.syntax.extra_word_ends, byte));
        end + usize::from(is_extra_end && self.cursor.byte_at(end + 1) != Some(b'='))
    }

    #[inline]
    fn word_run_end(&self, from: usize) -> usize {
        let extra_chars = self.syntax.extra_word_chars;
        match extra_chars.is_empty() {
            true => self.cursor.run_end(from, is_word),
            false => self.cursor.run_end(from, |byte| {
                is_word(byte) || contains_byte(extra_chars, byte)
            }),
        }
    }

    fn lex_word(&mut self) {
        let start = self.cursor.position;
        let mut end = self.word_end(start + 1);
        let next = self.cursor.byte_at(end);
        if matches!(next, Some(b'"' | b'\'' | b'`' | b'#' | b'@')) && self.lex_prefixed_string(end)
        {
            return;
        }
        let word = &self.cursor.bytes()[start..end];
        let token = self.classify(word, end);
        let has_bang = self.syntax.has_bang_calls && next == Some(b'!') && token != Token::Keyword;
        let after_bang = self.cursor.byte_at(end + 1);
        if has_bang && matches!(after_bang, Some(b'(' | b'[' | b'{' | b' ')) {
            end += 1;
            self.cursor.paint_to(end, Token::Function);
        } else {
            self.cursor.paint_to(end, token);
        }
    }

    /// Classifies the word, which ends at `end`, and records its effect on the next one.
    fn classify(&mut self, word: &[u8], end: usize) -> Token {
        let keyword = self.find_keyword(word);
        let name_token = match self.cursor.byte_at(end) {
            // In `fn Type.name`, the name comes last.
            Some(b'.') => None,
            _ => self.next_name_token.take(),
        };
        let was_at_command = std::mem::replace(&mut self.is_at_command, false);
        self.is_after_value = true;
        match keyword {
            Some(KeywordKind::Keyword) => self.record_keyword(None),
            Some(KeywordKind::NamesFunction) => self.record_keyword(Some(Token::Function)),
            Some(KeywordKind::NamesType) => self.record_keyword(Some(Token::Type)),
            Some(KeywordKind::TakesOperands) => {
                self.record_keyword(None);
                self.is_at_command = false;
                Token::Keyword
            }
            _ if name_token.is_some() => name_token.unwrap_or_default(),
            Some(KeywordKind::Constant) => Token::Number,
            Some(KeywordKind::Type) => Token::Type,
            Some(KeywordKind::Function) => Token::Function,
            None => self.classify_unknown(word, end, was_at_command),
        }
    }

    fn find_keyword(&self, word: &[u8]) -> Option<KeywordKind> {
        let keyword = keywords::find_keyword(self.syntax.keywords, word, self.syntax.folds_case)?;
        let before = &self.cursor.bytes()[..self.cursor.position];
        let is_member = before.ends_with(b".") && !before.ends_with(b"..");
        // In `map.delete(…)`, `delete` is a method, and in `git for`, `for` is an argument.
        let is_misplaced = is_member && word != b"await" && word != b"class"
            || self.syntax.is_command_language
                && !self.is_at_command
                && word != b"in"
                && word != b"AS";
        (!is_misplaced).then_some(keyword)
    }

    /// `next_name_token` is the token for the name that follows.
    fn record_keyword(&mut self, next_name_token: Option<Token>) -> Token {
        self.next_name_token = next_name_token;
        self.is_after_value = false;
        self.is_at_command = self.syntax.is_command_language;
        Token::Keyword
    }

    fn classify_unknown(&mut self, word: &[u8], end: usize, was_at_command: bool) -> Token {
        let next = self.cursor.byte_at(end);
        if self.syntax.is_command_language {
            return match (was_at_command, next) {
                (_, Some(b'=')) | (true, Some(b'+')) => Token::Key,
                (true, _) => Token::Function,
                _ => Token::Plain,
            };
        }
        if self.is_key(end) {
            return Token::Key;
        }
        let is_called = next == Some(b'(') && self.syntax.has_paren_calls;
        if self.syntax.has_dashed_calls && word.contains(&b'-') {
            return Token::Function;
        }
        if word[0].is_ascii_uppercase() && self.syntax.capitals != CapitalizedNames::Plain {
            let is_all_caps = !word.iter().any(u8::is_ascii_lowercase);
            count_examined(word.len());
            return match is_called && self.syntax.capitals == CapitalizedNames::TypesUnlessCalled {
                true => Token::Function,
                false if is_all_caps && is_called => Token::Function,
                false if is_all_caps && word.len() > 1 => Token::Number,
                false => Token::Type,
            };
        }
        match is_called {
            true => Token::Function,
            false => Token::Plain,
        }
    }

    /// Whether the token that ends at `end` is a key, as in `name =` and `name:`.
    pub fn is_key(&self, end: usize) -> bool {
        let syntax = self.syntax;
        if syntax.has_assigned_keys && self.cursor.next_non_blank(end) == Some(b'=') {
            let equals_sign = self.cursor.run_end(end, is_blank);
            return !matches!(
                self.cursor.byte_at(equals_sign + 1),
                Some(b'=' | b'>' | b'~')
            );
        }
        let next = self.cursor.byte_at(end);
        let after_next = self.cursor.byte_at(end + 1);
        let is_before_colon =
            next == Some(b':') && after_next.is_none_or(|byte| byte != b':' && byte != b'=');
        let may_precede_blanks = syntax.has_quoted_keys;
        syntax.has_colon_keys
            && (is_before_colon
                || may_precede_blanks && self.cursor.next_non_blank(end) == Some(b':'))
    }

    fn lex_punctuation(&mut self, byte: u8) {
        if let Some(frame) = self.state.innermost_frame() {
            let string = self.syntax.strings.get(usize::from(frame.string_syntax));
            if let Some(interpolation) = string.and_then(|string| string.interpolation) {
                if byte == interpolation.close_bracket {
                    self.state.close_bracket();
                } else if byte == interpolation.open_bracket {
                    self.state.open_bracket();
                }
            }
        }
        self.cursor.paint_bytes(1, Token::Plain);
        self.is_after_value = matches!(byte, b')' | b']' | b'}');
        if byte != b'.' {
            self.next_name_token = None;
        }
        if self.syntax.is_command_language {
            let starts_command = matches!(byte, b'|' | b'&' | b';' | b'(' | b'`' | b'{' | b'!');
            self.is_at_command = starts_command;
        }
        self.line_continues = byte == b'\\' && self.cursor.peek().is_none();
    }

    /// Lexes a construct that starts with a byte of [`CodeSyntax::special_bytes`]. Returns whether
    /// it found one.
    fn lex_special(&mut self, byte: u8) -> bool {
        let is_lexed = self.lex_heredoc_start()
            || self.lex_comment_start()
            || self.lex_unprefixed_string(byte)
            || byte == b'\'' && self.syntax.has_char_literals && self.lex_char_literal()
            || byte == b'#' && self.syntax.has_preprocessor && self.lex_directive()
            || byte == b'[' && self.syntax.has_section_headers && self.lex_section_header()
            || self.lex_sigil()
            || byte == b'\\' && self.syntax.has_bare_escapes && self.lex_escape()
            || byte == self.syntax.percent_literal_byte && self.lex_percent_literal()
            || byte == b'/'
                && self.syntax.has_regex_literals
                && !self.is_after_value
                && self.lex_regex();
        if is_lexed {
            (self.is_at_command, self.next_name_token) = (false, None);
        }
        is_lexed
    }

    fn end_line(&mut self) {
        let strings = self.syntax.strings;
        let ends_with_line = |index: u8| {
            strings
                .get(usize::from(index))
                .is_none_or(|string| !string.is_multiline)
        };
        if !self.line_continues {
            self.state.leave_strings_where(ends_with_line);
            if matches!(self.state.mode, LexMode::String { syntax, .. } if ends_with_line(syntax)) {
                self.state.mode = LexMode::Start;
            }
        }
        if self.state.mode == LexMode::Start {
            if let Some(word) = self.heredoc {
                self.state.mode = LexMode::Heredoc { word };
            } else if self.line_continues && self.syntax.is_command_language {
                self.state.mode = LexMode::Continued;
            }
        }
    }
}

#[inline]
pub(super) fn contains_byte(set: &str, byte: u8) -> bool {
    set.as_bytes().contains(&byte)
}
