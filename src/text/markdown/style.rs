//! What a stretch of a row is, for the view to give it a style, and the signs that
//! a layout draws by itself.

use crate::text::highlight::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StyleRole {
    #[default]
    Plain,
    /// Signs and notes that are not the text itself.
    Dim,
    Heading,
    /// Code within a line.
    Code,
    /// The words of a link.
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

/// Signs of one column each, but for `tick`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownGlyphs {
    pub bullet: char,
    pub quote: char,
    /// A thematic break, and the line below a table's first row.
    pub rule: char,
    /// Between columns.
    pub bar: char,
    /// Where both cross.
    pub cross: char,
    /// In front of what a line of code goes on with.
    pub continuation: char,
    /// On either side of code within a line, where colours do not tell it.
    pub code_quote: &'static str,
}

impl MarkdownGlyphs {
    pub const fn new(ascii: bool, colors: bool) -> Self {
        let tick = if colors { "" } else { "`" };
        if ascii {
            Self {
                bullet: '*',
                quote: '|',
                rule: '-',
                bar: '|',
                cross: '+',
                continuation: '>',
                code_quote: tick,
            }
        } else {
            Self {
                bullet: '•',
                quote: '│',
                rule: '─',
                bar: '│',
                cross: '┼',
                continuation: '↳',
                code_quote: tick,
            }
        }
    }
}
