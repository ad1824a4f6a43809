//! The life of a server that is reached by URL: over which protocol it is talked to,
//! found out where it is not configured, and what is done at the end of a session.

use super::fault::Fault;
use super::http::{Carrier, Driver, HttpWire, QUEUE_MAX, Remote, Shared, WebFault, endpoint};
use super::inbox::Inbox;
use super::line::{End, Line};
use super::link::{Link, Stage};
use super::live::{Met, Way};
use super::memory;
use super::session::{self, Handshake};
use crate::domain::Redactor;
use crate::domain::server::{Protocol, RemoteTransport, Transport};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// For telling the server that a session is over; it may be gone itself.
const DELETE_DEADLINE: Duration = Duration::from_secs(1);

/// Where a server is, as it is configured.
pub struct Address {
    pub url: String,
    pub transport: RemoteTransport,
    pub headers: Vec<(String, String)>,
    /// Removes what the server was told in confidence from all that it says.
    pub redactor: Arc<Redactor>,
}

impl Line {
    /// One run of a server that is reached by URL.
    pub(super) async fn live_remote(&self, address: &Address) -> End {
        let (url, headers) = (address.url.clone(), address.headers.clone());
        let redactor = address.redactor.clone();
        let building = tokio::task::spawn_blocking(move || Remote::new(&url, &headers, redactor));
        let remote = tokio::select! {
            () = self.stop.cancelled() => return End::Stopped,
            remote = building => match remote {
                Ok(Ok(remote)) => Arc::new(remote),
                Ok(Err(fault)) => return End::Fault(fault.into(), None),
                Err(_) => return End::Fault(Fault::Dropped, None),
            },
        };
        let (protocol, launch) = {
            let config = &self.state.borrow().config;
            (config.protocol, config.launch.identity())
        };
        let known = self.around.memory.of(&launch).await.carrier;
        let carrier = match (address.transport, protocol, known) {
            (RemoteTransport::Http, ..) | (_, Protocol::Modern, _) => Carrier::Http,
            (RemoteTransport::Sse, ..) => Carrier::Sse,
            (RemoteTransport::Guess, _, Some(memory::Carrier::Sse)) => Carrier::Sse,
            (RemoteTransport::Guess, _, Some(memory::Carrier::Http)) => Carrier::Http,
            (RemoteTransport::Guess, _, None) => return self.guess(&remote, Carrier::Sse).await,
        };
        if address.transport == RemoteTransport::Guess && protocol != Protocol::Modern {
            // What it spoke last comes first.
            return self.guess(&remote, carrier).await;
        }
        self.live_over(Way::Remote(&remote, carrier)).await.end
    }

    /// Tries one protocol and, where the server does not speak that, the other.
    async fn guess(&self, remote: &Arc<Remote>, first: Carrier) -> End {
        let met = self.live_over(Way::Remote(remote, first)).await;
        let Some(one) = not_spoken(&met) else {
            return met.end;
        };
        let second = match first {
            Carrier::Sse => Carrier::Http,
            Carrier::Http => Carrier::Sse,
        };
        tracing::info!("tried over another protocol of HTTP: {one}");
        let met = self.live_over(Way::Remote(remote, second)).await;
        let Some(other) = not_spoken(&met) else {
            return met.end;
        };
        let (sse, http) = match first {
            Carrier::Sse => (one, other),
            Carrier::Http => (other, one),
        };
        let (sse, http) = (Box::new(sse), Box::new(http));
        End::Fault(WebFault::Neither { sse, http }.into(), None)
    }

    /// One session over HTTP, with its end.
    pub(super) async fn run_remote(
        &self,
        remote: &Arc<Remote>,
        carrier: Carrier,
        link: &Arc<Link>,
        handshake: Handshake,
    ) -> End {
        let opening = async {
            match carrier {
                Carrier::Http => Ok((remote.url.clone(), None)),
                Carrier::Sse => {
                    let opened = endpoint(remote).await;
                    opened.map(|(target, stream)| (target, Some(stream)))
                }
            }
        };
        let (target, standing) = tokio::select! {
            biased;
            () = self.stop.cancelled() => return End::Stopped,
            () = self.by_hand.notified() => return End::ByHand,
            opened = opening => match opened {
                Ok(opened) => opened,
                Err(fault) => return End::Fault(fault.into(), None),
            },
        };
        let (shared, incoming) = Shared::new(remote.clone(), link.clone(), carrier, target);
        let (outbox, queue) = mpsc::channel(QUEUE_MAX);
        let inbox = Inbox::new(link.clone(), self.on_late_answer());
        let wire = HttpWire::new(outbox, incoming, inbox, link.clone());
        let startup = self.startup_left();
        let transport = match carrier {
            Carrier::Sse => Transport::Sse,
            Carrier::Http => Transport::Http,
        };
        let session = session::run(wire, link, (handshake, startup), |opened| async move {
            self.remember_carrier(carrier).await;
            self.keep(opened, transport).await;
        });
        // The end is told before the session is dropped, which would tell another one.
        let driver = async {
            let fault = Driver::new(shared.clone(), standing).run(queue).await;
            link.end(fault);
            link.ended().await
        };
        let end = self
            .until_told(link, async {
                tokio::select! {
                    fault = session => fault,
                    fault = driver => fault,
                }
            })
            .await;
        // All requests are dropped; this one is the last.
        let _ = timeout(DELETE_DEADLINE, shared.delete()).await;
        end
    }

    async fn remember_carrier(&self, carrier: Carrier) {
        let launch = self.state.borrow().config.launch.identity();
        let carrier = match carrier {
            Carrier::Sse => memory::Carrier::Sse,
            Carrier::Http => memory::Carrier::Http,
        };
        let memory = &self.around.memory;
        memory
            .update(&launch, move |known| known.carrier = Some(carrier))
            .await;
    }
}

/// The fault of a server that does not speak the protocol that was tried.
fn not_spoken(met: &Met) -> Option<WebFault> {
    match &met.end {
        End::Fault(Fault::Web(fault), _)
            if fault.is_about_the_question() && met.stage != Stage::Open =>
        {
            Some(fault.clone())
        }
        _ => None,
    }
}
