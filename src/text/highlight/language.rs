//! Language definitions as data: names, comments, strings, words. The lexers interpret these
//! tables; a language has a lexer of its own only if a table does not suffice.

use super::Token;
use super::keywords::KeywordSlot;
use std::fmt;

pub(super) struct Language {
    pub name: &'static str,
    /// Other names used in fences, and file extensions, separated by spaces.
    pub aliases: &'static str,
    pub lexer: LexerKind,
}

#[derive(Clone, Copy)]
pub(super) enum LexerKind {
    Code(&'static CodeSyntax),
    Css,
    Diff,
    Ini,
    Make(&'static CodeSyntax),
    Markdown,
    Markup,
    /// Code within a page: markup until `<?`, then code until `?>`.
    Page(&'static Language),
    /// Commands after a prompt; all other lines are output or comments.
    Session(&'static CodeSyntax),
    Yaml,
}

impl Language {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.split_whitespace())
    }
}

// Each language is defined once, so its name identifies it.
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

/// The syntax of a language that consists of comments, strings, numbers and words.
#[derive(Clone, Copy)]
pub(super) struct CodeSyntax {
    /// Starts of comments that extend to the end of the line.
    pub line_comments: &'static [&'static str],
    /// Line comments start only after a blank, since `a#b` is a word in a shell.
    pub comments_need_space: bool,
    pub block_comments: &'static [BlockComment],
    /// If one opening is a prefix of another, the longer one comes first.
    pub strings: &'static [StringSyntax],
    pub keywords: &'static [KeywordSlot],
    pub folds_case: bool,
    /// Bytes besides letters, digits and `_` that a word may start with, contain, or end with.
    pub extra_word_starts: &'static str,
    pub extra_word_chars: &'static str,
    pub extra_word_ends: &'static str,
    pub capitals: CapitalizedNames,
    /// `'a'` is a char, and `'a` is a lifetime or type name rather than an open string.
    pub has_char_literals: bool,
    /// A quote after a letter does not open a string, as in `don't`.
    pub has_apostrophes_in_words: bool,
    /// `name(` is a call.
    pub has_paren_calls: bool,
    /// `name!(` is a call.
    pub has_bang_calls: bool,
    /// `Get-Item` is a call.
    pub has_dashed_calls: bool,
    /// The first word of a command is a call, and keywords count only there.
    pub is_command_language: bool,
    /// `name =` is a key.
    pub has_assigned_keys: bool,
    /// `name:` is a key.
    pub has_colon_keys: bool,
    /// A string may be a key too, and blanks may precede the colon.
    pub has_quoted_keys: bool,
    /// `[name]` alone on its line is a header.
    pub has_section_headers: bool,
    /// Prefixes of words, longer ones first, and the token for a prefix together with its word.
    pub sigils: &'static [(&'static str, Token)],
    /// `#include` at the start of a line.
    pub has_preprocessor: bool,
    /// A backslash outside strings escapes the next char.
    pub has_bare_escapes: bool,
    /// `/…/` is a regex where a value may occur.
    pub has_regex_literals: bool,
    /// The operator before the word that ends a here-document, as in `<<WORD` or `<<<WORD`.
    pub heredoc_start: &'static str,
    /// The first byte of literals such as `%w[…]` and `~r/…/`; 0 if there are none.
    pub percent_literal_byte: u8,
    /// Prompts of interactive sessions.
    pub prompts: &'static [&'static str],
    /// Bitmask of the ASCII bytes that may start a construct; set by [`Self::with_special_bytes`].
    pub special_bytes: u128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CapitalizedNames {
    /// Like other names.
    Plain,
    /// `Name` is a type, even before `(`.
    Types,
    /// `Name` is a type, but `Name(` is a call.
    TypesUnlessCalled,
}

#[derive(Clone, Copy)]
pub(super) struct BlockComment {
    pub open: &'static str,
    pub close: &'static str,
    pub is_nestable: bool,
    /// Opens and closes only at the start of a line.
    pub is_at_line_start: bool,
}

#[derive(Clone, Copy)]
pub(super) struct StringSyntax {
    /// Prefixes directly before the quote, in upper or lower case; `""` means that none is needed.
    pub prefixes: &'static [&'static str],
    pub open: &'static str,
    pub close: &'static str,
    pub delimiter: StringDelimiter,
    /// The escape byte; 0 if there is none. Doubled quotes need no special case: two adjacent
    /// strings are painted as one.
    pub escape: u8,
    pub is_multiline: bool,
    /// `$name` is highlighted.
    pub has_variables: bool,
    pub interpolation: Option<Interpolation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringDelimiter {
    /// `open` and `close` alone.
    Plain,
    /// At least this many `#` before `open`, and as many after `close`.
    Hashes(u8),
    /// `[==[` and `]==]`, with any number of `=`.
    Levels,
    /// `"tag(` and `)tag"`, with any tag.
    Tagged,
}

/// Code inside a string, such as `${…}`.
#[derive(Clone, Copy)]
pub(super) struct Interpolation {
    pub open: &'static str,
    pub open_bracket: u8,
    pub close_bracket: u8,
}

