//! Processes incoming messages from any transport. Each is first parsed to a `Value`, so results
//! stay raw JSON and an invalid part does not affect the valid ones. The program's secrets are removed
//! here, once for all that a server can send. Only then is a message converted to rmcp's types.

use crate::mcp::http::SYNTHETIC_ERROR_CODE;
use crate::mcp::server_requests::{IncomingRequests, unknown_method};
use crate::mcp::session::decode;
use crate::mcp::session::discover_wait::{DiscoverWait, initialize_result, response_id};
use crate::mcp::session::shared::SessionShared;
use crate::mcp::stdio::startup::HandshakeStage;
use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of messages handled per batch.
const BATCH_MAX: usize = 10_000;
const NEITHER_RESULT_NOR_ERROR: &str =
    "The server answered the request with neither a result nor an error.";

/// Called with the tool's name when a request is answered long after its cancellation.
pub type LateAnswerHandler = Box<dyn Fn(String) + Send + Sync>;

/// Handles the messages that a session receives.
pub struct Inbox {
    shared: Arc<SessionShared>,
    /// The handshake request, until it is answered.
    pending_handshake: Option<(RequestId, HandshakeRequest)>,
    pub discover_wait: DiscoverWait,
    on_late_answer: LateAnswerHandler,
    /// Our replies to the server's requests, not sent yet.
    replies: Vec<Value>,
    /// Messages of the last batch that have not been returned yet.
    batched: VecDeque<ServerJsonRpcMessage>,
    /// Whether the current line was already counted as skipped. A batch may contain thousands of
    /// invalid items, and counting reads up to 8 kB of the line.
    has_counted_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandshakeRequest {
    Initialize,
    Discover,
}

impl Inbox {
    pub fn new(shared: Arc<SessionShared>, on_late_answer: LateAnswerHandler) -> Self {
        Self {
            shared,
            pending_handshake: None,
            discover_wait: DiscoverWait::default(),
            on_late_answer,
            replies: Vec::new(),
            batched: VecDeque::new(),
            has_counted_line: false,
        }
    }

    /// Must be called for every message sent: how a handshake response is decoded depends on its
    /// request.
    pub fn record_sent(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        if let JsonRpcMessage::Request(request) = message {
            let handshake = match request.request.method() {
                "initialize" => HandshakeRequest::Initialize,
                "server/discover" => HandshakeRequest::Discover,
                _ => return,
            };
            self.shared.startup.set_stage(match handshake {
                HandshakeRequest::Initialize => HandshakeStage::Initializing,
                HandshakeRequest::Discover => HandshakeStage::Discovering,
            });
            match handshake {
                HandshakeRequest::Initialize => self.discover_wait.end(),
                HandshakeRequest::Discover => self.discover_wait.begin(),
            }
            self.pending_handshake = Some((request.id.clone(), handshake));
        }
    }

    /// Answers `server/discover` with an error in place of the server, so that rmcp sends
    /// `initialize` on the same connection. The server may be slow to start or ignore unknown
    /// requests; the request that it answers first decides.
    pub fn abandon_discover(&mut self) -> Option<ServerJsonRpcMessage> {
        let (id, _) = self.pending_handshake.take()?;
        Some(self.discover_wait.abandon(id))
    }

    fn handle_late_discover(
        &mut self,
        message: Map<String, Value>,
    ) -> Option<ServerJsonRpcMessage> {
        self.shared.flood.reset_consecutive_skipped();
        let (result, omitted) = initialize_result(message)?;
        let (id, _) = self.pending_handshake.take()?;
        self.shared.set_handshake_omissions(omitted);
        Some(JsonRpcMessage::response(result, id))
    }

    /// The message in `text` for rmcp; `None` if the message is invalid or was handled here.
    pub fn handle_text(&mut self, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        self.handle(decode::parse_message(text), text)
    }

    /// Like [`Inbox::handle_text`] for parsed text. All messages of a batch (2025-03-26) except the
    /// first are kept for [`Inbox::next_batched`].
    pub fn handle(
        &mut self,
        mut value: Option<Value>,
        text: &[u8],
    ) -> Option<ServerJsonRpcMessage> {
        self.has_counted_line = false;
        if let Some(message) = &mut value {
            self.shared.secrets.redact_message(message);
        }
        let is_batch = |items: &[Value]| items.first().is_some_and(Value::is_object);
        match value {
            Some(Value::Array(items)) if is_batch(&items) => {
                for item in items.into_iter().take(BATCH_MAX) {
                    let message = self.handle_one(Some(item), text);
                    self.batched.extend(message);
                }
                self.next_batched()
            }
            single => self.handle_one(single, text),
        }
    }

