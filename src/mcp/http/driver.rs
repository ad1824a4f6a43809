//! Owns every request of a connection. Dropping it drops them all, with their sockets:
//! no task goes on.

use super::answer::Stream;
use super::exchange::{Ended, exchange};
use super::fault::WebFault;
use super::outgoing::Outgoing;
use super::shared::{Carrier, Open, Shared};
use super::standing;
use crate::mcp::fault::Fault;
use futures::StreamExt;
use futures::future::{AbortHandle, Abortable, BoxFuture, FutureExt};
use futures::stream::FuturesUnordered;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Requests under way; more wait their turn.
const REQUESTS_MAX: usize = 256;
/// Until the bytes of a request are on their way that is to be cancelled.
const SENT_DEADLINE: Duration = Duration::from_secs(1);
/// Refusals in a row after which the connection is made anew: some servers answer an
/// unknown session with a status that says nothing.
const REFUSALS_MAX: u32 = 2;
/// Once a session is unknown, so long for the others that met the same.
const UNKNOWN_DEADLINE: Duration = Duration::from_millis(500);

/// What has ended.
struct Over {
    what: What,
    ended: Ended,
}

enum What {
    Request(Value),
    /// A subscription may be refused without harm.
    Subscription(Value),
    Notification {
        opens_the_stream: bool,
    },
    Standing,
    /// An answer to the server, or the cancellation of a request.
    Aside,
    Aborted,
}

pub struct Driver {
    shared: Arc<Shared>,
    under_way: FuturesUnordered<BoxFuture<'static, Over>>,
    /// A notification is under way that others wait for.
    is_waiting: bool,
    refusals: u32,
}

impl Driver {
    pub fn new(shared: Arc<Shared>, standing: Option<Stream>) -> Self {
        let driver = Self {
            shared,
            under_way: FuturesUnordered::new(),
            is_waiting: false,
            refusals: 0,
        };
        if let Some(stream) = standing {
            let shared = driver.shared.clone();
            let reading = async move {
                let ended = standing::read(&shared, stream).await;
                Over {
                    what: What::Standing,
                    ended: match ended {
                        Ended::Well => Ended::Broken(WebFault::StreamClosed),
                        ended => ended,
                    },
                }
            };
            driver.under_way.push(reading.boxed());
        }
        driver
    }

    /// Sends what is queued, in its order, until the connection is of no use any more.
    pub async fn run(mut self, mut queue: mpsc::Receiver<Outgoing>) -> Fault {
        loop {
            let has_room = !self.is_waiting && self.under_way.len() < REQUESTS_MAX;
            tokio::select! {
                biased;
                Some(over) = self.under_way.next(), if !self.under_way.is_empty() => {
                    if let Some(fault) = self.settle(over).await {
                        self.shared.drain().await;
                        return fault;
                    }
                }
                next = queue.recv(), if has_room => match next {
                    Some(out) => self.begin(out),
                    None => return Fault::Dropped,
                },
            }
        }
    }

    fn begin(&mut self, out: Outgoing) {
        if let Some(cancelled) = out.cancels.clone() {
            return self.cancel(out, &cancelled);
        }
        let what = match (&out.id, &out.method) {
            (Some(id), _) if out.is("subscriptions/listen") => What::Subscription(id.clone()),
            (Some(id), _) => What::Request(id.clone()),
            (None, Some(_)) => What::Notification {
                opens_the_stream: out.is("notifications/initialized")
                    && self.shared.carrier == Carrier::Http,
            },
            (None, None) => What::Aside,
        };
        self.is_waiting |= out.is_barrier();
        let sent = CancellationToken::new();
        let (abort, registration) = AbortHandle::new_pair();
        if let Some(id) = &out.id {
            let sent = sent.clone();
            self.shared.open(id, Open { abort, sent });
        }
        let exchange = exchange(self.shared.clone(), out, sent);
        let over = Abortable::new(exchange, registration).map(|ended| match ended {
            Ok(ended) => Over { what, ended },
            Err(_) => Over {
                what: What::Aborted,
                ended: Ended::Well,
            },
        });
        self.under_way.push(over.boxed());
    }

    /// Gives a request up. In the newer era the end of its connection says so; in the
    /// older one the server is told, and never before it has the request itself.
    fn cancel(&mut self, out: Outgoing, cancelled: &Value) {
        let Some(open) = self.shared.close(cancelled) else {
            return;
        };
        if out.version.is_some() || self.shared.is_modern() {
            return open.abort.abort();
        }
        let shared = self.shared.clone();
        let telling = async move {
            let _ = timeout(SENT_DEADLINE, open.sent.cancelled()).await;
            let ended = exchange(shared, out, CancellationToken::new()).await;
            open.abort.abort();
            let what = What::Aside;
            Over { what, ended }
        };
        self.under_way.push(telling.boxed());
    }

    /// What follows from an end; a fault where it is that of all.
    async fn settle(&mut self, over: Over) -> Option<Fault> {
        if let What::Request(id) | What::Subscription(id) = &over.what {
            self.shared.close(id);
        }
        if let What::Notification { .. } = over.what {
            self.is_waiting = false;
        }
        match (over.ended, over.what) {
            (Ended::Broken(fault), _) => Some(fault.into()),
            (Ended::Unknown, what) => Some(self.unknown(what).await),
            (Ended::Failed(fault), What::Request(_)) => {
                self.refusals += 1;
                (self.refusals >= REFUSALS_MAX).then(|| fault.into())
            }
            (Ended::Well, What::Request(_)) => {
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
                let shared = self.shared.clone();
                let keeping = async move {
                    let ended = standing::keep(&shared).await;
                    let what = What::Standing;
                    Over { what, ended }
                };
                self.under_way.push(keeping.boxed());
                None
            }
            (Ended::Failed(fault), _) => {
                tracing::debug!("a message was not taken: {fault}");
                None
            }
            (Ended::Well, _) => None,
        }
    }

    /// The session is unknown to the server, which did nothing for those that were told
    /// so: they may be asked again in another session.
    async fn unknown(&mut self, what: What) -> Fault {
        self.shared.forget_session();
        let mut next = Some(Over {
            what,
            ended: Ended::Unknown,
        });
        let others = async {
            while let Some(over) = next.take() {
                if let (Ended::Unknown, What::Request(id)) = (&over.ended, &over.what) {
                    self.shared.link.refuse(id);
                }
                next = self.under_way.next().await;
            }
        };
        let _ = timeout(UNKNOWN_DEADLINE, others).await;
        WebFault::SessionLost.into()
    }
}
