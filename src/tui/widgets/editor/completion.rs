//! The text before the cursor, for completion.

use super::Editor;

impl Editor {
    /// The text of the cursor's line before the cursor, and whether the line is the first one.
    pub fn before_cursor(&self) -> (&str, bool) {
        (&self.lines[self.line].raw[..self.byte], self.line == 0)
    }

    /// Replaces the last `bytes` bytes before the cursor, which must be in its line.
    pub fn replace_before_cursor(&mut self, bytes: usize, text: &str) {
        let end = self.byte;
        self.delete(|editor| {
            editor.byte = end.saturating_sub(bytes);
            true
        });
        self.insert(text);
    }
}