pub(super) const DOLLAR_BRACE: Option<Interpolation> = interpolation("${", b'{', b'}');
pub(super) const HASH_BRACE: Option<Interpolation> = interpolation("#{", b'{', b'}');
pub(super) const BRACE: Option<Interpolation> = interpolation("{", b'{', b'}');
pub(super) const DOLLAR_PAREN: Option<Interpolation> = interpolation("$(", b'(', b')');

pub(super) const fn interpolation(
    open: &'static str,
    open_bracket: u8,
    close_bracket: u8,
) -> Option<Interpolation> {
    Some(Interpolation {
        open,
        open_bracket,
        close_bracket,
    })
}

impl CodeSyntax {
    /// Words, numbers and calls only.
    pub const BARE: Self = Self {
        line_comments: &[],
        comments_need_space: false,
        block_comments: &[],
        strings: &[],
        keywords: &[None],
        folds_case: false,
        extra_word_starts: "",
        extra_word_chars: "",
        extra_word_ends: "",
        capitals: CapitalizedNames::Plain,
        has_char_literals: false,
        has_apostrophes_in_words: false,
        has_paren_calls: true,
        has_bang_calls: false,
        has_dashed_calls: false,
        is_command_language: false,
        has_assigned_keys: false,
        has_colon_keys: false,
        has_quoted_keys: false,
        has_section_headers: false,
        sigils: &[],
        has_preprocessor: false,
        has_bare_escapes: false,
        has_regex_literals: false,
        heredoc_start: "",
        percent_literal_byte: 0,
        prompts: &[],
        special_bytes: 0,
    };
    /// Shared by most descendants of C.
    pub const C_LIKE: Self = Self {
        line_comments: &["//"],
        block_comments: &[BlockComment::C],
        strings: &[StringSyntax::DOUBLE, StringSyntax::SINGLE],
        capitals: CapitalizedNames::Types,
        ..Self::BARE
    };

    /// Computes [`Self::special_bytes`], so that most punctuation needs only one bit test.
    pub const fn with_special_bytes(mut self) -> Self {
        let mut mask = first_bits(self.line_comments);
        let mut index = 0;
        while index < self.block_comments.len() {
            mask |= first_bit(self.block_comments[index].open);
            index += 1;
        }
        index = 0;
        while index < self.strings.len() {
            mask |= match self.strings[index].delimiter {
                StringDelimiter::Hashes(_) => first_bit("#") | first_bit("\""),
                StringDelimiter::Levels => first_bit("["),
                StringDelimiter::Plain | StringDelimiter::Tagged => {
                    first_bit(self.strings[index].open)
                }
            };
            index += 1;
        }
        index = 0;
        while index < self.sigils.len() {
            mask |= first_bit(self.sigils[index].0);
            index += 1;
        }
        mask |= first_bit(self.heredoc_start)
            | ((self.percent_literal_byte != 0) as u128 * (1 << self.percent_literal_byte));
        mask |= self.has_char_literals as u128 * (1 << b'\'');
        mask |= self.has_preprocessor as u128 * (1 << b'#');
        mask |= self.has_bare_escapes as u128 * (1 << b'\\');
        mask |= self.has_regex_literals as u128 * (1 << b'/');
        mask |= self.has_section_headers as u128 * (1 << b'[');
        self.special_bytes = mask;
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
    let (mut mask, mut index) = (0, 0);
    while index < texts.len() {
        mask |= first_bit(texts[index]);
        index += 1;
    }
    mask
}

impl BlockComment {
    pub const C: Self = Self::new("/*", "*/");
    pub const fn new(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            is_nestable: false,
            is_at_line_start: false,
        }
    }
    pub const fn nestable(mut self) -> Self {
        self.is_nestable = true;
        self
    }
    pub const fn at_line_start(mut self) -> Self {
        self.is_at_line_start = true;
        self
    }
}

impl StringSyntax {
    pub const DOUBLE: Self = Self::new("\"", "\"").with_backslash_escapes();
    pub const SINGLE: Self = Self::new("'", "'").with_backslash_escapes();
    pub const TRIPLE_DOUBLE: Self = Self::new("\"\"\"", "\"\"\"")
        .with_backslash_escapes()
        .multiline();
    pub const TRIPLE_SINGLE: Self = Self::new("'''", "'''").with_backslash_escapes().multiline();

    pub const fn new(open: &'static str, close: &'static str) -> Self {
        Self {
            prefixes: &[""],
            open,
            close,
            delimiter: StringDelimiter::Plain,
            escape: 0,
            is_multiline: false,
            has_variables: false,
            interpolation: None,
        }
    }
    pub const fn with_backslash_escapes(mut self) -> Self {
        self.escape = b'\\';
        self
    }
    pub const fn without_escapes(mut self) -> Self {
        self.escape = 0;
        self
    }
    pub const fn multiline(mut self) -> Self {
        self.is_multiline = true;
        self
    }
    pub const fn with_prefixes(mut self, prefixes: &'static [&'static str]) -> Self {
        self.prefixes = prefixes;
        self
    }
    pub const fn with_interpolation(mut self, interpolation: Option<Interpolation>) -> Self {
        self.interpolation = interpolation;
        self
    }
    pub const fn with_variables(mut self) -> Self {
        self.has_variables = true;
        self
    }
    pub const fn with_delimiter(mut self, delimiter: StringDelimiter) -> Self {
        self.delimiter = delimiter;
        self
    }
}
