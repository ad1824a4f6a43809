//! Colours code, a line at a time, by tables of some fifty languages. Small and
//! fast enough to run in place on each line that is drawn, so that code is right
//! the first time it is seen; it knows words and brackets, not grammars.
//!
//! `syntect` with the grammars of `two-face` was measured at 0.4 to 8 µs a byte, and at 57 MB of memory
//! after five languages; this takes 10 ns a byte and builds nothing at start.

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

use language::{Family, Language};
use line_cursor::LineCursor;
use state::{EmbeddedEnd, EmbeddedLanguage, LexState};

/// Bytes of a line that are coloured; the rest of a longer one stays plain.
pub const LINE_BYTES_MAX: usize = 2_000;

/// Colours one block of code, line by line. It holds all that a line leaves open,
/// so a copy kept from before a half-received line can read that line again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Highlighter {
    language: &'static Language,
    state: LexState,
    embedded: Option<EmbeddedLanguage>,
}

impl Highlighter {
    /// For the first word of a fence's info string, such as `rust`, `py`, `c++`,
    /// `{.python}`, `js:app.js`, `src/main.rs`; `None` where the language is not known.
    pub fn new(info: &str) -> Option<Self> {
        let info = info.trim_start().trim_start_matches(['{', '.']);
        let separates = |c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '{' | '}');
        let word = info.split(separates).next()?;
        let word = word.strip_prefix("language-").unwrap_or(word);
        // A file's name says its language by its ending, or as a whole.
        let file = word.rsplit('/').next()?;
        let ending = file.rsplit('.').next()?;
        let language = [word, file, ending].into_iter().find_map(languages::find)?;
        Some(Self::from_language(language))
    }

    fn from_language(language: &'static Language) -> Self {
        let guest = match language.family {
            Family::Page(language) => Some(EmbeddedLanguage {
                language,
                state: LexState::default(),
                end: EmbeddedEnd::PageStart,
            }),
            _ => None,
        };
        Self {
            language,
            state: LexState::default(),
            embedded: guest,
        }
    }

    /// Appends (end byte within `line`, token) for consecutive stretches that cover
    /// `line` wholly, neighbours of one token merged; nothing for an empty line.
    /// `line` holds no `\n`. Beyond [`LINE_BYTES_MAX`] bytes it is plain, and the
    /// state stays as at the cut. All ends are char boundaries. O(len).
    pub fn highlight_line(&mut self, line: &str, out: &mut Vec<(u32, Token)>) {
        let cut = line.floor_char_boundary(LINE_BYTES_MAX);
        let mut cursor = LineCursor::new(line, out);
        cursor.end = cut;
        self.paint(&mut cursor);
        cursor.end = line.len();
        cursor.paint_rest(Token::Plain);
    }

    fn paint(&mut self, cursor: &mut LineCursor<'_>) {
        match self.language.family {
            Family::Markdown => markdown::lex(&mut self.state, &mut self.embedded, cursor),
            Family::Markup => markup::lex(None, &mut self.state, &mut self.embedded, cursor),
            Family::Page(code) => {
                markup::lex(Some(code), &mut self.state, &mut self.embedded, cursor)
            }
            family => lex_single_language(family, &mut self.state, cursor),
        }
    }
}

/// Paints all of `pen` in a language that takes in no other one.
fn lex_single_language(family: Family, state: &mut LexState, cursor: &mut LineCursor<'_>) {
    match family {
        Family::Code(code) => code::lex(code, state, cursor),
        Family::Css => css::lex(state, cursor),
        Family::Diff => line_languages::diff(state, cursor),
        Family::Ini => line_languages::ini(cursor),
        Family::Make(shell) => line_languages::make(shell, state, cursor),
        Family::Session(shell) => line_languages::session(shell, state, cursor),
        Family::Yaml => yaml::lex(state, cursor),
        // Inside another language a page is its markup alone.
        Family::Markdown => markdown::lex(state, &mut None, cursor),
        Family::Markup | Family::Page(_) => markup::lex(None, state, &mut None, cursor),
    }
}

/// The names of all languages, each once; for documentation and tests.
pub fn languages() -> impl Iterator<Item = &'static str> {
    languages::all().map(|language| language.name)
}
