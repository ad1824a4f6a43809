//! What the hub tells its owner.

use crate::domain::{CallId, Notice, Server, ToolProgress};

/// What the hub reports to its owner.
#[derive(Debug, Clone, PartialEq)]
pub enum HubEvent {
    /// A server's status or tools changed. Servers that are off report nothing.
    Changed(Box<Server>),
    /// The newest progress of a running call; older ones may have been skipped.
    Progress {
        call: CallId,
        progress: ToolProgress,
    },
    Noticed(Notice),
}
