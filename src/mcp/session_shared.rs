//! State shared by a session's reader, its writer and the calls on it. Each concern has an owner of
//! its own with its own lock.

use super::cancelled_requests::CancelledRequests;
use super::error::McpError;
use super::flood_guard::FloodGuard;
use super::http::ParamHeaders;
use super::progress_router::ProgressRouter;
use super::session_outcome::SessionOutcome;
use super::startup::Startup;
use super::stderr::StderrBuffer;
use crate::sync::lock_ignoring_poison;
use rmcp::model::RequestId;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct SessionShared {
    pub outcome: SessionOutcome,
    pub startup: Startup,
    pub progress: ProgressRouter,
    pub cancelled: CancelledRequests,
    pub flood: FloodGuard,
    /// The server said that its list of tools changed.
    pub tools_changed: Notify,
    /// A stream on which it speaks by itself is back after a while without one.
    pub stream_reopened: Notify,
    /// Arguments that go into headers as well.
    pub param_headers: ParamHeaders,
    /// Requests that the server did nothing for, since it did not know the session.
    retryable: Mutex<HashSet<String>>,
    /// Where a server's log messages go: among what it writes to stderr.
    log: StderrBuffer,
}

impl SessionShared {
    pub fn with_log(log: StderrBuffer) -> Self {
        Self {
            log,
            ..Self::default()
        }
    }

    /// Takes `params` of `notifications/message`: a line of the server's log.
    pub fn record_log_message(&self, params: &Value) {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        let level = text("level").unwrap_or("log");
        let by = text("logger").map_or_else(String::new, |logger| format!(" {logger}"));
        let words = match params.get("data") {
            Some(Value::String(words)) => words.clone(),
            Some(data) => data.to_string(),
            None => return,
        };
        self.log
            .add_server_message(&format!("[{level}{by}] {words}"));
    }

    /// Counts a line that was no message; too many in a row end the session.
    pub fn skip_line(&self, line: &[u8]) {
        if let Err(fault) = self.flood.count_skipped_line(line, &self.log.redactor()) {
            self.outcome.end(fault);
        }
    }

    /// Remembers that a request can be made again in another session.
    pub fn mark_retryable(&self, request: &Value) {
        lock_ignoring_poison(&self.retryable).insert(request.to_string());
    }

    pub fn is_retryable(&self, request: &RequestId) -> bool {
        let id = serde_json::to_value(request).unwrap_or_default();
        lock_ignoring_poison(&self.retryable).contains(&id.to_string())
    }

    /// Ends the session when the guard is dropped.
    pub fn end_on_drop(self: &Arc<Self>) -> impl Drop + use<> {
        struct EndOnDrop(Arc<SessionShared>);
        impl Drop for EndOnDrop {
            fn drop(&mut self) {
                self.0.outcome.end(McpError::SessionClosed);
            }
        }
        EndOnDrop(self.clone())
    }
}
