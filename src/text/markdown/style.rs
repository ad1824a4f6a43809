//! Semantic styles of row spans, which the view maps to colors, and the glyphs a layout draws.

use crate::text::highlight::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StyleRole {
    #[default]
    Plain,
    /// Markers and notes that are not part of the text.
    Dim,
    Heading,
    /// Inline code.
    Code,
    /// The text of a link.
    Link,
    Token(Token),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TextStyle {
    pub role: StyleRole,
    pub bold: bool,
    pub italic: bool,
    pub strikethrough: bool,
    pub underlined: bool,
}

impl TextStyle {
    pub const fn from_role(role: StyleRole) -> Self {
        Self {
            role,
            bold: false,
            italic: false,
            strikethrough: false,
            underlined: false,
        }
    }
}

/// The glyphs that a layout draws. Each is one column wide, except `code_quote`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownGlyphs {
    pub bullet: char,
    pub quote: char,
    /// A thematic break, and the line below a table header.
    pub rule: char,
    /// Between table columns.
    pub bar: char,
    /// Where `rule` and `bar` cross.
    pub cross: char,
    /// Before rows of code.
    pub code_bar: char,
    /// Before continuation rows of code.
    pub continuation: char,
    /// Around inline code if colors do not distinguish it.
    pub code_quote: &'static str,
}

impl MarkdownGlyphs {
    pub const fn new(is_ascii: bool, has_colors: bool) -> Self {
        let code_quote = if has_colors { "" } else { "`" };
        if is_ascii {
            Self {
                bullet: '*',
                quote: '|',
                rule: '-',
                bar: '|',
                cross: '+',
                code_bar: '|',
                continuation: '>',
                code_quote,
            }
        } else {
            Self {
                bullet: '•',
                quote: '│',
                rule: '─',
                bar: '│',
                cross: '┼',
                code_bar: '▏',
                continuation: '↳',
                code_quote,
            }
        }
    }
}
