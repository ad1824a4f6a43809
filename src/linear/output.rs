//! Prints text in order. While a question is open, everything else waits, so that nothing appears
//! between a call and its question.

use crate::domain::Notice;
use crate::front_end::advice;
use crate::headless::lines::clean_line;
use crate::text::Clean;
use std::io::{self, Write};
use std::time::Duration;
use tokio::time::Instant;

/// The prompt is printed once nothing was printed for this long, so that replies to a command come
/// before it.
const QUIET_TIME: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub struct LinearOutput {
    is_at_line_start: bool,
    /// The user may be typing a line after the prompt.
    pub is_prompt_shown: bool,
    printed_at: Instant,
    /// Text that waits until the open question is closed.
    held: Option<String>,
}

impl LinearOutput {
    pub fn new() -> Self {
        Self {
            is_at_line_start: true,
            is_prompt_shown: false,
            printed_at: Instant::now(),
            held: None,
        }
    }

    /// Prints complete lines, sanitized.
    pub fn line(&mut self, text: &str) {
        self.clean_line(&Clean::new(text));
    }

    pub fn clean_line(&mut self, text: &Clean) {
        self.end_line();
        self.write(text.as_str());
        self.end_line();
    }

    pub fn notice(&mut self, notice: &Notice) {
        self.line(&notice_line(notice));
    }

    /// Prints a part of a line.
    pub fn part(&mut self, text: &Clean) {
        if std::mem::take(&mut self.is_prompt_shown) {
            self.end_line();
        }
        self.write(text.as_str());
    }

    pub fn end_line(&mut self) {
        if !self.is_at_line_start {
            self.write("\n");
        }
        self.is_prompt_shown = false;
    }

    /// Prints the prompt, after which the user types.
    pub fn prompt(&mut self, text: &str) {
        self.end_line();
        self.write(Clean::new(text).as_str());
        self.is_prompt_shown = true;
    }

    /// The user ended a line, which the terminal has printed.
    pub fn line_typed(&mut self) {
        self.is_prompt_shown = false;
        self.is_at_line_start = true;
        self.printed_at = Instant::now();
    }

    /// The terminal has printed `^C` on the current line.
    pub fn interrupted(&mut self) {
        if self.held.is_none() {
            self.is_at_line_start = false;
        }
        self.end_line();
    }

    /// When the prompt may be printed.
    pub fn quiet_at(&self) -> Instant {
        self.printed_at + QUIET_TIME
    }

    /// Holds all text back, from the start of a line on.
    pub fn hold(&mut self) {
        self.end_line();
        self.held.get_or_insert_default();
    }

    pub fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.is_at_line_start = true;
            self.write(&held);
        }
    }

    /// Prints the held text before the program ends.
    pub fn end(&mut self) {
        self.release();
        self.end_line();
    }

    /// Sends a control sequence of the program, which prints nothing.
    pub fn control(&mut self, sequence: &str) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(sequence.as_bytes());
        let _ = out.flush();
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.is_at_line_start = text.ends_with('\n');
        self.printed_at = Instant::now();
        if let Some(held) = &mut self.held {
            return held.push_str(text);
        }
        let mut out = io::stdout().lock();
        // A lost terminal ends the program in another way.
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}

/// A notice in one line: a name in it cannot start a row that looks like a question.
fn notice_line(notice: &Notice) -> String {
    clean_line(&advice::notice_line(notice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_notice_starts_no_line() {
        let notice = Notice::warning("There is no server `rm\u{1b}[2J\nCall now? (Y/N)`.");
        let line = notice_line(&notice);
        assert_eq!(line, "There is no server `rm Call now? (Y/N)`.");
    }
}
