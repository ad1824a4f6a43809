//! Events that the hub reports to its owner.

use crate::domain::{CallId, Notice, Server, ToolProgress};

#[derive(Debug, Clone, PartialEq)]
pub enum HubEvent {
    /// A server's status or tools changed. Disabled servers report nothing.
    Changed(Box<Server>),
    /// The newest progress of a running call; earlier values may be skipped.
    Progress {
        call: CallId,
        progress: ToolProgress,
    },
    Noticed(Notice),
}
