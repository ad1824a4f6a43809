//! What all requests of one connection share: where they go, in which session, and
//! where what they bring is handed in.

use super::client::{HttpRequest, RemoteClient};
use super::error::HttpError;
use super::outgoing_message::OutgoingMessage;
use crate::mcp::decode;
use crate::mcp::session_shared::SessionShared;
use crate::mcp::startup::HandshakeStage;
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

/// Messages that were read and wait to be understood.
const INCOMING_MAX: usize = 16;
const DRAIN_DEADLINE: Duration = Duration::from_millis(200);

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A message that came in: as it was written, and as JSON where it is that.
pub struct IncomingMessage {
    pub text: Vec<u8>,
    pub value: Option<Value>,
}

/// Which of the two HTTP transports of MCP carries the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpKind {
    /// Answers come on the stream that was opened first.
    Sse,
    /// Answers come where the question went.
    #[serde(rename = "http")]
    Streamable,
}

pub struct Connection {
    pub remote: Arc<RemoteClient>,
    pub http_kind: HttpKind,
    /// Where messages are posted.
    pub post_url: Url,
    pub shared: Arc<SessionShared>,
    incoming: mpsc::Sender<IncomingMessage>,
    session_id: Mutex<Option<HeaderValue>>,
    protocol_version: Mutex<Option<HeaderValue>>,
    is_modern: Mutex<bool>,
    /// Requests without an answer, by their ids. Those that were taken and will be
    /// answered on another stream are among them.
    pending: Mutex<HashMap<String, PendingHttpRequest>>,
}

/// An open request.
#[derive(Clone)]
pub struct PendingHttpRequest {
    pub abort: AbortHandle,
    /// Cancelled once its bytes are on their way.
    pub sent: CancellationToken,
}

impl Connection {
    pub fn new(
        remote: Arc<RemoteClient>,
        shared: Arc<SessionShared>,
        carrier: HttpKind,
        target: Url,
    ) -> (Arc<Self>, mpsc::Receiver<IncomingMessage>) {
        let (incoming, receiver) = mpsc::channel(INCOMING_MAX);
        let connection = Self {
            remote,
            http_kind: carrier,
            post_url: target,
            shared,
            incoming,
            session_id: Mutex::default(),
            protocol_version: Mutex::default(),
            is_modern: Mutex::default(),
            pending: Mutex::default(),
        };
        (Arc::new(connection), receiver)
    }

    /// Sends a message; its answer may be JSON or a stream.
    pub async fn post(
        &self,
        out: &OutgoingMessage,
        sent: &CancellationToken,
    ) -> Result<Response, HttpError> {
        let mut headers = out.headers.clone();
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accepted);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(version) = &out.version {
            *lock_ignoring_poison(&self.protocol_version) = Some(version.clone());
            *lock_ignoring_poison(&self.is_modern) = true;
        }
        if out.is_method("initialize") {
            // What opens a session is in none yet, and the probe before it proved nothing.
            *lock_ignoring_poison(&self.protocol_version) = None;
            *lock_ignoring_poison(&self.is_modern) = false;
        } else {
            self.add_session_headers(&mut headers);
        }
        let ask = HttpRequest {
            method: Method::POST,
            url: self.post_url.clone(),
            headers,
            body: Some((out.body.clone(), sent.clone())),
        };
        let response = self.remote.send(&ask).await?;
        if out.is_method("initialize") && response.status().is_success() {
            *lock_ignoring_poison(&self.session_id) = response.headers().get(SESSION_ID).cloned();
        }
        Ok(response)
    }

    /// Asks for a stream of what the server has to say, or for the rest of one.
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
        let ask = HttpRequest {
            method: Method::GET,
            url: self.post_url.clone(),
            headers,
            body: None,
        };
        self.remote.send(&ask).await
    }

    /// Ends the session at the server, if there is one that can be ended.
    pub async fn delete(&self) {
        let mut headers = HeaderMap::new();
        self.add_session_headers(&mut headers);
        let ask = HttpRequest {
            method: Method::DELETE,
            url: self.post_url.clone(),
            headers,
            body: None,
        };
        if self.has_session() && self.remote.send(&ask).await.is_err() {
            tracing::debug!("the session could not be ended at the server");
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

    /// Is the connection one of the era without sessions?
    pub fn is_modern(&self) -> bool {
        *lock_ignoring_poison(&self.is_modern)
    }

    /// The session is gone: there is nothing left to end.
    pub fn clear_session(&self) {
        *lock_ignoring_poison(&self.session_id) = None;
    }

    pub fn add_pending(&self, id: &Value, open: PendingHttpRequest) {
        lock_ignoring_poison(&self.pending).insert(id.to_string(), open);
    }

    fn is_pending(&self, id: &Value) -> bool {
        lock_ignoring_poison(&self.pending).contains_key(&id.to_string())
    }

    pub fn take_pending(&self, id: &Value) -> Option<PendingHttpRequest> {
        lock_ignoring_poison(&self.pending).remove(&id.to_string())
    }

    /// Hands in what was read, one message or several. Says whether `asked` is among what
    /// it answers. The request of any other answer is over as well.
    pub async fn deliver(&self, text: Vec<u8>, asked: Option<&Value>) -> bool {
        let messages = match decode::parse_message(&text) {
            // A batch, as one of the older revisions has them.
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
            let answered = message.value.as_ref().and_then(answered_id).cloned();
            if let Some(id) = &answered
                && self.shared.startup.stage() != HandshakeStage::Open
                && !self.is_pending(id)
            {
                tracing::debug!("left out an answer that nobody asked for");
                continue;
            }
            if let Some(value) = &message.value {
                self.learn_version(value);
            }
            // Nobody listens any more only when all of this is about to be dropped.
            let _ = self.incoming.send(message).await;
            let Some(id) = answered else { continue };
            let open = self.take_pending(&id);
            if asked == Some(&id) {
                is_answered = true;
            } else if let Some(open) = open {
                open.abort.abort();
            }
        }
        is_answered
    }

    /// The revision that was agreed upon goes into every later request.
    fn learn_version(&self, message: &Value) {
        let version = message
            .pointer("/result/protocolVersion")
            .and_then(Value::as_str);
        let mut known = lock_ignoring_poison(&self.protocol_version);
        if let (Some(version), None) = (version, &*known) {
            *known = HeaderValue::from_str(version).ok();
        }
    }

    /// Gives what was handed in a moment to be understood, before its end is told.
    pub async fn drain(&self) {
        let _ = timeout(DRAIN_DEADLINE, self.incoming.reserve_many(INCOMING_MAX)).await;
        tokio::task::yield_now().await;
    }
}

/// The request that a message answers.
fn answered_id(message: &Value) -> Option<&Value> {
    let fields = message.as_object()?;
    let is_answer = !fields.contains_key("method")
        && (fields.contains_key("result") || fields.contains_key("error"));
    fields.get("id").filter(|id| is_answer && !id.is_null())
}
