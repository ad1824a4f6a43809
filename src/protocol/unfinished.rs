//! Unfinished turns of an earlier run, and branches other than the active one.

use crate::domain::SessionId;

/// Another branch of the conversation, for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The first line of its first prompt, raw.
    pub first_prompt_line: String,
    /// Number of messages shared with the current branch, and number after those.
    pub shared_messages: usize,
    pub own_messages: usize,
    pub left_at: Option<jiff::Timestamp>,
}

/// A turn interrupted by the end of an earlier run. All text is raw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnfinishedTurn {
    pub prompt: String,
    /// The partial answer and the partial reasoning.
    pub partial_answer: String,
    pub thinking: String,
    pub session: Option<SessionId>,
    pub started_at: Option<jiff::Timestamp>,
    /// Calls in order, both finished and waiting for approval.
    pub calls: Vec<UnfinishedCall>,
    /// Number of earlier turns that have no answer either.
    pub earlier_unanswered: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedCall {
    pub server: String,
    pub tool: String,
    pub arguments: serde_json::Value,
    pub stage: CallStage,
}

/// How far a call got before the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStage {
    /// It was waiting for approval and never ran.
    AwaitingApproval,
    /// It was running; its effects are unknown.
    Running,
    /// The name of its outcome, raw: `ok`, `failed` and so on.
    Ended(String),
}