    fn skip_line(&mut self, text: &[u8]) {
        if !std::mem::replace(&mut self.has_counted_line, true) {
            self.shared.skip_line(text);
        }
    }

    pub fn next_batched(&mut self) -> Option<ServerJsonRpcMessage> {
        self.batched.pop_front()
    }

    fn handle_one(&mut self, value: Option<Value>, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        let Some(Value::Object(mut message)) = value else {
            self.skip_line(text);
            return None;
        };
        let message_for_rmcp = if message.contains_key("method") {
            match message.get("method").and_then(Value::as_str) {
                Some("notifications/progress") => {
                    let params = message.remove("params").unwrap_or_default();
                    if self.shared.progress.deliver(&params) {
                        self.shared.flood.reset_consecutive_skipped();
                    } else {
                        self.skip_line(text);
                    }
                    return None;
                }
                Some("notifications/message") => {
                    self.shared.flood.reset_consecutive_skipped();
                    self.shared
                        .record_log_message(&message.remove("params").unwrap_or_default());
                    return None;
                }
                Some("notifications/tools/list_changed") => {
                    self.shared.flood.reset_consecutive_skipped();
                    self.shared.tools_changed.notify_one();
                    return None;
                }
                Some("notifications/cancelled") => {
                    self.shared.flood.reset_consecutive_skipped();
                    if let Some(id) = message.get("params").and_then(|p| p.get("requestId")) {
                        self.shared.incoming_requests.cancel(id);
                    }
                    return None;
                }
                Some("notifications/elicitation/complete") => {
                    self.shared.flood.reset_consecutive_skipped();
                    let params = message.remove("params").unwrap_or_default();
                    self.shared.incoming_requests.complete_page(&params);
                    return None;
                }
                Some(
                    "notifications/prompts/list_changed" | "notifications/resources/list_changed",
                ) => {
                    self.shared.flood.reset_consecutive_skipped();
                    self.shared.content_changed.notify_one();
                    return None;
                }
                Some("notifications/resources/updated") => {
                    self.shared.flood.reset_consecutive_skipped();
                    self.record_updated_resource(&message);
                    return None;
                }
                // Other notifications are ignored and requests are answered here. rmcp would start
                // a task for each, and a server may send any number.
                _ => return self.handle_request(message, text),
            }
        } else if self.discover_wait.is_late_answer(&message) {
            return self.handle_late_discover(message);
        } else {
            self.handle_response(message)
        };
        if message_for_rmcp.is_some() {
            self.shared.flood.reset_consecutive_skipped();
        } else if !self.shared.outcome.has_ended() {
            self.skip_line(text);
        }
        message_for_rmcp
    }

    fn record_updated_resource(&self, message: &Map<String, Value>) {
        let params = message.get("params");
        if let Some(Value::String(uri)) = params.and_then(|params| params.get("uri")) {
            self.shared.updated_resources.add(uri);
        }
    }

    /// Answers pings, passes on the requests that [`IncomingRequests`] handles, and refuses every other
    /// request.
    fn handle_request(
        &mut self,
        mut message: Map<String, Value>,
        text: &[u8],
    ) -> Option<ServerJsonRpcMessage> {
        let params = message.remove("params").unwrap_or_default();
        let method = message.get("method").and_then(Value::as_str);
        let (Some(method), false) = (method, message.contains_key("result")) else {
            self.skip_line(text);
            return None;
        };
        self.shared.flood.reset_consecutive_skipped();
        let id = message.get("id").filter(|id| !id.is_null())?;
        if let Err(error) = self.shared.flood.count_request() {
            self.shared.outcome.end(error);
        }
        let reply = match method {
            "ping" => Some(json!({ "jsonrpc": "2.0", "id": id, "result": {} })),
            _ if IncomingRequests::handles(method) => {
                self.shared.incoming_requests.add(id, method, params)
            }
            _ => Some(unknown_method(id, method)),
        };
        self.replies.extend(reply);
        None
    }

    /// Takes the replies to the messages handled so far, for sending.
    pub fn take_replies(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.replies)
    }

