//! Commands about tasks that the user leaves running.

use crate::domain::{CallId, LeftTaskId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftTaskCommand {
    /// Leaves a running call, which its server runs as a task; the turn continues.
    Leave(CallId),
    /// Lists the tasks that were left, with their present age.
    List,
    /// Follows a task again that is no longer followed.
    Follow(LeftTaskId),
    /// Asks the server to cancel the task, and takes it off the list.
    Cancel(LeftTaskId),
    /// Takes the task off the list, without telling the server.
    Forget(LeftTaskId),
}
