//! The kinds of stretches that code is colored by.

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Token {
    #[default]
    Plain,
    Comment,
    /// A string, a char, a regex.
    String,
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
