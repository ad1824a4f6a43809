//! Colours code, a line at a time, by tables of some fifty languages. Small and
//! fast enough to run in place on each line that is drawn, so that code is right
//! the first time it is seen; it knows words and brackets, not grammars.

mod code;
mod css;
mod lines;
mod markdown;
mod markup;
mod pen;
mod quote;
mod signs;
mod state;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod words;
mod yaml;

use pen::Pen;
use state::{Guest, GuestEnd, State};
use table::{Family, Language};

/// Bytes of a line that are coloured; the rest of a longer one stays plain.
pub const LINE_BYTES_MAX: usize = 2_000;

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Token {
    #[default]
    Plain,
    Comment,
    /// A string, a char, a regex.
    Text,
    /// Also constants such as `true` and `None`.
    Number,
    Keyword,
    Type,
    Function,
    /// A key of data, an attribute, a property, a variable with a sigil.
    Key,
    Added,
    Removed,
    /// A diff's hunk, a section, a heading of Markdown.
    Heading,
}

/// Colours one block of code, line by line. It holds all that a line leaves open,
/// so a copy kept from before a half-received line can read that line again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Highlighter {
    language: &'static Language,
    state: State,
    guest: Option<Guest>,
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
        let language = [word, file, ending].into_iter().find_map(tables::find)?;
        Some(Self::of(language))
    }

    fn of(language: &'static Language) -> Self {
        let guest = match language.family {
            Family::Page(language) => Some(Guest {
                language,
                state: State::default(),
                end: GuestEnd::PageStart,
            }),
            _ => None,
        };
        Self {
            language,
            state: State::default(),
            guest,
        }
    }

    /// Appends (end byte within `line`, token) for consecutive stretches that cover
    /// `line` wholly, neighbours of one token merged; nothing for an empty line.
    /// `line` holds no `\n`. Beyond [`LINE_BYTES_MAX`] bytes it is plain, and the
    /// state stays as at the cut. All ends are char boundaries. O(len).
    pub fn line(&mut self, line: &str, out: &mut Vec<(u32, Token)>) {
        let cut = line.floor_char_boundary(LINE_BYTES_MAX);
        let mut pen = Pen::new(line, out);
        pen.end = cut;
        self.paint(&mut pen);
        pen.end = line.len();
        pen.all(Token::Plain);
    }

    fn paint(&mut self, pen: &mut Pen<'_>) {
        match self.language.family {
            Family::Markdown => markdown::lex(&mut self.state, &mut self.guest, pen),
            Family::Markup => markup::lex(None, &mut self.state, &mut self.guest, pen),
            Family::Page(code) => markup::lex(Some(code), &mut self.state, &mut self.guest, pen),
            family => plain_family(family, &mut self.state, pen),
        }
    }
}

/// Paints all of `pen` in a language that takes in no other one.
fn plain_family(family: Family, state: &mut State, pen: &mut Pen<'_>) {
    match family {
        Family::Code(code) => code::lex(code, state, pen),
        Family::Css => css::lex(state, pen),
        Family::Diff => lines::diff(state, pen),
        Family::Ini => lines::ini(pen),
        Family::Make(shell) => lines::make(shell, state, pen),
        Family::Session(shell) => lines::session(shell, state, pen),
        Family::Yaml => yaml::lex(state, pen),
        // Inside another language a page is its markup alone.
        Family::Markdown => markdown::lex(state, &mut None, pen),
        Family::Markup | Family::Page(_) => markup::lex(None, state, &mut None, pen),
    }
}

/// The names of all languages, each once; for documentation and tests.
pub fn languages() -> impl Iterator<Item = &'static str> {
    tables::all().map(|language| language.name)
}
