//! One connection attempt to a server at a URL: finds out which HTTP transport it speaks where that is
//! not configured, and closes the session at the server.

use super::endpoint::RemoteEndpoint;
use super::error::McpError;
use super::http::{
    Connection, HttpDriver, HttpError, HttpKind, HttpTransport, QUEUE_MAX, RemoteClient,
    open_sse_endpoint,
};
use super::inbox::Inbox;
use super::run::{ConnectionAttempt, SessionChannel};
use super::session::{self, Handshake};
use super::session_shared::SessionShared;
use super::startup::HandshakeStage;
use super::supervisor::{ServerSupervisor, SessionEnd};
use crate::domain::server::{ProtocolMode, RemoteTransport, ServerTransport};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// For telling the server that a session is over; it may be gone itself.
const DELETE_DEADLINE: Duration = Duration::from_secs(1);

impl ServerSupervisor {
    /// One run of a server that is reached by URL.
    pub(super) async fn connect_remote(&self, address: &RemoteEndpoint) -> SessionEnd {
        let (url, headers) = (address.url.clone(), address.headers.clone());
        let redactor = address.redactor.clone();
        let building =
            tokio::task::spawn_blocking(move || RemoteClient::new(&url, &headers, redactor));
        let remote = tokio::select! {
            () = self.stop.cancelled() => return SessionEnd::Stopped,
            remote = building => match remote {
                Ok(Ok(remote)) => Arc::new(remote),
                Ok(Err(fault)) => return SessionEnd::Failed(fault.into(), None),
                Err(_) => return SessionEnd::Failed(McpError::SessionClosed, None),
            },
        };
        let (protocol, launch) = {
            let config = &self.state.borrow().config;
            (config.protocol, config.launch.identity())
        };
        let kind = match (address.transport, protocol) {
            (RemoteTransport::Http, _) | (_, ProtocolMode::Modern) => HttpKind::Streamable,
            (RemoteTransport::Sse, _) => HttpKind::Sse,
            (RemoteTransport::Auto, _) => {
                // What it spoke last comes first.
                let known = self.context.cache.get(&launch).await.http_kind;
                return self
                    .detect_http_kind(&remote, known.unwrap_or(HttpKind::Sse))
                    .await;
            }
        };
        self.negotiate(SessionChannel::Remote(&remote, kind))
            .await
            .end
    }

    /// Tries one protocol and, where the server does not speak that, the other.
    async fn detect_http_kind(&self, remote: &Arc<RemoteClient>, first: HttpKind) -> SessionEnd {
        let met = self.negotiate(SessionChannel::Remote(remote, first)).await;
        let Some(one) = protocol_mismatch(&met) else {
            return met.end;
        };
        let second = match first {
            HttpKind::Sse => HttpKind::Streamable,
            HttpKind::Streamable => HttpKind::Sse,
        };
        tracing::info!("tried over another protocol of HTTP: {one}");
        let met = self.negotiate(SessionChannel::Remote(remote, second)).await;
        let Some(other) = protocol_mismatch(&met) else {
            return met.end;
        };
        let (sse, http) = match first {
            HttpKind::Sse => (one, other),
            HttpKind::Streamable => (other, one),
        };
        let (sse, http) = (Box::new(sse), Box::new(http));
        SessionEnd::Failed(HttpError::NeitherTransport { sse, http }.into(), None)
    }

    /// One session over HTTP, with its end.
    pub(super) async fn run_remote(
        &self,
        remote: &Arc<RemoteClient>,
        carrier: HttpKind,
        shared: &Arc<SessionShared>,
        handshake: Handshake,
    ) -> SessionEnd {
        let opening = async {
            match carrier {
                HttpKind::Streamable => Ok((remote.url.clone(), None)),
                HttpKind::Sse => {
                    let opened = open_sse_endpoint(remote).await;
                    opened.map(|(target, stream)| (target, Some(stream)))
                }
            }
        };
        let (target, standing) = tokio::select! {
            biased;
            () = self.stop.cancelled() => return SessionEnd::Stopped,
            () = self.manual_reconnect.notified() => return SessionEnd::ReconnectRequested,
            opened = opening => match opened {
                Ok(opened) => opened,
                Err(fault) => return SessionEnd::Failed(fault.into(), None),
            },
        };
        let (connection, incoming) =
            Connection::new(remote.clone(), shared.clone(), carrier, target);
        let (outbox, queue) = mpsc::channel(QUEUE_MAX);
        let inbox = Inbox::new(shared.clone(), self.on_late_answer());
        let wire = HttpTransport::new(outbox, incoming, inbox, shared.clone());
        let startup = self.remaining_startup_time();
        let transport = match carrier {
            HttpKind::Sse => ServerTransport::Sse,
            HttpKind::Streamable => ServerTransport::Http,
        };
        let session =
            session::run_session(wire, shared, (handshake, startup), |opened| async move {
                self.cache_http_kind(carrier).await;
                self.maintain_session(opened, transport).await;
            });
        // The end is told before the session is dropped, which would tell another one.
        let driver = async {
            let fault = HttpDriver::new(connection.clone(), standing)
                .run(queue)
                .await;
            shared.outcome.end(fault);
            shared.outcome.wait_for_end().await
        };
        let end = self
            .run_until_stopped(shared, async {
                tokio::select! {
                    fault = session => fault,
                    fault = driver => fault,
                }
            })
            .await;
        // All requests are dropped; this one is the last.
        let _ = timeout(DELETE_DEADLINE, connection.delete()).await;
        end
    }

    async fn cache_http_kind(&self, carrier: HttpKind) {
        let launch = self.state.borrow().config.launch.identity();
        let cache = &self.context.cache;
        cache
            .update(&launch, move |known| known.http_kind = Some(carrier))
            .await;
    }
}

/// The fault of a server that does not speak the protocol that was tried.
fn protocol_mismatch(met: &ConnectionAttempt) -> Option<HttpError> {
    match &met.end {
        SessionEnd::Failed(McpError::Http(fault), _)
            if fault.is_request_specific() && met.stage != HandshakeStage::Open =>
        {
            Some(fault.clone())
        }
        _ => None,
    }
}
