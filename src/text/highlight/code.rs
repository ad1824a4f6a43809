//! Lexes languages of comments, strings, numbers and words, driven by their tables. Each step
//! paints at least one byte, and looks ahead no further than it paints or a bounded number of
//! times, so a line costs O(len) whatever it contains.

use super::Token;
use super::keywords::{self, KeywordKind};
use super::language::{CapitalizedNames, CodeSyntax};
use super::line_cursor::{
    LineCursor, count_examined, is_blank, is_word, is_word_start, number_end,
};
use super::state::{LexMode, LexState};

pub(super) struct CodeLexer<'c, 'p, 'a> {
    pub code: &'c CodeSyntax,
    pub state: &'p mut LexState,
    pub cursor: &'p mut LineCursor<'a>,
    /// The last token was a value: `/` after it divides, a quote transposes.
    pub after_value: bool,
    /// The token for the next word, if a keyword introduced it.
    next_name: Option<Token>,
    pub at_command: bool,
    /// A here-document up to this word starts on the next line.
    pub heredoc: Option<u32>,
    /// No regex or quote operator closes on the rest of this line.
    pub no_more_closings: bool,
    /// The line ended with a backslash.
    pub line_continues: bool,
}

/// Paints the rest of the line and leaves what stays open in `state`.
pub(super) fn lex(code: &CodeSyntax, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    let mut lexer = CodeLexer {
        code,
        at_command: code.is_command_language && state.mode != LexMode::Continued,
        state,
        cursor,
        after_value: false,
        next_name: None,
        heredoc: None,
        no_more_closings: false,
        line_continues: false,
    };
    if matches!(lexer.state.mode, LexMode::Start | LexMode::Continued) {
        lexer.state.mode = LexMode::Start;
        lexer.prompt();
    }
    while let Some(byte) = lexer.cursor.peek() {
        count_examined(1);
        match lexer.state.mode {
            LexMode::Comment { block, depth } => lexer.comment(block, depth),
            LexMode::String { rule, count, tag } => lexer.string_body(rule, count, tag),
            LexMode::Heredoc { word } => lexer.heredoc_line(word),
            _ => lexer.token(byte),
        }
    }
    lexer.end_of_line();
}

