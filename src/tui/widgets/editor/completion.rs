//! The text before the cursor, for completion.

use super::{Editor, PreviousEdit, TextPosition};

impl Editor {
    /// The text of the cursor's line before the cursor, and whether the line is the first one.
    pub fn before_cursor(&self) -> (&str, bool) {
        let TextPosition { line, byte } = self.cursor;
        (&self.lines[line].raw[..byte], line == 0)
    }

    /// Replaces the last `bytes` bytes before the cursor, which must be in its line.
    pub fn replace_before_cursor(&mut self, bytes: usize, text: &str) {
        let start = TextPosition {
            byte: self.cursor.byte.saturating_sub(bytes),
            ..self.cursor
        };
        self.previous = PreviousEdit::Other;
        let text = self.raw_from(text);
        self.replace(start..self.cursor, &text, false);
    }
}
