//! Owns every request of a connection. Dropping it drops them all, with their sockets:
//! no task goes on.

use super::connection::{Connection, HttpKind, PendingRequest};
use super::error::HttpError;
use super::outgoing::Outgoing;
use super::request::{RequestOutcome, exchange};
use super::response::Stream;
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
const OVERTAKING: Duration = Duration::from_millis(100);
/// Refusals in a row after which the connection is made anew: some servers answer an
/// unknown session with a status that says nothing.
const REFUSALS_MAX: u32 = 2;
/// Once a session is unknown, so long for the others that met the same.
const UNKNOWN_DEADLINE: Duration = Duration::from_millis(500);

/// What has ended.
struct Over {
    what: What,
    ended: RequestOutcome,
}

enum What {
    Request(Value),
    /// It may be refused without harm.
    Subscription,
    Notification {
        opens_the_stream: bool,
    },
    Standing,
    /// An answer to the server, or the cancellation of a request.
    Aside,
    Aborted,
}

pub struct Driver {
    connection: Arc<Connection>,
    under_way: FuturesUnordered<BoxFuture<'static, Over>>,
    /// A notification is under way that others wait for.
    is_waiting: bool,
    refusals: u32,
}

impl Driver {
    pub fn new(connection: Arc<Connection>, standing: Option<Stream>) -> Self {
        let driver = Self {
            connection,
            under_way: FuturesUnordered::new(),
            is_waiting: false,
            refusals: 0,
        };
        if let Some(stream) = standing {
            let connection = driver.connection.clone();
            let reading = async move {
                let ended = server_stream::read(&connection, stream).await;
                Over {
                    what: What::Standing,
                    ended: match ended {
                        RequestOutcome::Well => RequestOutcome::Broken(HttpError::StreamClosed),
                        ended => ended,
                    },
                }
            };
            driver.under_way.push(reading.boxed());
        }
        driver
    }

    /// Sends what is queued, in its order, until the connection is of no use any more.
    pub async fn run(mut self, mut queue: mpsc::Receiver<Outgoing>) -> McpError {
        loop {
            let has_room = !self.is_waiting && self.under_way.len() < REQUESTS_MAX;
            tokio::select! {
                biased;
                Some(over) = self.under_way.next(), if !self.under_way.is_empty() => {
                    if let Some(fault) = self.settle(over).await {
                        self.connection.drain().await;
                        return fault;
                    }
                }
                next = queue.recv(), if has_room => match next {
                    Some(out) => self.begin(out),
                    None => return McpError::Dropped,
                },
            }
        }
    }

    fn begin(&mut self, out: Outgoing) {
        if let Some(cancelled) = out.cancels.clone() {
            return self.cancel(out, &cancelled);
        }
        let what = match (&out.id, &out.method) {
            (Some(_), _) if out.is("subscriptions/listen") => What::Subscription,
            (Some(id), _) => What::Request(id.clone()),
            (None, Some(_)) => What::Notification {
                opens_the_stream: out.is("notifications/initialized")
                    && self.connection.carrier == HttpKind::Http,
            },
            (None, None) => What::Aside,
        };
        self.is_waiting |= out.is_barrier();
        let sent = CancellationToken::new();
        let (abort, registration) = AbortHandle::new_pair();
        if let Some(id) = &out.id {
            let sent = sent.clone();
            self.connection.open(id, PendingRequest { abort, sent });
        }
        let exchange = exchange(self.connection.clone(), out, sent);
        let over = Abortable::new(exchange, registration).map(|ended| match ended {
            Ok(ended) => Over { what, ended },
            Err(_) => Over {
                what: What::Aborted,
                ended: RequestOutcome::Well,
            },
        });
        self.under_way.push(over.boxed());
    }

    /// Gives a request up. In the newer era the end of its connection says so; in the
    /// older one the server is told, and never before it has the request itself.
    fn cancel(&mut self, out: Outgoing, cancelled: &Value) {
        let Some(open) = self.connection.close(cancelled) else {
            return;
        };
        if out.version.is_some() || self.connection.is_modern() {
            return open.abort.abort();
        }
        let connection = self.connection.clone();
        let telling = async move {
            let _ = timeout(SENT_DEADLINE, open.sent.cancelled()).await;
            // This one may go over a connection that is faster.
            sleep(OVERTAKING).await;
            let ended = exchange(connection, out, CancellationToken::new()).await;
            open.abort.abort();
            let what = What::Aside;
            Over { what, ended }
        };
        self.under_way.push(telling.boxed());
    }

    /// What follows from an end; a fault where it is that of all.
    async fn settle(&mut self, over: Over) -> Option<McpError> {
        if let What::Notification { .. } = over.what {
            self.is_waiting = false;
        }
        match (over.ended, over.what) {
            (RequestOutcome::Broken(fault), _) => Some(fault.into()),
            (RequestOutcome::Unknown, what) => Some(self.unknown(what).await),
            (RequestOutcome::Failed(fault), What::Request(_)) => {
                self.refusals += 1;
                (self.refusals >= REFUSALS_MAX).then(|| fault.into())
            }
            (RequestOutcome::Well, What::Request(_)) => {
                self.refusals = 0;
                None
            }
            (
                ended,
                What::Notification {
                    opens_the_stream: true,
                },
            ) => {
                tracing::debug!("the server was told that the session is open: {ended:?}");
                let connection = self.connection.clone();
                let keeping = async move {
                    let ended = server_stream::keep(&connection).await;
                    let what = What::Standing;
                    Over { what, ended }
                };
                self.under_way.push(keeping.boxed());
                None
            }
            (RequestOutcome::Failed(fault), _) => {
                tracing::debug!("a message was not taken: {fault}");
                None
            }
            (RequestOutcome::Well, _) => None,
        }
    }

    /// The session is unknown to the server, which did nothing for those that were told
    /// so: they may be asked again in another session.
    async fn unknown(&mut self, what: What) -> McpError {
        let mut next = Some(Over {
            what,
            ended: RequestOutcome::Unknown,
        });
        let others = async {
            while let Some(over) = next.take() {
                if let (RequestOutcome::Unknown, What::Request(id)) = (&over.ended, &over.what) {
                    self.connection.shared.refuse(id);
                }
                next = self.under_way.next().await;
            }
        };
        let _ = timeout(UNKNOWN_DEADLINE, others).await;
        self.connection.forget_session();
        HttpError::SessionLost.into()
    }
}
