//! Waits for the response to `server/discover` if `initialize` can be tried instead, and recognizes
//! a response that comes after that.

use crate::mcp::http::SYNTHETIC_ERROR_CODE;
use crate::mcp::session::decode;
use rmcp::model::{
    ErrorCode, ErrorData, Implementation, InitializeResult, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug, Default)]
pub struct DiscoverWait {
    /// How long the response may take; `None` if `initialize` must not be tried.
    pub time_limit: Option<Duration>,
    /// Set while `server/discover` is unanswered.
    deadline: Option<Instant>,
    /// The request that rmcp no longer waits for.
    abandoned: Option<RequestId>,
}

impl DiscoverWait {
    pub fn new(time_limit: Option<Duration>) -> Self {
        Self {
            time_limit,
            ..Self::default()
        }
    }

    pub fn begin(&mut self) {
        self.deadline = self.time_limit.map(|time| Instant::now() + time);
    }

    pub fn end(&mut self) {
        self.deadline = None;
    }

    /// Returns at the deadline, or never if there is none.
    pub async fn wait_for_deadline(&self) {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Ends the wait with an error in place of the server's response.
    pub fn abandon(&mut self, id: RequestId) -> ServerJsonRpcMessage {
        self.deadline = None;
        self.abandoned = Some(id.clone());
        let code = ErrorCode(SYNTHETIC_ERROR_CODE);
        let error = ErrorData::new(code, "The server has not answered yet.", None);
        JsonRpcMessage::error(error, Some(id))
    }

    pub fn is_late_answer(&self, message: &Map<String, Value>) -> bool {
        self.abandoned.is_some() && response_id(message) == self.abandoned
    }
}

/// The response to `server/discover` as the response to `initialize`, with one line for each field
/// that was left out. `None` if the server does not support the modern protocol; then its response to
/// `initialize` decides.
pub fn initialize_result(mut message: Map<String, Value>) -> Option<(ServerResult, Vec<String>)> {
    let result = message.remove("result")?;
    let (discovered, omitted) = decode::decode_discover(result).ok()?;
    let modern = ProtocolVersion::V_2026_07_28;
    if !discovered.supported_versions.contains(&modern) {
        return None;
    }
    let server_info = discovered.server_info();
    let mut result = InitializeResult::new(discovered.capabilities);
    // rmcp accepts a modern version here, too.
    result.protocol_version = modern;
    result.server_info = server_info.unwrap_or_else(|| Implementation::new("", ""));
    result.instructions = discovered.instructions;
    Some((ServerResult::InitializeResult(result), omitted))
}

/// The id of the request that a response answers.
pub fn response_id(message: &Map<String, Value>) -> Option<RequestId> {
    let id = message.get("id").filter(|id| !id.is_null())?;
    serde_json::from_value(decode::requested_id(id)).ok()
}
