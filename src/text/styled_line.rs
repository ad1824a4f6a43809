//! One row of text in several styles.

use crate::text::grapheme::width;
use crate::text::markdown::{StyleRole, TextStyle};

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

    pub fn pieces(&self) -> &[(String, TextStyle)] {
        &self.0
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
