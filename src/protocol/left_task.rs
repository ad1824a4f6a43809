//! Commands about tasks that the user leaves running.

use crate::domain::{CallId, LeftTaskId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftTaskCommand {
    /// Leaves a running call, which its server runs as a task; the turn continues.
    Leave(CallId),
    /// Lists the tasks that were left, with their current age.
    List,
    /// Resumes following a task that is no longer followed.
    Follow(LeftTaskId),
    /// Asks the server to cancel the task, and removes it from the list.
    Cancel(LeftTaskId),
    /// Removes the task from the list, without a request to the server.
    Remove(LeftTaskId),
}
