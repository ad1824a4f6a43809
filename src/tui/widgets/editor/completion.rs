//! The text around the cursor, for completion, and the mentions in the lines.

use super::{Editor, PreviousEdit, TextPosition};
use std::ops::Range;

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

    /// The text of the cursor's line after the cursor.
    pub fn after_cursor(&self) -> &str {
        &self.lines[self.cursor.line].raw[self.cursor.byte..]
    }

    /// The lines of the text, in which a character stands for each folded paste.
    pub fn lines_with_chips(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| line.raw.as_str())
    }

    /// Removes bytes of a line, which must be whole clusters, as a change that can be undone. The
    /// cursor stays where it is in the rest.
    pub fn remove_in_line(&mut self, line: usize, bytes: Range<usize>) {
        let cursor = self.cursor;
        let at = |byte| TextPosition { line, byte };
        self.previous = PreviousEdit::Other;
        self.replace(at(bytes.start)..at(bytes.end), "", false);
        self.cursor = cursor;
        if cursor.line == line && cursor.byte > bytes.start {
            self.cursor.byte = bytes.start + cursor.byte.saturating_sub(bytes.end);
        }
        self.snap_to_cluster_end();
    }
}
