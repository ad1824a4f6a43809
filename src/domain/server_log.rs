//! A server's stderr output in its current or last run, together with this program's own
//! remarks about that run.

use super::ServerId;
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLog {
    pub server: ServerId,
    /// The start of that run; `None` if the server never ran.
    pub run_started_at: Option<Timestamp>,
    /// The last lines, oldest first.
    pub lines: Vec<ServerLogLine>,
    /// The total number of lines written, including dropped ones, so that a reader can detect
    /// new lines.
    pub lines_written: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerLogLine {
    /// Unsanitized, without the line break.
    Stderr(String),
    /// A remark of this program about the server.
    Program(String),
}
