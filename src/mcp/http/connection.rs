//! State shared by all requests of one connection: the URL, the session, and the queue of incoming
//! messages.

use super::client::{HttpRequest, RemoteClient};
use super::error::HttpError;
use super::outgoing_message::OutgoingMessage;
use crate::mcp::session::decode;
use crate::mcp::session::shared::SessionShared;
use crate::mcp::stdio::startup::HandshakeStage;
use crate::sync::lock_ignoring_poison;
use futures::future::AbortHandle;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Maximum number of incoming messages waiting to be processed.
const INCOMING_MAX: usize = 16;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An incoming message: its text, and its JSON if it is valid.
pub struct IncomingMessage {
    pub text: Vec<u8>,
    pub value: Option<Value>,
}

/// The two HTTP transports of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpKind {
    /// HTTP+SSE: responses arrive on a stream that the client opens first.
    Sse,
    /// Each response arrives in the HTTP response to its request.
    #[serde(rename = "http")]
    Streamable,
}

pub struct Connection {
    pub remote: Arc<RemoteClient>,
    pub http_kind: HttpKind,
    /// The URL that messages are posted to.
    pub post_url: Url,
    pub shared: Arc<SessionShared>,
    incoming: mpsc::Sender<IncomingMessage>,
    session_id: Mutex<Option<HeaderValue>>,
    protocol_version: Mutex<Option<HeaderValue>>,
    is_modern: Mutex<bool>,
    /// Cancelled once it is known that no server stream will open.
    pub lacks_server_stream: CancellationToken,
    /// Unanswered requests by id, including those that the server accepted and will answer on
    /// another stream.
    pending: Mutex<HashMap<String, PendingHttpRequest>>,
}

#[derive(Clone)]
pub struct PendingHttpRequest {
    pub abort: AbortHandle,
    /// Cancelled when sending its body starts.
    pub send_started: CancellationToken,
}

impl Connection {
    pub fn new(
        remote: Arc<RemoteClient>,
        shared: Arc<SessionShared>,
        http_kind: HttpKind,
        post_url: Url,
    ) -> (Arc<Self>, mpsc::Receiver<IncomingMessage>) {
        let (incoming, receiver) = mpsc::channel(INCOMING_MAX);
        let connection = Self {
            remote,
            http_kind,
            post_url,
            shared,
            incoming,
            session_id: Mutex::default(),
            protocol_version: Mutex::default(),
            is_modern: Mutex::default(),
            lacks_server_stream: CancellationToken::new(),
            pending: Mutex::default(),
        };
        (Arc::new(connection), receiver)
    }

