//! What a language is, as data: its names, its comments, its strings, its words.
//! The lexers read these tables; no language has code of its own where a table does.

use super::Token;
use super::keywords::Slot;
use std::fmt;

/// A language and the lexer that reads it.
pub(super) struct Language {
    pub name: &'static str,
    /// Other names that fences use, and endings of files.
    pub aliases: &'static [&'static str],
    pub family: Family,
}

#[derive(Clone, Copy)]
pub(super) enum Family {
    Code(&'static Code),
    Css,
    Diff,
    Ini,
    Make(&'static Code),
    Markdown,
    Markup,
    /// Code inside a page: markup until `<?`, then the code until `?>`.
    Page(&'static Language),
    /// Commands behind a prompt; all other lines are output.
    Session(&'static Code),
    Yaml,
}

// There is one table a language: its name stands for it.
impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for Language {}
impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A language that is comments, strings, numbers and words.
#[derive(Clone, Copy)]
pub(super) struct Code {
    /// Comment to the line's end.
    pub comments: &'static [&'static str],
    /// Such a comment starts only behind a blank: `a#b` is a word in a shell.
    pub comments_spaced: bool,
    pub blocks: &'static [Block],
    /// Longer openings before those that they start with.
    pub quotes: &'static [Quote],
    pub words: &'static [Slot],
    pub folds_case: bool,
    /// Bytes besides letters, digits and `_` that a word may start with, hold, or end in.
    pub word_starts: &'static str,
    pub word_holds: &'static str,
    pub word_ends: &'static str,
    pub capitals: Capitals,
    /// `'a'` is a char, `'a` is not an open string but a type's name.
    pub chars: bool,
    /// `don't`: a quote behind a letter opens nothing.
    pub apostrophes: bool,
    /// `name(` calls.
    pub calls: bool,
    /// `name!(` calls.
    pub bang_calls: bool,
    /// `Get-Item` calls.
    pub dashed_calls: bool,
    /// `(name` calls.
    pub head_calls: bool,
    /// The first word of a command calls; `-x` is an option.
    pub commands: bool,
    /// `name =` and `name:` are keys; so is a string before a colon.
    pub assigned_keys: bool,
    pub colon_keys: bool,
    pub quoted_keys: bool,
    /// `[name]` alone on its line.
    pub sections: bool,
    /// A start and the word right behind it; longer starts first.
    pub sigils: &'static [(&'static str, Token)],
    /// `#include` at the start of a line.
    pub preprocessor: bool,
    /// A backslash outside of strings takes the next char with it.
    pub escapes: bool,
    /// `/…/` where a value may stand.
    pub regex: bool,
    /// `<<WORD` or `<<<WORD`: lines of text up to that word.
    pub heredoc: &'static str,
    /// `%w[…]` or `~r/…/`: the byte before the letter; 0 where there is none.
    pub percent: u8,
    /// Words such as Perl's `qw` before a delimiter of the writer's choice.
    pub quote_words: &'static [&'static str],
    /// What an interactive session writes before the code.
    pub prompts: &'static [&'static str],
    /// Bytes that may begin something; a bit a byte, made by [`Code::indexed`].
    pub specials: u128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capitals {
    Plain,
    /// `Name` is a type, also before `(`.
    Types,
    /// `Name` is a type, `Name(` calls.
    TypesUnlessCalled,
}

/// A comment over lines.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub open: &'static str,
    pub close: &'static str,
    pub nests: bool,
    /// Opens and closes only at the start of a line.
    pub starts_line: bool,
}

/// A string.
#[derive(Clone, Copy)]
pub(super) struct Quote {
    /// Words right before the quote, in any case; the empty one is no word.
    pub prefixes: &'static [&'static str],
    pub open: &'static str,
    pub close: &'static str,
    pub form: Form,
    /// Takes the next byte with it; 0 where nothing does. A doubled quote needs no
    /// rule: two strings side by side are painted as one.
    pub escape: u8,
    /// Goes on over line ends.
    pub lines: bool,
    /// `$name` is painted.
    pub variables: bool,
    pub inside: Option<Inside>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// `#`s before the opening and behind the closing quote; at least so many.
    Hashes(u8),
    /// `[==[` and `]==]`.
    Levels,
    /// `"tag(` and `)tag"`.
    Tagged,
}

/// Code inside a string, such as `${…}`.
#[derive(Clone, Copy)]
pub(super) struct Inside {
    pub open: &'static str,
    pub nests: u8,
    pub close: u8,
}