    fn handle_response(&mut self, mut message: Map<String, Value>) -> Option<ServerJsonRpcMessage> {
        let error = message.remove("error").filter(|error| !error.is_null());
        let id = response_id(&message);
        if let Some(tool) = id
            .as_ref()
            .and_then(|id| self.shared.cancelled.take_late(id))
        {
            (self.on_late_answer)(tool);
        }
        if let Some(error) = error {
            return Some(JsonRpcMessage::error(decode_error(error), id));
        }
        let id = id?;
        let Some(result) = message.remove("result") else {
            // Without this, the request would wait for its whole timeout.
            let code = ErrorCode(SYNTHETIC_ERROR_CODE);
            let error = ErrorData::new(code, NEITHER_RESULT_NOR_ERROR, None);
            return Some(JsonRpcMessage::error(error, Some(id)));
        };
        if let Some((_, handshake)) = self
            .pending_handshake
            .take_if(|(request_id, _)| *request_id == id)
        {
            self.discover_wait.end();
            let is_discover = matches!(handshake, HandshakeRequest::Discover);
            let decoded = match handshake {
                HandshakeRequest::Initialize => {
                    self.shared.task_support.read(&result);
                    decode::decode_initialize(result)
                        .map(|(result, omitted)| (ServerResult::InitializeResult(result), omitted))
                }
                HandshakeRequest::Discover => decode::decode_discover(result)
                    .map(|(result, omitted)| (ServerResult::DiscoverResult(result), omitted)),
            };
            return match decoded {
                Ok((result, omitted)) => {
                    self.shared.set_handshake_omissions(omitted);
                    Some(JsonRpcMessage::response(result, id))
                }
                // `initialize` may still work.
                Err(error) if self.discover_wait.time_limit.is_some() && is_discover => {
                    let code = ErrorCode::METHOD_NOT_FOUND;
                    let error = ErrorData::new(code, error.to_string(), None);
                    Some(JsonRpcMessage::error(error, Some(id)))
                }
                Err(error) => {
                    self.shared.outcome.end(error);
                    None
                }
            };
        }
        let raw_result = ServerResult::CustomResult(CustomResult::new(result));
        Some(JsonRpcMessage::response(raw_result, id))
    }
}

/// Decodes an error whose fields may be missing or have the wrong type.
fn decode_error(error: Value) -> ErrorData {
    let code = error
        .get("code")
        .and_then(Value::as_i64)
        .and_then(|code| i32::try_from(code).ok());
    let message = match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    };
    ErrorData::new(
        code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode),
        message,
        error.get("data").cloned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_batch_items_count_as_one_skipped_line() {
        let shared = Arc::new(SessionShared::default());
        let mut inbox = Inbox::new(shared.clone(), Box::new(|_| {}));
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let line = format!("[{ping}{},{ping}]", ",1,{}".repeat(100));
        for _ in 0..2 {
            assert!(inbox.handle_text(line.as_bytes()).is_none());
        }
        assert_eq!(inbox.take_replies().len(), 4);
        let summary = shared
            .flood
            .skipped_summary()
            .expect("the invalid items are reported");
        assert!(summary.starts_with("2 lines "), "{summary}");
    }

    #[test]
    fn an_answer_without_result_and_error_becomes_an_error() {
        let mut inbox = Inbox::new(Arc::new(SessionShared::default()), Box::new(|_| {}));
        for rest in ["", r#","error":null"#, r#","x":1"#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":7{rest}}}"#);
            let Some(JsonRpcMessage::Error(error)) = inbox.handle_text(line.as_bytes()) else {
                panic!("no error for {line}");
            };
            assert_eq!(error.id, Some(RequestId::Number(7)));
            assert_eq!(error.error.message, NEITHER_RESULT_NOR_ERROR);
        }
    }

    #[test]
    fn only_the_exact_id_of_a_request_answers_it() {
        let mut inbox = Inbox::new(Arc::new(SessionShared::default()), Box::new(|_| {}));
        let mut answered = |id: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            match inbox.handle_text(line.as_bytes()) {
                Some(JsonRpcMessage::Response(response)) => Some(response.id),
                _ => None,
            }
        };
        for exact in ["7", r#""7""#] {
            assert_eq!(answered(exact), Some(RequestId::Number(7)), "{exact}");
        }
        for other in [r#""07""#, r#""+7""#, r#"" 7""#, r#""7.0""#, "7.5"] {
            assert_ne!(answered(other), Some(RequestId::Number(7)), "{other}");
        }
    }

    #[test]
    fn messages_without_the_expected_params_are_harmless() {
        let methods = [
            "notifications/progress",
            "notifications/message",
            "notifications/cancelled",
            "notifications/elicitation/complete",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
            "notifications/tasks/status",
            "elicitation/create",
            "sampling/createMessage",
            "roots/list",
            "ping",
        ];
        let rest = [
            "",
            ",\"params\":null",
            ",\"params\":[]",
            ",\"params\":\"x\"",
            ",\"params\":{}",
        ];
        let mut inbox = Inbox::new(Arc::new(SessionShared::default()), Box::new(|_| {}));
        for method in methods {
            for id in ["", ",\"id\":1", ",\"id\":null", ",\"id\":{}"] {
                for params in rest {
                    let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}"{id}{params}}}"#);
                    inbox.handle_text(line.as_bytes());
                }
            }
        }
    }
}
