//! The token kinds that highlighting distinguishes.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Token {
    #[default]
    Plain,
    Comment,
    /// Includes chars and regexes.
    String,
    /// Includes constants such as `true` and `None`.
    Number,
    Keyword,
    Type,
    Function,
    /// A key, attribute or property, or a variable with a sigil.
    Key,
    Added,
    Removed,
    /// A diff hunk, a section header, a Markdown heading.
    Heading,
}
