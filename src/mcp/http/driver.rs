//! Owns every request of a connection. Dropping it drops them all, with their sockets:
//! no task goes on.

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

/// Requests under way; more wait their turn.
const REQUESTS_MAX: usize = 256;
/// Until the bytes of a request are on their way that is to be cancelled.
const SENT_DEADLINE: Duration = Duration::from_secs(1);
const CANCEL_DELAY: Duration = Duration::from_millis(100);
/// Refusals in a row after which the connection is made anew: some servers answer an
/// unknown session with a status that says nothing.
const CONSECUTIVE_FAILURES_MAX: u32 = 2;
/// Once a session is unknown, so long for the others that met the same.
const UNKNOWN_SESSION_GRACE: Duration = Duration::from_millis(500);

/// What has ended.
struct FinishedTask {
    kind: TaskKind,
    outcome: RequestOutcome,
}

enum TaskKind {
    Request(Value),
    /// It may be refused without harm.
    Subscription,
    Notification {
        opens_server_stream: bool,
    },
    ServerStream,
    /// An answer to the server, or the cancellation of a request.
    Auxiliary,
    Aborted,
}

pub struct HttpDriver {
    connection: Arc<Connection>,
    in_flight: FuturesUnordered<BoxFuture<'static, FinishedTask>>,
    /// A notification is under way that others wait for.
    is_blocked: bool,
    consecutive_failures: u32,
}

impl HttpDriver {
    pub fn new(connection: Arc<Connection>, standing: Option<EventStream>) -> Self {
        let driver = Self {
            connection,
            in_flight: FuturesUnordered::new(),
            is_blocked: false,
            consecutive_failures: 0,
        };
        if let Some(stream) = standing {
            let connection = driver.connection.clone();
            let reading = async move {
                let ended = server_stream::read_to_end(&connection, stream).await;
                FinishedTask {
                    kind: TaskKind::ServerStream,
                    outcome: match ended {
                        RequestOutcome::Completed => {
                            RequestOutcome::ConnectionLost(HttpError::StreamClosed)
                        }
                        ended => ended,
                    },
                }
            };
            driver.in_flight.push(reading.boxed());
        }
        driver
    }

    /// Sends what is queued, in its order, until the connection is of no use any more.
    pub async fn run(mut self, mut queue: mpsc::Receiver<OutgoingMessage>) -> McpError {
        loop {
            let has_room = !self.is_blocked && self.in_flight.len() < REQUESTS_MAX;
            tokio::select! {
                biased;
                Some(over) = self.in_flight.next(), if !self.in_flight.is_empty() => {
                    if let Some(fault) = self.handle_finished(over).await {
                        self.connection.drain().await;
                        return fault;
                    }
                }
                next = queue.recv(), if has_room => match next {
                    Some(out) => self.begin(out),
                    None => return McpError::SessionClosed,
                },
            }
        }
    }

    fn begin(&mut self, out: OutgoingMessage) {
        if let Some(cancelled) = out.cancels.clone() {
            return self.cancel(out, &cancelled);
        }
        let what = match (&out.id, &out.method) {
            (Some(_), _) if out.is_method("subscriptions/listen") => TaskKind::Subscription,
            (Some(id), _) => TaskKind::Request(id.clone()),
            (None, Some(_)) => TaskKind::Notification {
                opens_server_stream: out.is_method("notifications/initialized")
                    && self.connection.http_kind == HttpKind::Streamable,
            },
            (None, None) => TaskKind::Auxiliary,
        };
        self.is_blocked |= out.is_barrier();
        let sent = CancellationToken::new();
        let (abort, registration) = AbortHandle::new_pair();
        if let Some(id) = &out.id {
            let sent = sent.clone();
            self.connection
                .add_pending(id, PendingHttpRequest { abort, sent });
        }
        let exchange = exchange(self.connection.clone(), out, sent);
        let over = Abortable::new(exchange, registration).map(|ended| match ended {
            Ok(ended) => FinishedTask {
                kind: what,
                outcome: ended,
            },
            Err(_) => FinishedTask {
                kind: TaskKind::Aborted,
                outcome: RequestOutcome::Completed,
            },
        });
        self.in_flight.push(over.boxed());
    }

    /// Gives a request up. In the newer era the end of its connection says so; in the
    /// older one the server is told, and never before it has the request itself.
    fn cancel(&mut self, out: OutgoingMessage, cancelled: &Value) {
        let Some(open) = self.connection.take_pending(cancelled) else {
            return;
        };
        if out.version.is_some() || self.connection.is_modern() {
            return open.abort.abort();
        }
        let connection = self.connection.clone();
        let telling = async move {
            let _ = timeout(SENT_DEADLINE, open.sent.cancelled()).await;
            // This one may go over a connection that is faster.
            sleep(CANCEL_DELAY).await;
            let ended = exchange(connection, out, CancellationToken::new()).await;
            open.abort.abort();
            let what = TaskKind::Auxiliary;
            FinishedTask {
                kind: what,
                outcome: ended,
            }
        };
        self.in_flight.push(telling.boxed());
    }

    /// What follows from an end; a fault where it is that of all.
    async fn handle_finished(&mut self, over: FinishedTask) -> Option<McpError> {
        if let TaskKind::Notification { .. } = over.kind {
            self.is_blocked = false;
        }
        match (over.outcome, over.kind) {
            (RequestOutcome::ConnectionLost(fault), _) => Some(fault.into()),
            (RequestOutcome::SessionUnknown, what) => Some(self.handle_unknown_session(what).await),
            (RequestOutcome::Failed(fault), TaskKind::Request(_)) => {
                self.consecutive_failures += 1;
                (self.consecutive_failures >= CONSECUTIVE_FAILURES_MAX).then(|| fault.into())
            }
            (RequestOutcome::Completed, TaskKind::Request(_)) => {
                self.consecutive_failures = 0;
                None
            }
            (
                ended,
                TaskKind::Notification {
                    opens_server_stream: true,
                },
            ) => {
                tracing::debug!("the server was told that the session is open: {ended:?}");
                let connection = self.connection.clone();
                let keeping = async move {
                    let ended = server_stream::keep_open(&connection).await;
                    let what = TaskKind::ServerStream;
                    FinishedTask {
                        kind: what,
                        outcome: ended,
                    }
                };
                self.in_flight.push(keeping.boxed());
                None
            }
            (RequestOutcome::Failed(fault), _) => {
                tracing::debug!("a message was not taken: {fault}");
                None
            }
            (RequestOutcome::Completed, _) => None,
        }
    }

    /// The session is unknown to the server, which did nothing for those that were told
    /// so: they may be asked again in another session.
    async fn handle_unknown_session(&mut self, what: TaskKind) -> McpError {
        let mut next = Some(FinishedTask {
            kind: what,
            outcome: RequestOutcome::SessionUnknown,
        });
        let others = async {
            while let Some(over) = next.take() {
                if let (RequestOutcome::SessionUnknown, TaskKind::Request(id)) =
                    (&over.outcome, &over.kind)
                {
                    self.connection.shared.mark_retryable(id);
                }
                next = self.in_flight.next().await;
            }
        };
        let _ = timeout(UNKNOWN_SESSION_GRACE, others).await;
        self.connection.clear_session();
        HttpError::SessionLost.into()
    }
}
