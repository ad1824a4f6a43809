//! A server's stderr from its current or last run, with this program's own remarks about
//! that run.

use super::ServerId;
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLog {
    pub server: ServerId,
    /// When that run began; `None` if there was none.
    pub run_started_at: Option<Timestamp>,
    /// The last lines, oldest first.
    pub lines: Vec<ServerLogLine>,
    /// Lines written in total, including dropped ones; lets a reader detect new lines.
    pub lines_written: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerLogLine {
    /// Raw, without the line break.
    Stderr(String),
    /// A remark of this program about the server.
    Program(String),
}