    /// Sends a message. The response may be JSON or a stream.
    pub async fn post(
        &self,
        outgoing: &OutgoingMessage,
        send_started: &CancellationToken,
    ) -> Result<Response, HttpError> {
        let mut headers = outgoing.headers.clone();
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accepted);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(version) = &outgoing.version {
            *lock_ignoring_poison(&self.protocol_version) = Some(version.clone());
            *lock_ignoring_poison(&self.is_modern) = true;
        }
        if outgoing.is_method("initialize") {
            // `initialize` belongs to no session yet, and the version of an earlier probe does not
            // apply.
            *lock_ignoring_poison(&self.protocol_version) = None;
            *lock_ignoring_poison(&self.is_modern) = false;
        } else {
            self.add_session_headers(&mut headers);
        }
        let request = HttpRequest {
            method: Method::POST,
            url: self.post_url.clone(),
            headers,
            body: Some((outgoing.body.clone(), send_started.clone())),
        };
        let response = self.remote.send(&request).await?;
        if outgoing.is_method("initialize") && response.status().is_success() {
            *lock_ignoring_poison(&self.session_id) = response.headers().get(SESSION_ID).cloned();
        }
        Ok(response)
    }

    /// Requests the server stream, or the rest of an interrupted stream after the event `last_id`.
    pub async fn get(&self, last_id: &[u8]) -> Result<Response, HttpError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.add_session_headers(&mut headers);
        if let Some(id) = HeaderValue::from_bytes(last_id)
            .ok()
            .filter(|_| !last_id.is_empty())
        {
            headers.insert(LAST_EVENT_ID, id);
        }
        let request = HttpRequest {
            method: Method::GET,
            url: self.post_url.clone(),
            headers,
            body: None,
        };
        self.remote.send(&request).await
    }

    /// Ends the session on the server, if there is one.
    pub async fn delete(&self) {
        let mut headers = HeaderMap::new();
        self.add_session_headers(&mut headers);
        let request = HttpRequest {
            method: Method::DELETE,
            url: self.post_url.clone(),
            headers,
            body: None,
        };
        if self.has_session() && self.remote.send(&request).await.is_err() {
            tracing::debug!("the session could not be ended on the server");
        }
    }

    fn add_session_headers(&self, headers: &mut HeaderMap) {
        if let Some(session) = lock_ignoring_poison(&self.session_id).clone() {
            headers.insert(SESSION_ID, session);
        }
        if let Some(version) = lock_ignoring_poison(&self.protocol_version).clone() {
            headers.insert(PROTOCOL_VERSION, version);
        }
    }

    pub fn has_session(&self) -> bool {
        lock_ignoring_poison(&self.session_id).is_some()
    }

    /// Whether the connection uses the modern protocol, which has no sessions.
    pub fn is_modern(&self) -> bool {
        *lock_ignoring_poison(&self.is_modern)
    }

    /// Clears the session id, which the server no longer recognizes.
    pub fn clear_session(&self) {
        *lock_ignoring_poison(&self.session_id) = None;
    }

    pub fn add_pending(&self, id: &Value, request: PendingHttpRequest) {
        lock_ignoring_poison(&self.pending).insert(id.to_string(), request);
    }

    fn is_pending(&self, id: &Value) -> bool {
        lock_ignoring_poison(&self.pending).contains_key(&id.to_string())
    }

    pub fn take_pending(&self, id: &Value) -> Option<PendingHttpRequest> {
        lock_ignoring_poison(&self.pending).remove(&id.to_string())
    }

    /// Delivers one received message or a batch. Returns whether it answers the request
    /// `expected_id`. If it answers another pending request, that request stops waiting for its own
    /// HTTP response.
    pub async fn deliver(&self, text: Vec<u8>, expected_id: Option<&Value>) -> bool {
        let messages = match decode::parse_message(&text) {
            // A batch, as in the 2025-03-26 revision.
            Some(Value::Array(batch)) => batch
                .into_iter()
                .map(|value| IncomingMessage {
                    text: value.to_string().into_bytes(),
                    value: Some(value),
                })
                .collect(),
            value => vec![IncomingMessage { text, value }],
        };
        let mut is_answered = false;
        for message in messages {
            let request_id = message
                .value
                .as_ref()
                .and_then(answered_id)
                .map(decode::requested_id);
            if let Some(id) = &request_id
                && self.shared.startup.stage() != HandshakeStage::Open
                && !self.is_pending(id)
            {
                tracing::debug!("ignored an unsolicited answer");
                continue;
            }
            if let Some(value) = &message.value {
                self.record_version(value);
            }
            // Sending fails only if the receiver is gone; then this connection is about to be
            // dropped too.
            let _ = self.incoming.send(message).await;
            let Some(id) = request_id else { continue };
            let pending = self.take_pending(&id);
            if expected_id == Some(&id) {
                is_answered = true;
            } else if let Some(pending) = pending {
                pending.abort.abort();
            }
        }
        is_answered
    }

    /// Records the negotiated revision, which every later request must name.
    fn record_version(&self, message: &Value) {
        let version = message
            .pointer("/result/protocolVersion")
            .and_then(Value::as_str);
        let mut protocol_version = lock_ignoring_poison(&self.protocol_version);
        if let (Some(version), None) = (version, &*protocol_version) {
            *protocol_version = HeaderValue::from_str(version).ok();
        }
    }

    /// Gives delivered messages time to be processed before the end of the connection is reported.
    pub async fn drain(&self) {
        let _ = timeout(DRAIN_TIMEOUT, self.incoming.reserve_many(INCOMING_MAX)).await;
        tokio::task::yield_now().await;
    }
}

/// Whether a message or one of a batch answers the request `id`.
pub fn answers_request(message: &Value, id: &Value) -> bool {
    let answers = |message| answered_id(message).map(decode::requested_id).as_ref() == Some(id);
    match message {
        Value::Array(batch) => batch.iter().any(answers),
        single => answers(single),
    }
}

/// The id of the request that a message answers, even if it has neither a result nor an error.
fn answered_id(message: &Value) -> Option<&Value> {
    let fields = message.as_object()?;
    let is_answer = !fields.contains_key("method");
    fields.get("id").filter(|id| is_answer && !id.is_null())
}
