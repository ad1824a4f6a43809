//! Reads a language of comments, strings, numbers and words as its table says.
//! Each step paints at least one byte and looks ahead no further than it paints, or
//! a bounded number of times, so that a line costs O(len) whatever it holds.

use super::Token;
use super::keywords::{self, Word};
use super::language::{Capitals, Code};
use super::line_cursor::{LineCursor, is_blank, is_word, is_word_start, looked, number_end};
use super::state::{Mode, State};

pub(super) struct Lexer<'c, 'p, 'a> {
    pub code: &'c Code,
    pub state: &'p mut State,
    pub cursor: &'p mut LineCursor<'a>,
    /// The last thing was a value: a slash behind it divides, a quote transposes.
    pub value: bool,
    /// What the next word names.
    naming: Option<Token>,
    /// The next word is a command.
    pub head: bool,
    /// Text up to this word starts on the next line.
    pub heredoc: Option<u32>,
    /// No regex and no quoted words close on the rest of this line.
    pub unclosed: bool,
    /// A backslash stood last.
    pub line_goes_on: bool,
}

/// Paints what `pen` has left of the line, and says in `state` what stays open.
pub(super) fn lex(code: &Code, state: &mut State, cursor: &mut LineCursor<'_>) {
    let mut lexer = Lexer {
        code,
        head: code.commands && state.mode != Mode::Continued,
        state,
        cursor,
        value: false,
        naming: None,
        heredoc: None,
        unclosed: false,
        line_goes_on: false,
    };
    if matches!(lexer.state.mode, Mode::Start | Mode::Continued) {
        lexer.state.mode = Mode::Start;
        lexer.prompt();
    }
    while let Some(byte) = lexer.cursor.peek() {
        looked(1);
        match lexer.state.mode {
            Mode::Comment { block, depth } => lexer.comment(block, depth),
            Mode::Quote { rule, count, tag } => lexer.quote(rule, count, tag),
            Mode::Heredoc { word } => lexer.heredoc_line(word),
            _ => lexer.token(byte),
        }
    }
    lexer.end_of_line();
}

