//! A server's stderr from its current or last run, with this program's own remarks about
//! that run.

use super::ServerId;
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLog {
    pub server: ServerId,
    /// When that run began; `None` if there was none.
    pub since: Option<Timestamp>,
    /// The last lines, oldest first.
    pub lines: Vec<ServerLine>,
    /// Lines written in total, including dropped ones; lets a reader detect new lines.
    pub written: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerLine {
    /// Raw, without the line break.
    Stderr(String),
    /// A remark of this program about the server.
    Own(String),
}
