//! The HTTP+SSE transport of revision 2024-11-05, which `rmcp` does not support: `GET /sse` opens a
//! stream whose first event names the endpoint for the client's messages. The session lasts as long
//! as the stream.

use super::super::message::{self, RpcErrorResponse};
use super::super::queue_transport::{QUEUE_CAPACITY, QueueTransport};
use super::response::{self, Response};
use crate::sync::lock_ignoring_poison;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use rmcp::handler::server::ServerHandler;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::serve_server_with_ct;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, interval_at, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

/// Comments sent at this interval keep proxies from closing the stream and detect clients that are
/// gone.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The first message must arrive within this time.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a message may wait for room in the session's queue.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);

/// The open streams by session id.
#[derive(Debug)]
pub struct SseSessions {
    max: usize,
    inboxes: Mutex<HashMap<String, mpsc::Sender<ClientJsonRpcMessage>>>,
}

impl SseSessions {
    pub fn new(max: usize) -> Self {
        Self {
            max,
            inboxes: Mutex::default(),
        }
    }

    /// Opens a session; its stream ends when `stop` is cancelled.
    pub fn open<H: ServerHandler>(
        self: &Arc<Self>,
        handler: H,
        stop: &CancellationToken,
    ) -> Response {
        let (inbox, incoming) = mpsc::channel(QUEUE_CAPACITY);
        let (outgoing, outbox) = mpsc::channel(QUEUE_CAPACITY);
        let id = Uuid::new_v4().to_string();
        {
            let mut inboxes = lock_ignoring_poison(&self.inboxes);
            if inboxes.len() >= self.max {
                return unavailable(response::SESSIONS_IN_USE);
            }
            inboxes.insert(id.clone(), inbox);
        }
        let stop = stop.child_token();
        let transport = QueueTransport::new(incoming, outgoing);
        tokio::spawn(serve_session(handler, transport, stop.clone()));
        let endpoint = format!("event: endpoint\ndata: /message?sessionId={id}\n\n");
        let stream = SessionStream {
            endpoint: Some(endpoint),
            outbox,
            keep_alive: interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE),
            _guard: SessionGuard {
                sessions: Arc::clone(self),
                id,
                _stop: stop.drop_guard(),
            },
        };
        let mut response = http::Response::new(stream.boxed());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    /// Passes a message to the session named in the query string.
    pub async fn accept(&self, query: Option<&str>, body: &[u8]) -> Response {
        let inbox = session_id(query).and_then(|id| {
            lock_ignoring_poison(&self.inboxes)
                .get(id.as_ref())
                .cloned()
        });
        let Some(inbox) = inbox else {
            let sentence = "Unknown session: open a stream with GET /sse first.";
            return response::text(StatusCode::NOT_FOUND, sentence);
        };
        let message = match message::parse(body) {
            Ok(message) => message,
            Err(error) => return bad_message(&error),
        };
        match timeout(ACCEPT_TIMEOUT, inbox.send(message)).await {
            Ok(Ok(())) => response::text(StatusCode::ACCEPTED, "Accepted"),
            Ok(Err(_)) => response::text(StatusCode::NOT_FOUND, "The session has ended."),
            Err(_) => unavailable("The session is busy. Read its stream, then try again."),
        }
    }
}

pub fn bad_message(error: &RpcErrorResponse) -> Response {
    response::json(StatusCode::BAD_REQUEST, error)
}

fn unavailable(sentence: &str) -> Response {
    response::retry_when_free(response::text(StatusCode::SERVICE_UNAVAILABLE, sentence))
}

fn session_id(query: Option<&str>) -> Option<std::borrow::Cow<'_, str>> {
    let mut pairs = url::form_urlencoded::parse(query?.as_bytes());
    pairs
        .find(|(name, _)| name == "sessionId")
        .map(|(_, id)| id)
}

async fn serve_session<H: ServerHandler>(
    handler: H,
    transport: QueueTransport,
    stop: CancellationToken,
) {
    let opening = serve_server_with_ct(handler, transport, stop);
    match timeout(HANDSHAKE_TIMEOUT, opening).await {
        Ok(Ok(running)) => {
            let _ = running.waiting().await;
        }
        Ok(Err(error)) => tracing::debug!("an SSE session failed to start: {error}"),
        Err(_) => tracing::debug!("an SSE session got no message in time"),
    }
}

/// The client's end: the body of the response to `GET /sse`.
struct SessionStream {
    /// The first event, until it is sent.
    endpoint: Option<String>,
    outbox: mpsc::Receiver<String>,
    keep_alive: Interval,
    _guard: SessionGuard,
}

/// Ends the session when dropped, which happens when the client closes the stream.
struct SessionGuard {
    sessions: Arc<SseSessions>,
    id: String,
    _stop: DropGuard,
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        lock_ignoring_poison(&self.sessions.inboxes).remove(&self.id);
    }
}

impl Body for SessionStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = |text: String| Poll::Ready(Some(Ok(Frame::data(Bytes::from(text)))));
        if let Some(endpoint) = self.endpoint.take() {
            return frame(endpoint);
        }
        match self.outbox.poll_recv(context) {
            Poll::Ready(Some(message)) => {
                self.keep_alive.reset();
                frame(format!("event: message\ndata: {message}\n\n"))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => match self.keep_alive.poll_tick(context) {
                Poll::Ready(_) => frame(": keep-alive\n\n".to_owned()),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}
