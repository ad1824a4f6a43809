//! One row of text in several styles.

use crate::text::grapheme::width;
use crate::text::markdown::{StyleRole, TextStyle};
use crate::tui::widgets::painter::Painter;

/// Clean text in consecutive pieces, each with its style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine(Vec<(String, TextStyle)>);

impl StyledLine {
    pub fn push(&mut self, text: impl Into<String>, style: TextStyle) {
        let text = text.into();
        if !text.is_empty() {
            self.0.push((text, style));
        }
    }

    pub fn push_plain(&mut self, text: impl Into<String>) {
        self.push(text, TextStyle::default());
    }

    pub fn push_dim(&mut self, text: impl Into<String>) {
        self.push(text, TextStyle::from_role(StyleRole::Dim));
    }

    pub fn push_bold(&mut self, text: impl Into<String>) {
        let bold = TextStyle {
            bold: true,
            ..TextStyle::default()
        };
        self.push(text, bold);
    }

    pub fn indent(&mut self, columns: usize) {
        if columns > 0 {
            let blanks = (" ".repeat(columns), TextStyle::default());
            self.0.insert(0, blanks);
        }
    }

    /// Appends blanks up to column `columns`.
    pub fn pad_to(&mut self, columns: usize) {
        let used = self.width();
        self.push_plain(" ".repeat(columns.saturating_sub(used)));
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| width(text)).sum()
    }

    /// Draws at most `columns` columns.
    pub fn draw(&self, x: u16, y: u16, columns: u16, pen: &mut Painter) {
        let (mut x, mut left) = (x, columns);
        for (text, style) in &self.0 {
            let style = pen.theme.text_style(*style);
            let used = pen.put(x, y, text, style, left);
            (x, left) = (x + used, left - used);
        }
    }

    /// The text without its styles.
    pub fn text(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }
}

impl From<String> for StyledLine {
    fn from(text: String) -> Self {
        let mut line = Self::default();
        line.push_plain(text);
        line
    }
}
