//! Tasks that the user left running, as the front end lists them.

use super::id::LeftTaskId;
use super::{Arguments, ServerId};
use std::sync::Arc;
use std::time::Duration;

/// A task that the user left running. No text is sanitized.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftTask {
    pub id: LeftTaskId,
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arc<Arguments>,
    /// Whether the task is stored, so that the next run finds it.
    pub is_saved: bool,
    /// How long ago it was left.
    pub age: Duration,
    pub state: LeftTaskState,
    /// Set once the user has asked to cancel it, until it ends.
    pub cancellation: Option<TaskCancellation>,
}

/// What became of a request to cancel a task. Servers may refuse or ignore it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCancellation {
    /// The server is being asked, or has agreed.
    Requested,
    /// The server's error, as a clause.
    Refused { why: String },
    /// Why the server has not answered, as a clause.
    Unanswered { why: String },
}

#[derive(Debug, Clone, PartialEq)]
pub enum LeftTaskState {
    /// With the last status that the server reported.
    Running {
        status: Option<String>,
    },
    /// A turn waits for its result.
    Awaited,
    Succeeded,
    /// Why it has no result.
    Failed {
        why: String,
    },
    /// It is no longer followed, for this reason, and may still run.
    NotFollowed {
        why: String,
    },
}

impl LeftTaskState {
    /// Whether the user can use its result, or learn why there is none.
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed { .. })
    }
}