impl CodeLexer<'_, '_, '_> {
    fn prompt(&mut self) {
        for prompt in self.code.prompts {
            if self.cursor.position == 0 && self.cursor.starts_with(prompt) {
                self.cursor.paint_bytes(prompt.len(), Token::Comment);
            }
        }
    }

    #[inline]
    fn token(&mut self, byte: u8) {
        if is_blank(byte) {
            self.cursor.paint_blanks();
        } else if self.starts_word(byte) {
            self.word();
        } else if byte.is_ascii_digit() {
            let end = number_end(self.cursor.bytes(), self.cursor.position);
            // `3d-model` and `7z` are words in a shell.
            let end = self.word_run_end(end);
            self.cursor.paint_to(end, Token::Number);
            (self.after_value, self.at_command, self.next_name) = (true, false, None);
        } else if self.code.special_bytes & (1 << (byte & 127)) == 0 || !self.special(byte) {
            self.punctuation(byte);
        }
    }

    #[inline]
    fn starts_word(&self, byte: u8) -> bool {
        is_word_start(byte)
            || !byte.is_ascii_digit() && contains_byte(self.code.extra_word_starts, byte)
    }

    #[inline]
    pub fn word_end(&self, from: usize) -> usize {
        let end = self.word_run_end(from);
        let next = self.cursor.byte_at(end);
        // `name?` and `name!`, but `name!=`.
        let ends = next.is_some_and(|byte| contains_byte(self.code.extra_word_ends, byte));
        end + usize::from(ends && self.cursor.byte_at(end + 1) != Some(b'='))
    }

    #[inline]
    fn word_run_end(&self, from: usize) -> usize {
        let holds = self.code.extra_word_chars;
        match holds.is_empty() {
            true => self.cursor.run_end(from, is_word),
            false => self
                .cursor
                .run_end(from, |byte| is_word(byte) || contains_byte(holds, byte)),
        }
    }

    fn word(&mut self) {
        let start = self.cursor.position;
        let mut end = self.word_end(start + 1);
        let next = self.cursor.byte_at(end);
        if matches!(next, Some(b'"' | b'\'' | b'`' | b'#' | b'@')) && self.prefixed_string(end) {
            return;
        }
        if !self.code.quote_operators.is_empty() && self.quote_operator(end) {
            return;
        }
        let word = &self.cursor.bytes()[start..end];
        let token = self.classify(word, end);
        let bang = self.code.has_bang_calls && next == Some(b'!') && token != Token::Keyword;
        let called = self.cursor.byte_at(end + 1);
        if bang && matches!(called, Some(b'(' | b'[' | b'{' | b' ')) {
            end += 1;
            self.cursor.paint_to(end, Token::Function);
        } else {
            self.cursor.paint_to(end, token);
        }
    }

    /// Classifies the word up to `end`, and notes what it implies for the next one.
    fn classify(&mut self, word: &[u8], end: usize) -> Token {
        let keyword = self.find_keyword(word);
        let named = match self.cursor.byte_at(end) {
            // `fn Type.name`: the name comes last.
            Some(b'.') => None,
            _ => self.next_name.take(),
        };
        let is_first = std::mem::replace(&mut self.at_command, false);
        self.after_value = true;
        match keyword {
            Some(KeywordKind::Keyword) => self.keyword(None),
            Some(KeywordKind::NamesFunction) => self.keyword(Some(Token::Function)),
            Some(KeywordKind::NamesType) => self.keyword(Some(Token::Type)),
            Some(KeywordKind::Operand) => {
                self.keyword(None);
                self.at_command = false;
                Token::Keyword
            }
            _ if named.is_some() => named.unwrap_or_default(),
            Some(KeywordKind::Constant) => Token::Number,
            Some(KeywordKind::Type) => Token::Type,
            Some(KeywordKind::Function) => Token::Function,
            None => self.classify_unknown(word, end, is_first),
        }
    }

    fn find_keyword(&self, word: &[u8]) -> Option<KeywordKind> {
        let known = keywords::find_keyword(self.code.keywords, word, self.code.folds_case)?;
        let before = &self.cursor.bytes()[..self.cursor.position];
        let member = before.ends_with(b".") && !before.ends_with(b"..");
        // `map.delete(…)` is a method call, and the `for` of `git for` is an argument.
        let misplaced = member && word != b"await" && word != b"class"
            || self.code.is_command_language && !self.at_command && word != b"in" && word != b"AS";
        (!misplaced).then_some(known)
    }

    fn keyword(&mut self, names: Option<Token>) -> Token {
        self.next_name = names;
        self.after_value = false;
        self.at_command = self.code.is_command_language;
        Token::Keyword
    }

    fn classify_unknown(&mut self, word: &[u8], end: usize, is_first: bool) -> Token {
        let next = self.cursor.byte_at(end);
        if self.code.is_command_language {
            return match (is_first, next) {
                (_, Some(b'=')) | (true, Some(b'+')) => Token::Key,
                (true, _) => Token::Function,
                _ => Token::Plain,
            };
        }
        if self.is_key(end) {
            return Token::Key;
        }
        let called = next == Some(b'(') && self.code.has_paren_calls
            || self.code.has_lisp_calls && self.cursor.previous_byte() == Some(b'(');
        if self.code.has_dashed_calls && word.contains(&b'-') {
            return Token::Function;
        }
        if word[0].is_ascii_uppercase() && self.code.capitals != CapitalizedNames::Plain {
            let shouts = !word.iter().any(u8::is_ascii_lowercase);
            count_examined(word.len());
            return match called && self.code.capitals == CapitalizedNames::TypesUnlessCalled {
                true => Token::Function,
                false if shouts && called => Token::Function,
                false if shouts && word.len() > 1 => Token::Number,
                false => Token::Type,
            };
        }
        match called {
            true => Token::Function,
            false => Token::Plain,
        }
    }

    /// Whether the token that ends at `end` is a key: `name =`, `name:`.
    pub fn is_key(&self, end: usize) -> bool {
        let code = self.code;
        if code.has_assigned_keys && self.cursor.next_non_blank(end) == Some(b'=') {
            let sign = self.cursor.run_end(end, is_blank);
            return !matches!(self.cursor.byte_at(sign + 1), Some(b'=' | b'>' | b'~'));
        }
        let next = self.cursor.byte_at(end);
        let behind = self.cursor.byte_at(end + 1);
        let colon = |wanted: bool| {
            wanted && next == Some(b':') && behind.is_none_or(|b| b != b':' && b != b'=')
        };
        colon(code.has_colon_keys)
            || code.has_quoted_keys
                && code.has_colon_keys
                && self.cursor.next_non_blank(end) == Some(b':')
    }

    fn punctuation(&mut self, byte: u8) {
        if let Some(frame) = self.state.innermost_frame() {
            let rule = self.code.strings.get(usize::from(frame.string_rule));
            if let Some(inside) = rule.and_then(|rule| rule.interpolation) {
                if byte == inside.close_bracket {
                    self.state.close_bracket();
                } else if byte == inside.open_bracket {
                    self.state.open_bracket();
                }
            }
        }
        self.cursor.paint_bytes(1, Token::Plain);
        self.after_value = matches!(byte, b')' | b']' | b'}');
        if byte != b'.' {
            self.next_name = None;
        }
        if self.code.is_command_language {
            let starts_command = matches!(byte, b'|' | b'&' | b';' | b'(' | b'`' | b'{' | b'!');
            self.at_command = starts_command;
        }
        self.line_continues = byte == b'\\' && self.cursor.peek().is_none();
    }

    /// Lexes a construct that starts with a byte of [`CodeSyntax::special_bytes`]; false if there
    /// is none.
    fn special(&mut self, byte: u8) -> bool {
        let painted = self.heredoc_start()
            || self.comment_start()
            || self.unprefixed_string(byte)
            || byte == b'\'' && self.code.has_char_literals && self.char_literal()
            || byte == b'#' && self.code.has_preprocessor && self.directive()
            || byte == b'[' && self.code.has_section_headers && self.section()
            || self.sigil()
            || byte == b'\\' && self.code.has_bare_escapes && self.escape()
            || byte == self.code.percent_literal_byte && self.percent_literal()
            || byte == b'/' && self.code.has_regex_literals && !self.after_value && self.regex();
        if painted {
            (self.at_command, self.next_name) = (false, None);
        }
        painted
    }

    fn end_of_line(&mut self) {
        let rules = self.code.strings;
        let ends = |rule: u8| {
            rules
                .get(usize::from(rule))
                .is_none_or(|rule| !rule.is_multiline)
        };
        if !self.line_continues {
            self.state.leave_strings_where(ends);
            if matches!(self.state.mode, LexMode::String { rule, .. } if ends(rule)) {
                self.state.mode = LexMode::Start;
            }
        }
        if self.state.mode == LexMode::Start {
            if let Some(word) = self.heredoc {
                self.state.mode = LexMode::Heredoc { word };
            } else if self.line_continues && self.code.is_command_language {
                self.state.mode = LexMode::Continued;
            }
        }
    }
}

#[inline]
pub(super) fn contains_byte(set: &str, byte: u8) -> bool {
    set.as_bytes().contains(&byte)
}
