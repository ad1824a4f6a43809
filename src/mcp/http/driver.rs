//! The driver owns every request of a connection. Dropping the driver drops the requests and their
//! sockets; no task outlives it.

use super::connection::{Connection, HttpKind, PendingHttpRequest};
use super::error::HttpError;
use super::outgoing_message::OutgoingMessage;
use super::request::{RequestOutcome, exchange};
use super::response::EventStream;
use super::server_stream;
use crate::mcp::error::McpError;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Maximum number of requests in flight; further messages wait in the queue.
const REQUESTS_MAX: usize = 256;
/// How long a cancellation waits for its request to be sent.
const SENT_TIMEOUT: Duration = Duration::from_secs(1);
const CANCEL_DELAY: Duration = Duration::from_millis(100);
/// Number of consecutive failed requests that end the connection: some servers reject an unknown
/// session with a nonspecific status.
const CONSECUTIVE_FAILURES_MAX: u32 = 2;
/// How long to collect other requests rejected for the same unknown session.
const UNKNOWN_SESSION_GRACE: Duration = Duration::from_millis(500);

struct FinishedTask {
    kind: TaskKind,
    outcome: RequestOutcome,
}

enum TaskKind {
    Request(Value),
    /// May be rejected by the server without consequences.
    Subscription,
    Notification {
        opens_server_stream: bool,
    },
    ServerStream,
    /// A response to the server, or a cancellation.
    Auxiliary,
    Aborted,
}

pub struct HttpDriver {
    connection: Arc<Connection>,
    in_flight: FuturesUnordered<BoxFuture<'static, FinishedTask>>,
    /// Whether a notification is in flight, for which later messages must wait.
    is_blocked: bool,
    consecutive_failures: u32,
}

impl HttpDriver {
    pub fn new(connection: Arc<Connection>, opened_stream: Option<EventStream>) -> Self {
        let driver = Self {
            connection,
            in_flight: FuturesUnordered::new(),
            is_blocked: false,
            consecutive_failures: 0,
        };
        if let Some(stream) = opened_stream {
            let connection = driver.connection.clone();
            let reading = async move {
                let outcome = server_stream::read_to_end(&connection, stream).await;
                FinishedTask {
                    kind: TaskKind::ServerStream,
                    outcome: match outcome {
                        RequestOutcome::Completed => {
                            RequestOutcome::ConnectionLost(HttpError::StreamClosed)
                        }
                        outcome => outcome,
                    },
                }
            };
            driver.in_flight.push(reading.boxed());
        }
        driver
    }

    /// Sends queued messages in order until the connection fails or the queue is closed.
    pub async fn run(mut self, mut queue: mpsc::Receiver<OutgoingMessage>) -> McpError {
        loop {
            let can_send = !self.is_blocked && self.in_flight.len() < REQUESTS_MAX;
            tokio::select! {
                biased;
                Some(finished) = self.in_flight.next(), if !self.in_flight.is_empty() => {
                    if let Some(error) = self.handle_finished(finished).await {
                        self.connection.drain().await;
                        return error;
                    }
                }
                next = queue.recv(), if can_send => match next {
                    Some(outgoing) => self.begin(outgoing),
                    None => return McpError::SessionClosed,
                },
            }
        }
    }

    fn begin(&mut self, outgoing: OutgoingMessage) {
        if let Some(cancelled_id) = outgoing.cancels.clone() {
            return self.cancel(outgoing, &cancelled_id);
        }
        let kind = match (&outgoing.id, &outgoing.method) {
            (Some(_), _) if outgoing.is_method("subscriptions/listen") => TaskKind::Subscription,
            (Some(id), _) => TaskKind::Request(id.clone()),
            (None, Some(_)) => TaskKind::Notification {
                opens_server_stream: outgoing.is_method("notifications/initialized")
                    && self.connection.http_kind == HttpKind::Streamable,
            },
            (None, None) => TaskKind::Auxiliary,
        };
        self.is_blocked |= outgoing.is_barrier();
        let send_started = CancellationToken::new();
        let (abort, registration) = AbortHandle::new_pair();
        if let Some(id) = &outgoing.id {
            let send_started = send_started.clone();
            self.connection.add_pending(
                id,
                PendingHttpRequest {
                    abort,
                    send_started,
                },
            );
        }
        let exchange = exchange(self.connection.clone(), outgoing, send_started);
        let finished = Abortable::new(exchange, registration).map(|outcome| match outcome {
            Ok(outcome) => FinishedTask { kind, outcome },
            Err(_) => FinishedTask {
                kind: TaskKind::Aborted,
                outcome: RequestOutcome::Completed,
            },
        });
        self.in_flight.push(finished.boxed());
    }

