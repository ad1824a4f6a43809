//! What was left: turns that an earlier run did not finish, and branches that the
//! conversation does not follow any more.

use crate::domain::SessionId;

/// Another branch of the conversation, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The first line of its first prompt, raw.
    pub first_prompt_line: String,
    /// How many messages it shares with the present branch, and how many follow.
    pub shared_messages: usize,
    pub own_messages: usize,
    pub left_at: Option<jiff::Timestamp>,
}

/// A turn that an earlier run left in the middle. Every text is raw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnfinishedTurn {
    pub prompt: String,
    /// The words of the answer so far, and of the thinking.
    pub partial_answer: String,
    pub thinking: String,
    pub session: Option<SessionId>,
    pub started_at: Option<jiff::Timestamp>,
    /// Its calls in their order: those that waited for approval, and those that ran.
    pub calls: Vec<UnfinishedCall>,
    /// Turns before it that had no answer either.
    pub earlier_unanswered: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedCall {
    pub server: String,
    pub tool: String,
    pub arguments: serde_json::Value,
    pub stage: CallStage,
}

/// How far a call came before the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStage {
    /// It waited for approval: it never ran.
    AwaitingApproval,
    /// It was running; nobody knows what it did.
    Running,
    /// It ended like this, raw: `ok`, `failed` and so on.
    Ended(String),
}
