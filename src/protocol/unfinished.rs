//! Unfinished turns of an earlier run, offered at startup.

use crate::domain::SessionId;

/// A turn that was running when an earlier run ended. No text is sanitized.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnfinishedTurn {
    pub prompt: String,
    pub partial_answer: String,
    /// The thinking up to the interruption.
    pub thinking: String,
    pub session: Option<SessionId>,
    /// The title of its conversation, unless it is a new one.
    pub title: Option<String>,
    pub started_at: Option<jiff::Timestamp>,
    /// All calls of the turn in order, finished or not.
    pub calls: Vec<UnfinishedCall>,
    /// The answer was to become a note, which may have been saved.
    pub writes_note: bool,
    /// Number of turns before this one that have no answer either.
    pub earlier_unanswered: usize,
}

impl UnfinishedTurn {
    /// Whether resuming the turn waits for a task.
    pub fn waits_for_task(&self) -> bool {
        self.calls
            .iter()
            .any(|call| call.stage == CallStage::RunningAsTask)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct UnfinishedCall {
    pub server: String,
    pub tool: String,
    pub arguments: serde_json::Value,
    pub stage: CallStage,
}

/// The stage that a call had reached when the program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStage {
    /// It was waiting for approval and never ran.
    AwaitingApproval,
    /// It was running; its effects are unknown.
    Running,
    /// It was running as a task on its server, and may still be running.
    RunningAsTask,
    /// The outcome from the journal, not sanitized: `ok`, `failed` and so on.
    Ended(String),
}
