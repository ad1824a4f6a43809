//! What all requests of one connection share: where they go, in which session, and
//! where what they bring is handed in.

use super::client::{Ask, Remote};
use super::error::HttpError;
use super::outgoing::Outgoing;
use crate::mcp::decode;
use crate::mcp::session_shared::SessionShared;
use crate::mcp::startup::Stage;
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
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A message that came in: as it was written, and as JSON where it is that.
pub struct Incoming {
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
    Http,
}

pub struct Connection {
    pub remote: Arc<Remote>,
    pub carrier: HttpKind,
    /// Where messages are posted.
    pub target: Url,
    pub shared: Arc<SessionShared>,
    incoming: mpsc::Sender<Incoming>,
    session: Mutex<Option<HeaderValue>>,
    version: Mutex<Option<HeaderValue>>,
    is_modern: Mutex<bool>,
    /// Requests without an answer, by their ids. Those that were taken and will be
    /// answered on another stream are among them.
    open: Mutex<HashMap<String, PendingRequest>>,
}

/// An open request.
#[derive(Clone)]
pub struct PendingRequest {
    pub abort: AbortHandle,
    /// Cancelled once its bytes are on their way.
    pub sent: CancellationToken,
}

impl Connection {
    pub fn new(
        remote: Arc<Remote>,
        shared: Arc<SessionShared>,
        carrier: HttpKind,
        target: Url,
    ) -> (Arc<Self>, mpsc::Receiver<Incoming>) {
        let (incoming, receiver) = mpsc::channel(INCOMING_MAX);
        let connection = Self {
            remote,
            carrier,
            target,
            shared,
            incoming,
            session: Mutex::default(),
            version: Mutex::default(),
            is_modern: Mutex::default(),
            open: Mutex::default(),
        };
        (Arc::new(connection), receiver)
    }

    /// Sends a message; its answer may be JSON or a stream.
    pub async fn post(
        &self,
        out: &Outgoing,
        sent: &CancellationToken,
    ) -> Result<Response, HttpError> {
        let mut headers = out.headers.clone();
        let accepted = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accepted);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(version) = &out.version {
            *lock_ignoring_poison(&self.version) = Some(version.clone());
            *lock_ignoring_poison(&self.is_modern) = true;
        }
        if out.is("initialize") {
            // What opens a session is in none yet, and the probe before it proved nothing.
            *lock_ignoring_poison(&self.version) = None;
            *lock_ignoring_poison(&self.is_modern) = false;
        } else {
            self.put_session(&mut headers);
        }
        let ask = Ask {
            method: Method::POST,
            url: self.target.clone(),
            headers,
            body: Some((out.body.clone(), sent.clone())),
        };
        let response = self.remote.send(&ask).await?;
        if out.is("initialize") && response.status().is_success() {
            *lock_ignoring_poison(&self.session) = response.headers().get(SESSION_ID).cloned();
        }
        Ok(response)
    }

    /// Asks for a stream of what the server has to say, or for the rest of one.
    pub async fn get(&self, last_id: &[u8]) -> Result<Response, HttpError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.put_session(&mut headers);
        if let Some(id) = HeaderValue::from_bytes(last_id)
            .ok()
            .filter(|_| !last_id.is_empty())
        {
            headers.insert(LAST_EVENT_ID, id);
        }
        let ask = Ask {
            method: Method::GET,
            url: self.target.clone(),
            headers,
            body: None,
        };
        self.remote.send(&ask).await
    }

    /// Ends the session at the server, if there is one that can be ended.
    pub async fn delete(&self) {
        let mut headers = HeaderMap::new();
        self.put_session(&mut headers);
        let ask = Ask {
            method: Method::DELETE,
            url: self.target.clone(),
            headers,
            body: None,
        };
        if self.has_session() && self.remote.send(&ask).await.is_err() {
            tracing::debug!("the session could not be ended at the server");
        }
    }

    fn put_session(&self, headers: &mut HeaderMap) {
        if let Some(session) = lock_ignoring_poison(&self.session).clone() {
            headers.insert(SESSION_ID, session);
        }
        if let Some(version) = lock_ignoring_poison(&self.version).clone() {
            headers.insert(VERSION, version);
        }
    }

    pub fn has_session(&self) -> bool {
        lock_ignoring_poison(&self.session).is_some()
    }

    /// Is the connection one of the era without sessions?
    pub fn is_modern(&self) -> bool {
        *lock_ignoring_poison(&self.is_modern)
    }

    /// The session is gone: there is nothing left to end.
    pub fn forget_session(&self) {
        *lock_ignoring_poison(&self.session) = None;
    }

    pub fn open(&self, id: &Value, open: PendingRequest) {
        lock_ignoring_poison(&self.open).insert(id.to_string(), open);
    }

    fn is_open(&self, id: &Value) -> bool {
        lock_ignoring_poison(&self.open).contains_key(&id.to_string())
    }

    pub fn close(&self, id: &Value) -> Option<PendingRequest> {
        lock_ignoring_poison(&self.open).remove(&id.to_string())
    }

    /// Hands in what was read, one message or several. Says whether `asked` is among what
    /// it answers. The request of any other answer is over as well.
    pub async fn deliver(&self, text: Vec<u8>, asked: Option<&Value>) -> bool {
        let messages = match decode::parse(&text) {
            // A batch, as one of the older revisions has them.
            Some(Value::Array(batch)) => batch
                .into_iter()
                .map(|value| Incoming {
                    text: value.to_string().into_bytes(),
                    value: Some(value),
                })
                .collect(),
            value => vec![Incoming { text, value }],
        };
        let mut is_answered = false;
        for message in messages {
            let answered = message.value.as_ref().and_then(answered).cloned();
            if let Some(id) = &answered
                && self.shared.startup.stage() != Stage::Open
                && !self.is_open(id)
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
            let open = self.close(&id);
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
        let mut known = lock_ignoring_poison(&self.version);
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
fn answered(message: &Value) -> Option<&Value> {
    let fields = message.as_object()?;
    let is_answer = !fields.contains_key("method")
        && (fields.contains_key("result") || fields.contains_key("error"));
    fields.get("id").filter(|id| is_answer && !id.is_null())
}
