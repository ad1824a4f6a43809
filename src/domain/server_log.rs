//! What a server wrote to stderr in its present or last run, and what this program
//! saw of that run from the outside.

use super::ServerId;
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLog {
    pub server: ServerId,
    /// When the run began that wrote it; None where there was none.
    pub run_started_at: Option<Timestamp>,
    /// The last lines, oldest first.
    pub lines: Vec<ServerLogLine>,
    /// Lines ever written, also those that are gone: who has seen as many has seen all.
    pub lines_written: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerLogLine {
    /// Raw, without its line end.
    Stderr(String),
    /// This program's own words about the server.
    Program(String),
}
