//! Token kinds for highlighting.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Token {
    #[default]
    Plain,
    Comment,
    /// Also chars and regexes.
    String,
    /// Also constants such as `true` and `None`.
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
