//! Writes the answer and JSON events to standard output, and everything else to standard error.

use super::{AskSession, advice, json, output};
use crate::domain::Notice;
use crate::protocol::Event;
use crate::text::Clean;
use std::io::{self, Write};

impl AskSession {
    pub(super) fn print_json(&self, event: &Event) -> io::Result<()> {
        if !self.request.is_json {
            return Ok(());
        }
        json::event_json(event).map_or(Ok(()), output::print)
    }

    /// Whether text is printed as it arrives. Only a terminal streams: a pipe or file gets
    /// just the answer, so its text must wait until it is known to be the answer.
    pub(super) fn streams_text(&self) -> bool {
        self.stdout_is_terminal && !self.request.is_json
    }

    /// Writes to standard output: raw to a pipe or file, sanitized to a terminal.
    pub(super) fn write_stdout(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.stdout_is_terminal {
            out.write_all(self.stdout_sanitizer.push(text).as_str().as_bytes())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        out.flush()
    }

    /// Prints a line that is already clean.
    pub(super) fn print_to_stderr(&self, line: &str) {
        // If standard error is closed, there is no one to report to.
        let _ = writeln!(io::stderr(), "{line}");
    }

    pub(super) fn print_notice(&self, notice: &Notice) {
        self.print_to_stderr(Clean::new(&advice::notice_line(notice)).as_str());
    }
}
