//! What comes in, message by message, whatever carried it: each becomes a `Value`
//! first, so that results reach us raw and one bad part never costs the good ones; the
//! rest is typed for rmcp.

use super::decode;
use super::session_shared::SessionShared;
use super::startup::HandshakeStage;
use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// Messages of one batch.
const BATCH_MAX: usize = 10_000;

/// Told when a cancelled request was answered all the same: the tool's name.
pub type OnLateAnswer = Box<dyn Fn(String) + Send + Sync>;

/// The reading end of a session.
pub struct Inbox {
    shared: Arc<SessionShared>,
    /// The request that opens the session, until it is answered.
    pending_handshake: Option<(RequestId, HandshakeRequest)>,
    on_late_answer: OnLateAnswer,
    replies: Vec<Value>,
    batched: VecDeque<ServerJsonRpcMessage>,
    /// Whether the line that is being read was counted as skipped: a batch may hold
    /// thousands of wrong items, and to count a line costs a look at much of it.
    has_counted_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandshakeRequest {
    Initialize,
    Discover,
}

impl Inbox {
    pub fn new(shared: Arc<SessionShared>, on_late_answer: OnLateAnswer) -> Self {
        Self {
            shared,
            pending_handshake: None,
            on_late_answer,
            replies: Vec::new(),
            batched: VecDeque::new(),
            has_counted_line: false,
        }
    }

    /// Must hear of each message that is sent: some answers are read by what they
    /// answer.
    pub fn record_sent(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        if let JsonRpcMessage::Request(request) = message {
            let opening = match request.request.method() {
                "initialize" => HandshakeRequest::Initialize,
                "server/discover" => HandshakeRequest::Discover,
                _ => return,
            };
            self.shared.startup.set_stage(match opening {
                HandshakeRequest::Initialize => HandshakeStage::Initializing,
                HandshakeRequest::Discover => HandshakeStage::Discovering,
            });
            self.pending_handshake = Some((request.id.clone(), opening));
        }
    }

    /// The message in `text`, unless it is no message or was dealt with here.
    pub fn handle_text(&mut self, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        self.handle(decode::parse_message(text), text)
    }

    /// The same for text that was parsed already. Of a batch, which 2025-03-26 knows,
    /// all but the first message are kept for [`Inbox::rest`].
    pub fn handle(&mut self, value: Option<Value>, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        self.has_counted_line = false;
        let is_batch = |items: &[Value]| items.first().is_some_and(Value::is_object);
        match value {
            Some(Value::Array(items)) if is_batch(&items) => {
                for item in items.into_iter().take(BATCH_MAX) {
                    let message = self.handle_one(Some(item), text);
                    self.batched.extend(message);
                }
                self.next_batched()
            }
            one => self.handle_one(one, text),
        }
    }

    fn skip_line(&mut self, text: &[u8]) {
        if !std::mem::replace(&mut self.has_counted_line, true) {
            self.shared.skip_line(text);
        }
    }

    /// The next message of the last batch.
    pub fn next_batched(&mut self) -> Option<ServerJsonRpcMessage> {
        self.batched.pop_front()
    }

    fn handle_one(&mut self, value: Option<Value>, text: &[u8]) -> Option<ServerJsonRpcMessage> {
        let Some(Value::Object(mut message)) = value else {
            self.skip_line(text);
            return None;
        };
        let read = if message.contains_key("method") {
            match message.get("method").and_then(Value::as_str) {
                Some("notifications/progress") => {
                    let params = message.remove("params").unwrap_or_default();
                    if self.shared.progress.deliver(&params) {
                        self.shared.flood.count_message();
                    } else {
                        self.skip_line(text);
                    }
                    return None;
                }
                Some("notifications/message") => {
                    self.shared.flood.count_message();
                    self.shared
                        .record_log_message(&message.remove("params").unwrap_or_default());
                    return None;
                }
                Some("notifications/tools/list_changed") => {
                    self.shared.flood.count_message();
                    self.shared.tools_changed.notify_one();
                    return None;
                }
                // What else it tells is nothing to us; what it asks is answered here.
                // rmcp would start a task for each, and there may be no end of them.
                _ => return self.handle_request(&message, text),
            }
        } else {
            self.handle_response(message)
        };
        if read.is_some() {
            self.shared.flood.count_message();
        } else if !self.shared.outcome.has_ended() {
            self.skip_line(text);
        }
        read
    }

    /// Pings are answered and all else that a server may ask is refused, on the spot.
    fn handle_request(
        &mut self,
        message: &Map<String, Value>,
        text: &[u8],
    ) -> Option<ServerJsonRpcMessage> {
        let method = message.get("method").and_then(Value::as_str);
        let (Some(method), false) = (method, message.contains_key("result")) else {
            self.skip_line(text);
            return None;
        };
        self.shared.flood.count_message();
        let id = message.get("id").filter(|id| !id.is_null())?;
        if let Err(fault) = self.shared.flood.count_request() {
            self.shared.outcome.end(fault);
        }
        let reply = match method {
            "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
            _ => {
                let why =
                    json!({ "code": -32601, "message": format!("Method not found: {method}") });
                json!({ "jsonrpc": "2.0", "id": id, "error": why })
            }
        };
        self.replies.push(reply);
        None
    }

    /// What is to be sent to the server for what was read last.
    pub fn take_replies(&mut self) -> impl Iterator<Item = Value> {
        std::mem::take(&mut self.replies).into_iter()
    }

    fn handle_response(&mut self, mut message: Map<String, Value>) -> Option<ServerJsonRpcMessage> {
        let error = message.remove("error").filter(|error| !error.is_null());
        let id = message.remove("id").filter(|id| !id.is_null());
        let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        if let Some(tool) = id
            .as_ref()
            .and_then(|id| self.shared.cancelled.take_late(id))
        {
            (self.on_late_answer)(tool);
        }
        if let Some(error) = error {
            return Some(JsonRpcMessage::error(decode_error(error), id));
        }
        let (result, id) = (message.remove("result")?, id?);
        if let Some((_, opening)) = self
            .pending_handshake
            .take_if(|(opening, _)| *opening == id)
        {
            let opened = match opening {
                HandshakeRequest::Initialize => {
                    decode::decode_initialize(result).map(ServerResult::InitializeResult)
                }
                HandshakeRequest::Discover => {
                    decode::decode_discover(result).map(ServerResult::DiscoverResult)
                }
            };
            return match opened {
                Ok(result) => Some(JsonRpcMessage::response(result, id)),
                Err(fault) => {
                    self.shared.outcome.end(fault);
                    None
                }
            };
        }
        let raw = ServerResult::CustomResult(CustomResult::new(result));
        Some(JsonRpcMessage::response(raw, id))
    }
}

/// An error whose fields may be missing or of another type.
fn decode_error(error: Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64);
    let code = code.and_then(|code| i32::try_from(code).ok());
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
        assert_eq!(inbox.take_replies().count(), 4);
        let skipped = shared
            .flood
            .skipped_summary()
            .expect("the wrong items are told");
        assert!(skipped.starts_with("2 lines "), "{skipped}");
    }
}
