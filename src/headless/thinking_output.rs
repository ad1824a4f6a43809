//! Thinking on standard error, and text that may turn out to be some.

use super::AskSession;
use std::io::{self, Write};

impl AskSession {
    pub(super) fn write_thinking(&mut self, text: &str) {
        if self.request.json {
            return;
        }
        if !std::mem::replace(&mut self.is_thinking, true) {
            self.print_error_line("<<< Thinking >>>");
        }
        let clean = self.thinking_sanitizer.push(text);
        let _ = write!(io::stderr(), "{}", clean.as_str());
    }

    pub(super) fn end_thinking(&mut self) {
        if std::mem::replace(&mut self.is_thinking, false) {
            let _ = writeln!(io::stderr());
            self.print_error_line("<<< End Thinking >>>");
        }
    }

    /// What was held back is text.
    pub(super) fn release_held_text(&mut self) -> io::Result<()> {
        let held = self.think_buffer.release();
        if self.streams_text() && !held.is_empty() {
            self.write_stdout(&held)?;
        }
        Ok(())
    }

    /// All text of this round so far was thinking.
    pub(super) fn reclassify_as_thinking(&mut self) {
        let words = std::mem::take(&mut self.round_text);
        if words.is_empty() {
            return;
        }
        let held = self.think_buffer.take_thinking();
        if self.streams_text() && held.is_none() {
            self.print_error_line("\n(What stands above was thinking; the answer follows.)");
        } else {
            self.write_thinking(&words);
            self.end_thinking();
        }
    }
}
