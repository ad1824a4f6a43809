//! State shared by a session's reader, writer and calls. Each field has its own lock.

use crate::domain::SecretRegistry;
use crate::mcp::call::cancelled_requests::CancelledRequests;
use crate::mcp::call::progress_router::ProgressRouter;
use crate::mcp::content::followed_resources::ReportedResources;
use crate::mcp::error::McpError;
use crate::mcp::http::ParamHeaders;
use crate::mcp::server_requests::IncomingRequests;
use crate::mcp::session::flood_guard::FloodGuard;
use crate::mcp::session::outcome::SessionOutcome;
use crate::mcp::stdio::startup::Startup;
use crate::mcp::stdio::stderr::StderrBuffer;
use crate::mcp::tasks::LegacyTaskSupport;
use crate::sync::lock_ignoring_poison;
use rmcp::model::RequestId;
use serde_json::Value;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct SessionShared {
    pub outcome: SessionOutcome,
    pub startup: Startup,
    pub progress: ProgressRouter,
    pub cancelled: CancelledRequests,
    pub flood: FloodGuard,
    /// The server's requests, in the legacy era.
    pub incoming_requests: IncomingRequests,
    /// Notified when the server reports a changed tool list.
    pub tools_changed: Notify,
    /// Notified when the server reports a changed list of prompts or resources.
    pub content_changed: Notify,
    /// Resources that the server reported as changed.
    pub updated_resources: ReportedResources,
    /// Notified when the server stream is open again after an interruption.
    pub stream_reopened: Notify,
    /// Whether calls can become tasks, in the legacy era.
    pub task_support: LegacyTaskSupport,
    /// Arguments that are also sent as headers.
    pub param_headers: ParamHeaders,
    /// One line for each field of the handshake that was left out.
    handshake_omissions: Mutex<Vec<String>>,
    /// Requests that the server did not execute because it did not recognize the session.
    retryable_requests: Mutex<HashSet<String>>,
    /// Receives the server's log messages.
    log: StderrBuffer,
    /// Removed from everything that the server sends.
    pub secrets: SecretRegistry,
    /// The roots when the session began. The capability is declared only if there were any.
    pub initial_roots: Arc<Vec<PathBuf>>,
}

impl SessionShared {
    pub fn new(
        log: StderrBuffer,
        secrets: SecretRegistry,
        initial_roots: Arc<Vec<PathBuf>>,
    ) -> Self {
        Self {
            log,
            secrets,
            initial_roots,
            ..Self::default()
        }
    }

    /// Whether the session declares the roots capability.
    pub fn declares_roots(&self) -> bool {
        !self.initial_roots.is_empty()
    }

    pub fn set_handshake_omissions(&self, omitted: Vec<String>) {
        *lock_ignoring_poison(&self.handshake_omissions) = omitted;
    }

    pub fn handshake_omissions(&self) -> Vec<String> {
        lock_ignoring_poison(&self.handshake_omissions).clone()
    }

    /// Adds the `params` of `notifications/message` to the server's log.
    pub fn record_log_message(&self, params: &Value) {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        let level = text("level").unwrap_or("log");
        let logger_name = text("logger").map_or_else(String::new, |logger| format!(" {logger}"));
        let message = match params.get("data") {
            Some(Value::String(message)) => message.clone(),
            Some(data) => data.to_string(),
            None => return,
        };
        self.log
            .add_server_message(&format!("[{level}{logger_name}] {message}"));
    }

    /// Counts a line that was not a message; too many in a row end the session.
    pub fn skip_line(&self, line: &[u8]) {
        if let Err(error) = self.flood.count_skipped_line(line, &self.secrets) {
            self.outcome.end(error);
        }
    }

    /// Marks a request that can be repeated in another session.
    pub fn mark_retryable(&self, request: &Value) {
        lock_ignoring_poison(&self.retryable_requests).insert(request.to_string());
    }

    pub fn is_retryable(&self, request: &RequestId) -> bool {
        let id = serde_json::to_value(request).unwrap_or_default();
        lock_ignoring_poison(&self.retryable_requests).contains(&id.to_string())
    }

    /// Returns a guard that ends the session when dropped.
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
