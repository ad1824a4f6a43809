//! What a stretch of a row is, for the view to give it a style, and the signs that
//! a layout draws by itself.

use crate::text::highlight::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Role {
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
pub struct Look {
    pub role: Role,
    pub bold: bool,
    pub italic: bool,
    pub struck: bool,
    pub underlined: bool,
}

impl Look {
    pub const fn of(role: Role) -> Self {
        Self {
            role,
            bold: false,
            italic: false,
            struck: false,
            underlined: false,
        }
    }
}

/// Signs of one column each, but for `tick`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    pub bullet: char,
    pub quote: char,
    /// A thematic break, and the line below a table's first row.
    pub rule: char,
    /// Between columns.
    pub bar: char,
    /// Where both cross.
    pub cross: char,
    /// In front of what a line of code goes on with.
    pub wrapped: char,
    /// On either side of code within a line, where colours do not tell it.
    pub tick: &'static str,
}

impl Marks {
    pub const fn new(ascii: bool, colors: bool) -> Self {
        let tick = if colors { "" } else { "`" };
        if ascii {
            Self {
                bullet: '*',
                quote: '|',
                rule: '-',
                bar: '|',
                cross: '+',
                wrapped: '>',
                tick,
            }
        } else {
            Self {
                bullet: '•',
                quote: '│',
                rule: '─',
                bar: '│',
                cross: '┼',
                wrapped: '↳',
                tick,
            }
        }
    }
}