impl Lexer<'_, '_, '_> {
    fn prompt(&mut self) {
        for prompt in self.code.prompts {
            if self.cursor.at == 0 && self.cursor.starts_with(prompt) {
                self.cursor.take(prompt.len(), Token::Comment);
            }
        }
    }

    #[inline]
    fn token(&mut self, byte: u8) {
        if is_blank(byte) {
            self.cursor.blanks();
        } else if self.starts_word(byte) {
            self.word();
        } else if byte.is_ascii_digit() {
            let end = number_end(self.cursor.bytes(), self.cursor.at);
            // `3d-model` and `7z` are words to a shell.
            let end = self.held_end(end);
            self.cursor.to(end, Token::Number);
            (self.value, self.head, self.naming) = (true, false, None);
        } else if self.code.specials & (1 << (byte & 127)) == 0 || !self.special(byte) {
            self.punctuation(byte);
        }
    }

    #[inline]
    fn starts_word(&self, byte: u8) -> bool {
        is_word_start(byte) || !byte.is_ascii_digit() && has(self.code.word_starts, byte)
    }

    #[inline]
    pub fn word_end(&self, from: usize) -> usize {
        let end = self.held_end(from);
        let next = self.cursor.byte_at(end);
        // `name?` and `name!`, but `name!=`.
        let ends = next.is_some_and(|byte| has(self.code.word_ends, byte));
        end + usize::from(ends && self.cursor.byte_at(end + 1) != Some(b'='))
    }

    #[inline]
    fn held_end(&self, from: usize) -> usize {
        let holds = self.code.word_holds;
        match holds.is_empty() {
            true => self.cursor.run(from, is_word),
            false => self
                .cursor
                .run(from, |byte| is_word(byte) || has(holds, byte)),
        }
    }

    fn word(&mut self) {
        let start = self.cursor.at;
        let mut end = self.word_end(start + 1);
        let next = self.cursor.byte_at(end);
        if matches!(next, Some(b'"' | b'\'' | b'`' | b'#' | b'@')) && self.prefixed_quote(end) {
            return;
        }
        if !self.code.quote_words.is_empty() && self.quoted_words(end) {
            return;
        }
        let word = &self.cursor.bytes()[start..end];
        let token = self.classify(word, end);
        let bang = self.code.bang_calls && next == Some(b'!') && token != Token::Keyword;
        let called = self.cursor.byte_at(end + 1);
        if bang && matches!(called, Some(b'(' | b'[' | b'{' | b' ')) {
            end += 1;
            self.cursor.to(end, Token::Function);
        } else {
            self.cursor.to(end, token);
        }
    }

    /// What the word up to `end` is, and what it says of the next one.
    fn classify(&mut self, word: &[u8], end: usize) -> Token {
        let known = self.known(word);
        let named = match self.cursor.byte_at(end) {
            // `fn Type.name`: the name comes last.
            Some(b'.') => None,
            _ => self.naming.take(),
        };
        let head = std::mem::replace(&mut self.head, false);
        self.value = true;
        match known {
            Some(Word::Keyword) => self.keyword(None),
            Some(Word::NamesFunction) => self.keyword(Some(Token::Function)),
            Some(Word::NamesType) => self.keyword(Some(Token::Type)),
            Some(Word::Operand) => {
                self.keyword(None);
                self.head = false;
                Token::Keyword
            }
            _ if named.is_some() => named.unwrap_or_default(),
            Some(Word::Constant) => Token::Number,
            Some(Word::Type) => Token::Type,
            Some(Word::Function) => Token::Function,
            None => self.unknown(word, end, head),
        }
    }

    fn known(&self, word: &[u8]) -> Option<Word> {
        let known = keywords::find(self.code.words, word, self.code.folds_case)?;
        let before = &self.cursor.bytes()[..self.cursor.at];
        let member = before.ends_with(b".") && !before.ends_with(b"..");
        // `map.delete(…)` deletes nothing, and `git for` loops over nothing.
        let misplaced = member && word != b"await" && word != b"class"
            || self.code.commands && !self.head && word != b"in" && word != b"AS";
        (!misplaced).then_some(known)
    }

    fn keyword(&mut self, names: Option<Token>) -> Token {
        self.naming = names;
        self.value = false;
        self.head = self.code.commands;
        Token::Keyword
    }

    fn unknown(&mut self, word: &[u8], end: usize, head: bool) -> Token {
        let next = self.cursor.byte_at(end);
        if self.code.commands {
            return match (head, next) {
                (_, Some(b'=')) | (true, Some(b'+')) => Token::Key,
                (true, _) => Token::Function,
                _ => Token::Plain,
            };
        }
        if self.is_key(end) {
            return Token::Key;
        }
        let called = next == Some(b'(') && self.code.calls
            || self.code.head_calls && self.cursor.before() == Some(b'(');
        if self.code.dashed_calls && word.contains(&b'-') {
            return Token::Function;
        }
        if word[0].is_ascii_uppercase() && self.code.capitals != Capitals::Plain {
            let shouts = !word.iter().any(u8::is_ascii_lowercase);
            looked(word.len());
            return match called && self.code.capitals == Capitals::TypesUnlessCalled {
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

    /// Whether what ends at `end` is a key: `name =`, `name:`.
    pub fn is_key(&self, end: usize) -> bool {
        let code = self.code;
        if code.assigned_keys && self.cursor.next_solid(end) == Some(b'=') {
            let sign = self.cursor.run(end, is_blank);
            return !matches!(self.cursor.byte_at(sign + 1), Some(b'=' | b'>' | b'~'));
        }
        let next = self.cursor.byte_at(end);
        let behind = self.cursor.byte_at(end + 1);
        let colon = |wanted: bool| {
            wanted && next == Some(b':') && behind.is_none_or(|b| b != b':' && b != b'=')
        };
        colon(code.colon_keys)
            || code.quoted_keys && code.colon_keys && self.cursor.next_solid(end) == Some(b':')
    }

    fn punctuation(&mut self, byte: u8) {
        if let Some(frame) = self.state.frame() {
            let rule = self.code.quotes.get(usize::from(frame.rule));
            if let Some(inside) = rule.and_then(|rule| rule.inside) {
                if byte == inside.close {
                    self.state.unnest();
                } else if byte == inside.nests {
                    self.state.nest();
                }
            }
        }
        self.cursor.take(1, Token::Plain);
        self.value = matches!(byte, b')' | b']' | b'}');
        if byte != b'.' {
            self.naming = None;
        }
        if self.code.commands {
            let begins = matches!(byte, b'|' | b'&' | b';' | b'(' | b'`' | b'{' | b'!');
            self.head = begins;
        }
        self.line_goes_on = byte == b'\\' && self.cursor.peek().is_none();
    }

    /// What begins with a byte of [`Code::specials`]; false where nothing does.
    fn special(&mut self, byte: u8) -> bool {
        let painted = self.heredoc_start()
            || self.comment_start()
            || self.bare_quote(byte)
            || byte == b'\'' && self.code.chars && self.char_literal()
            || byte == b'#' && self.code.preprocessor && self.directive()
            || byte == b'[' && self.code.sections && self.section()
            || self.sigil()
            || byte == b'\\' && self.code.escapes && self.escape()
            || byte == self.code.percent && self.percent_literal()
            || byte == b'/' && self.code.regex && !self.value && self.regex();
        if painted {
            (self.head, self.naming) = (false, None);
        }
        painted
    }

    fn end_of_line(&mut self) {
        let rules = self.code.quotes;
        let ends = |rule: u8| rules.get(usize::from(rule)).is_none_or(|rule| !rule.lines);
        if !self.line_goes_on {
            self.state.leave_where(ends);
            if matches!(self.state.mode, Mode::Quote { rule, .. } if ends(rule)) {
                self.state.mode = Mode::Start;
            }
        }
        if self.state.mode == Mode::Start {
            if let Some(word) = self.heredoc {
                self.state.mode = Mode::Heredoc { word };
            } else if self.line_goes_on && self.code.commands {
                self.state.mode = Mode::Continued;
            }
        }
    }
}

#[inline]
pub(super) fn has(set: &str, byte: u8) -> bool {
    set.as_bytes().contains(&byte)
}
