//! Thinking on standard error, and text that may turn out to be some.

use super::Headless;
use std::io::{self, Write};

impl Headless {
    pub(super) fn think(&mut self, text: &str) {
        if self.request.json {
            return;
        }
        if !std::mem::replace(&mut self.thinking, true) {
            self.say("<<< Thinking >>>");
        }
        let clean = self.clean_thinking.push(text);
        let _ = write!(io::stderr(), "{}", clean.as_str());
    }

    pub(super) fn end_thinking(&mut self) {
        if std::mem::replace(&mut self.thinking, false) {
            let _ = writeln!(io::stderr());
            self.say("<<< End Thinking >>>");
        }
    }

    /// What was held back is text.
    pub(super) fn let_go(&mut self) -> io::Result<()> {
        let held = self.paragraph.release();
        if self.streams() && !held.is_empty() {
            self.out(&held)?;
        }
        Ok(())
    }

    /// All text of this round so far was thinking.
    pub(super) fn was_thinking(&mut self) {
        let words = std::mem::take(&mut self.text);
        if words.is_empty() {
            return;
        }
        let held = self.paragraph.turn();
        if self.streams() && held.is_none() {
            self.say("\n(What stands above was thinking; the answer follows.)");
        } else {
            self.think(&words);
            self.end_thinking();
        }
    }
}