    /// Cancels a request. In the modern protocol, closing its connection is enough; in the legacy
    /// protocol, the server is notified, but not before it has received the request.
    fn cancel(&mut self, outgoing: OutgoingMessage, cancelled_id: &Value) {
        let Some(pending) = self.connection.take_pending(cancelled_id) else {
            return;
        };
        if outgoing.version.is_some() || self.connection.is_modern() {
            return pending.abort.abort();
        }
        let connection = self.connection.clone();
        let notifying = async move {
            let _ = timeout(SENT_TIMEOUT, pending.send_started.cancelled()).await;
            // The cancellation may use a faster connection than the request.
            sleep(CANCEL_DELAY).await;
            let outcome = exchange(connection, outgoing, CancellationToken::new()).await;
            pending.abort.abort();
            let kind = TaskKind::Auxiliary;
            FinishedTask { kind, outcome }
        };
        self.in_flight.push(notifying.boxed());
    }

    /// Returns an error if the whole connection failed.
    async fn handle_finished(&mut self, finished: FinishedTask) -> Option<McpError> {
        if let TaskKind::Notification { .. } = finished.kind {
            self.is_blocked = false;
        }
        match (finished.outcome, finished.kind) {
            (RequestOutcome::ConnectionLost(error), _) => Some(error.into()),
            (RequestOutcome::SessionUnknown, kind) => Some(self.handle_unknown_session(kind).await),
            (RequestOutcome::Failed(error), TaskKind::Request(_)) => {
                self.consecutive_failures += 1;
                (self.consecutive_failures >= CONSECUTIVE_FAILURES_MAX).then(|| error.into())
            }
            (RequestOutcome::Completed, TaskKind::Request(_)) => {
                self.consecutive_failures = 0;
                None
            }
            (
                outcome,
                TaskKind::Notification {
                    opens_server_stream: true,
                },
            ) => {
                tracing::debug!("sent `notifications/initialized`: {outcome:?}");
                let connection = self.connection.clone();
                let reading = async move {
                    let outcome = server_stream::keep_open(&connection).await;
                    connection.lacks_server_stream.cancel();
                    let kind = TaskKind::ServerStream;
                    FinishedTask { kind, outcome }
                };
                self.in_flight.push(reading.boxed());
                None
            }
            (RequestOutcome::Failed(error), _) => {
                tracing::debug!("a message was rejected: {error}");
                None
            }
            (RequestOutcome::Completed, _) => None,
        }
    }

    /// Marks all requests that the server rejected because it does not recognize the session. It
    /// did not execute them, so they may be retried in another session.
    async fn handle_unknown_session(&mut self, kind: TaskKind) -> McpError {
        let mut next = Some(FinishedTask {
            kind,
            outcome: RequestOutcome::SessionUnknown,
        });
        let collecting = async {
            while let Some(finished) = next.take() {
                if let (RequestOutcome::SessionUnknown, TaskKind::Request(id)) =
                    (&finished.outcome, &finished.kind)
                {
                    self.connection.shared.mark_retryable(id);
                }
                next = self.in_flight.next().await;
            }
        };
        let _ = timeout(UNKNOWN_SESSION_GRACE, collecting).await;
        self.connection.clear_session();
        HttpError::SessionLost.into()
    }
}
