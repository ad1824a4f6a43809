//! Writes thinking to standard error, and handles text that turns out to be thinking.

use super::AskSession;
use std::io::{self, Write};

impl AskSession {
    pub(super) fn write_thinking(&mut self, text: &str) {
        if self.request.is_json {
            return;
        }
        if !std::mem::replace(&mut self.is_thinking, true) {
            self.print_to_stderr("<<< Thinking >>>");
        }
        let clean = self.thinking_sanitizer.push(text);
        let _ = write!(io::stderr(), "{}", clean.as_str());
    }

    pub(super) fn end_thinking(&mut self) {
        if std::mem::replace(&mut self.is_thinking, false) {
            let _ = writeln!(io::stderr());
            self.print_to_stderr("<<< End Thinking >>>");
        }
    }

    pub(super) fn release_buffered_text(&mut self) -> io::Result<()> {
        let buffered = self.think_buffer.release();
        if self.streams_text() && !buffered.is_empty() {
            self.write_stdout(&buffered)?;
        }
        Ok(())
    }

    pub(super) fn reclassify_as_thinking(&mut self) {
        let text = std::mem::take(&mut self.round_text);
        if text.is_empty() {
            return;
        }
        let buffered = self.think_buffer.take_thinking();
        if self.streams_text() && buffered.is_none() {
            self.print_to_stderr("\n(The text above was thinking; the answer follows.)");
        } else {
            self.write_thinking(&text);
            self.end_thinking();
        }
    }
}
