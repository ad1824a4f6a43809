//! What was left: turns that an earlier run did not finish, and branches that the
//! conversation does not follow any more.

use crate::domain::SessionId;

/// Another branch of the conversation, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The first line of its first prompt, raw.
    pub words: String,
    /// How many messages it shares with the present branch, and how many follow.
    pub at: usize,
    pub messages: usize,
    pub left_at: Option<jiff::Timestamp>,
}

/// A turn that an earlier run left in the middle. Every text is raw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unfinished {
    pub prompt: String,
    /// The words of the answer so far, and of the thinking.
    pub words: String,
    pub thinking: String,
    pub session: Option<SessionId>,
    pub at: Option<jiff::Timestamp>,
    /// Its calls in their order: those that waited for approval, and those that ran.
    pub calls: Vec<LeftCall>,
    /// Turns before it that had no answer either.
    pub more: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LeftCall {
    pub server: String,
    pub tool: String,
    pub arguments: serde_json::Value,
    pub came_to: CameTo,
}

/// How far a call came before the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CameTo {
    /// It waited for approval: it never ran.
    Awaiting,
    /// It was running; nobody knows what it did.
    Running,
    /// It ended like this, raw: `ok`, `failed` and so on.
    Ended(String),
}