pub(super) const DOLLAR_BRACE: Option<Inside> = inside("${", b'{', b'}');
pub(super) const HASH_BRACE: Option<Inside> = inside("#{", b'{', b'}');
pub(super) const BRACE: Option<Inside> = inside("{", b'{', b'}');
pub(super) const DOLLAR_PAREN: Option<Inside> = inside("$(", b'(', b')');

pub(super) const fn inside(open: &'static str, nests: u8, close: u8) -> Option<Inside> {
    Some(Inside { open, nests, close })
}

impl Code {
    /// Nothing but words and numbers.
    pub const BARE: Self = Self {
        comments: &[],
        comments_spaced: false,
        blocks: &[],
        quotes: &[],
        words: &[None],
        folds_case: false,
        word_starts: "",
        word_holds: "",
        word_ends: "",
        capitals: Capitals::Plain,
        chars: false,
        apostrophes: false,
        calls: true,
        bang_calls: false,
        dashed_calls: false,
        head_calls: false,
        commands: false,
        assigned_keys: false,
        colon_keys: false,
        quoted_keys: false,
        sections: false,
        sigils: &[],
        preprocessor: false,
        escapes: false,
        regex: false,
        heredoc: "",
        percent: 0,
        quote_words: &[],
        prompts: &[],
        specials: 0,
    };
    /// What most descendants of C share.
    pub const C_LIKE: Self = Self {
        comments: &["//"],
        blocks: &[Block::C],
        quotes: &[Quote::DOUBLE, Quote::SINGLE],
        capitals: Capitals::Types,
        ..Self::BARE
    };

    /// Fills [`Self::specials`]: most punctuation then costs one test of a bit.
    pub const fn indexed(mut self) -> Self {
        let mut bits = first_bits(self.comments);
        let mut at = 0;
        while at < self.blocks.len() {
            bits |= first_bit(self.blocks[at].open);
            at += 1;
        }
        at = 0;
        while at < self.quotes.len() {
            bits |= match self.quotes[at].form {
                Form::Hashes(_) => first_bit("#") | first_bit("\""),
                Form::Levels => first_bit("["),
                Form::Plain | Form::Tagged => first_bit(self.quotes[at].open),
            };
            at += 1;
        }
        at = 0;
        while at < self.sigils.len() {
            bits |= first_bit(self.sigils[at].0);
            at += 1;
        }
        bits |= first_bit(self.heredoc) | ((self.percent != 0) as u128 * (1 << self.percent));
        bits |= self.chars as u128 * (1 << b'\'');
        bits |= self.preprocessor as u128 * (1 << b'#');
        bits |= self.escapes as u128 * (1 << b'\\');
        bits |= self.regex as u128 * (1 << b'/');
        bits |= self.sections as u128 * (1 << b'[');
        self.specials = bits;
        self
    }
}

const fn first_bit(text: &str) -> u128 {
    match text.as_bytes() {
        [first, ..] if *first < 128 => 1 << *first,
        _ => 0,
    }
}

const fn first_bits(texts: &[&str]) -> u128 {
    let (mut bits, mut at) = (0, 0);
    while at < texts.len() {
        bits |= first_bit(texts[at]);
        at += 1;
    }
    bits
}

impl Block {
    pub const C: Self = Self::new("/*", "*/");
    pub const fn new(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            nests: false,
            starts_line: false,
        }
    }
    pub const fn nesting(mut self) -> Self {
        self.nests = true;
        self
    }
    pub const fn starting_a_line(mut self) -> Self {
        self.starts_line = true;
        self
    }
}

impl Quote {
    pub const DOUBLE: Self = Self::new("\"", "\"").escaped();
    pub const SINGLE: Self = Self::new("'", "'").escaped();
    pub const TRIPLE_DOUBLE: Self = Self::new("\"\"\"", "\"\"\"").escaped().over_lines();
    pub const TRIPLE_SINGLE: Self = Self::new("'''", "'''").escaped().over_lines();

    pub const fn new(open: &'static str, close: &'static str) -> Self {
        Self {
            prefixes: &[""],
            open,
            close,
            form: Form::Plain,
            escape: 0,
            lines: false,
            variables: false,
            inside: None,
        }
    }
    pub const fn escaped(mut self) -> Self {
        self.escape = b'\\';
        self
    }
    pub const fn raw(mut self) -> Self {
        self.escape = 0;
        self
    }
    pub const fn over_lines(mut self) -> Self {
        self.lines = true;
        self
    }
    pub const fn behind(mut self, prefixes: &'static [&'static str]) -> Self {
        self.prefixes = prefixes;
        self
    }
    pub const fn holding(mut self, inside: Option<Inside>) -> Self {
        self.inside = inside;
        self
    }
    pub const fn variables(mut self) -> Self {
        self.variables = true;
        self
    }
    pub const fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }
}
