//! Highlights code line by line from tables for almost sixty languages. It recognizes words, strings
//! and brackets rather than grammars, and is fast enough to run on each line as it is drawn, so
//! code is colored from its first frame.
//!
//! `syntect` with the grammars of `two-face` took 0.4 to 8 µs per byte and 57 MB of memory after
//! five languages; this takes 10 ns per byte and builds nothing at startup.

mod code;
mod css;
mod keywords;
mod language;
mod languages;
mod line_cursor;
mod line_languages;
mod markdown;
mod markup;
mod punctuation;
mod state;
mod string_literal;
#[cfg(test)]
mod tests;
mod token;
mod yaml;

pub use token::Token;

use language::{Language, LexerKind};
use line_cursor::LineCursor;
use state::{EmbeddedEnd, EmbeddedLanguage, LexState};

/// Maximum number of bytes of a line that are highlighted; the rest of a longer line is plain.
pub const LINE_BYTES_MAX: usize = 2_000;

/// Highlights one block of code. Contains all state that crosses lines, so a partial line can be
/// highlighted again from a copy made before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Highlighter {
    language: &'static Language,
    state: LexState,
    embedded: Option<EmbeddedLanguage>,
}

impl Highlighter {
    /// Selects the language by the first word of the info string of a fence, such as `rust`, `py`,
    /// `c++`, `{.python}`, `js:app.js` or `src/main.rs`. `None` if the language is unknown.
    pub fn new(info: &str) -> Option<Self> {
        let info = info.trim_start().trim_start_matches(['{', '.']);
        let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '{' | '}');
        let word = info.split(is_separator).next()?;
        let word = word.strip_prefix("language-").unwrap_or(word);
        // A file name selects the language as a whole or by its extension.
        let file_name = word.rsplit('/').next()?;
        let extension = file_name.rsplit('.').next()?;
        let language = [word, file_name, extension]
            .into_iter()
            .find_map(languages::find)?;
        Some(Self::from_language(language))
    }

    fn from_language(language: &'static Language) -> Self {
        let embedded = match language.lexer {
            LexerKind::Page(language) => Some(EmbeddedLanguage {
                language,
                state: LexState::default(),
                end: EmbeddedEnd::PageStart,
            }),
            _ => None,
        };
        Self {
            language,
            state: LexState::default(),
            embedded,
        }
    }

    /// Appends `(end byte within line, token)` for consecutive spans that cover all of `line`,
    /// which contains no `\n`. Adjacent spans have different tokens, and an empty line has no
    /// spans. All ends are char boundaries. Text beyond [`LINE_BYTES_MAX`] bytes is plain and does
    /// not affect the state. O(len).
    pub fn highlight_line(&mut self, line: &str, out: &mut Vec<(u32, Token)>) {
        let mut cursor = LineCursor::new(line, out);
        cursor.end = line.floor_char_boundary(LINE_BYTES_MAX);
        self.paint(&mut cursor);
        cursor.end = line.len();
        cursor.paint_rest(Token::Plain);
    }

    fn paint(&mut self, cursor: &mut LineCursor<'_>) {
        match self.language.lexer {
            LexerKind::Markdown => markdown::lex(&mut self.state, &mut self.embedded, cursor),
            LexerKind::Markup => markup::lex(None, &mut self.state, &mut self.embedded, cursor),
            LexerKind::Page(page_language) => markup::lex(
                Some(page_language),
                &mut self.state,
                &mut self.embedded,
                cursor,
            ),
            lexer => lex_single_language(lexer, &mut self.state, cursor),
        }
    }
}

/// Paints the rest of the line in a language, ignoring languages embedded in it.
fn lex_single_language(lexer: LexerKind, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    match lexer {
        LexerKind::Code(syntax) => code::lex(syntax, state, cursor),
        LexerKind::Css => css::lex(state, cursor),
        LexerKind::Diff => line_languages::lex_diff(state, cursor),
        LexerKind::Ini => line_languages::lex_ini(cursor),
        LexerKind::Make(shell) => line_languages::lex_make(shell, state, cursor),
        LexerKind::Session(shell) => line_languages::lex_session(shell, state, cursor),
        LexerKind::Yaml => yaml::lex(state, cursor),
        // An embedded language contains no further languages.
        LexerKind::Markdown => markdown::lex(state, &mut None, cursor),
        LexerKind::Markup | LexerKind::Page(_) => markup::lex(None, state, &mut None, cursor),
    }
}

/// The names of all languages, without aliases.
pub fn languages() -> impl Iterator<Item = &'static str> {
    languages::all().map(|language| language.name)
}
