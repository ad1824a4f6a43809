//! Unfinished turns of an earlier run, and branches other than the active one.

use crate::domain::SessionId;

/// Another branch of the conversation, for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The first line of its first prompt, raw.
    pub words: String,
    /// Number of messages shared with the current branch, and number after those.
    pub at: usize,
    pub messages: usize,
    pub left_at: Option<jiff::Timestamp>,
}

/// A turn interrupted by the end of an earlier run. All text is raw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unfinished {
    pub prompt: String,
    /// The partial answer and the partial reasoning.
    pub words: String,
    pub thinking: String,
    pub session: Option<SessionId>,
    pub at: Option<jiff::Timestamp>,
    /// Calls in order, both finished and waiting for approval.
    pub calls: Vec<LeftCall>,
    /// Number of earlier turns that have no answer either.
    pub more: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LeftCall {
    pub server: String,
    pub tool: String,
    pub arguments: serde_json::Value,
    pub came_to: CameTo,
}

/// How far a call got before the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CameTo {
    /// It was waiting for approval and never ran.
    Awaiting,
    /// It was running; its effects are unknown.
    Running,
    /// The name of its outcome, raw: `ok`, `failed` and so on.
    Ended(String),
}
