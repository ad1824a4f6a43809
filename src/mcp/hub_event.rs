//! Events that the hub reports to its owner.

use crate::domain::{
    CallId, Notice, Server, ServerId, ServerRequest, ServerRequestId, ServerTask, ToolProgress,
};

#[derive(Debug, Clone, PartialEq)]
pub enum HubEvent {
    /// A server's status, tools, prompts or resources changed. Disabled servers report
    /// nothing, unless they are misconfigured.
    Changed(Box<Server>),
    /// The newest progress of a running call; earlier values may be skipped.
    Progress {
        call: CallId,
        progress: ToolProgress,
    },
    /// The server runs the call as a task. The id of the task must be stored, because no other
    /// session can look it up.
    TaskStarted {
        call: CallId,
        task: ServerTask,
    },
    /// A server asks the user something. Answered by `Hub::reply`.
    Requested {
        id: ServerRequestId,
        server: ServerId,
        request: ServerRequest,
    },
    /// The request no longer needs an answer, for example because its call or session ended.
    RequestWithdrawn(ServerRequestId),
    Noticed(Notice),
}
