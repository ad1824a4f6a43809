//! A request that is cancelled on its server once nothing awaits its answer.

use crate::mcp::session::McpSession;
use rmcp::model::RequestId;

/// A request in progress; cancelled if dropped before its answer.
pub struct CancelOnDrop<'a> {
    session: &'a McpSession,
    request: RequestId,
    pub is_answered: bool,
}

impl<'a> CancelOnDrop<'a> {
    pub fn new(session: &'a McpSession, request: RequestId) -> Self {
        Self {
            session,
            request,
            is_answered: false,
        }
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.is_answered && !self.session.shared.outcome.has_ended() {
            self.session.cancel_request(self.request.clone());
        }
    }
}
