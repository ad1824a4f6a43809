//! One connection attempt to a remote server: detects the HTTP transport if none is configured,
//! runs the session, and ends it on the server.

use crate::domain::server::{ProtocolMode, RemoteTransport, ServerTransport};
use crate::mcp::error::McpError;
use crate::mcp::http::{
    Connection, EndpointWait, HttpDriver, HttpError, HttpKind, HttpTransport, QUEUE_MAX,
    RemoteClient, open_sse_endpoint,
};
use crate::mcp::session::discover_wait::DiscoverWait;
use crate::mcp::session::inbox::Inbox;
use crate::mcp::session::shared::SessionShared;
use crate::mcp::session::{self, Handshake};
use crate::mcp::stdio::startup::HandshakeStage;
use crate::mcp::supervisor::endpoint::RemoteEndpoint;
use crate::mcp::supervisor::run::{ConnectionAttempt, SessionChannel};
use crate::mcp::supervisor::{ServerSupervisor, SessionEnd};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Time limit for ending the session on the server, which may be gone.
const DELETE_TIMEOUT: Duration = Duration::from_secs(1);

impl ServerSupervisor {
    pub async fn connect_remote(&self, endpoint: &RemoteEndpoint) -> SessionEnd {
        let (url, headers) = (endpoint.url.clone(), endpoint.headers.clone());
        let secrets = self.context.secrets.clone();
        let authorizer = self.authorizer.clone();
        let building = tokio::task::spawn_blocking(move || {
            let client = RemoteClient::new(&url, &headers, secrets)?;
            Ok(client.with_authorizer(authorizer))
        });
        let remote = tokio::select! {
            () = self.stop.cancelled() => return SessionEnd::Stopped,
            remote = building => match remote {
                Ok(Ok(remote)) => Arc::new(remote),
                Ok(Err(error)) => return SessionEnd::Failed(HttpError::into(error), None),
                Err(_) => return SessionEnd::Failed(McpError::SessionClosed, None),
            },
        };
        let (protocol, launch_id) = {
            let config = &self.state.borrow().config;
            (config.protocol, config.launch.identity())
        };
        let http_kind = match (endpoint.transport, protocol) {
            (RemoteTransport::Http, _) | (_, ProtocolMode::Modern) => HttpKind::Streamable,
            (RemoteTransport::Sse, _) => HttpKind::Sse,
            (RemoteTransport::Auto, _) => {
                // Try the previously detected transport first.
                let cached_kind = self.context.cache.get(&launch_id).await.http_kind;
                return self
                    .detect_http_kind(&remote, cached_kind.unwrap_or(HttpKind::Sse))
                    .await;
            }
        };
        let channel = SessionChannel::Remote(&remote, http_kind, EndpointWait::Long);
        self.negotiate(channel).await.end
    }

    /// Tries one transport and, if the server does not support it, the other one.
    async fn detect_http_kind(&self, remote: &Arc<RemoteClient>, first: HttpKind) -> SessionEnd {
        let try_transport = |kind, wait| self.negotiate(SessionChannel::Remote(remote, kind, wait));
        let attempt = try_transport(first, EndpointWait::Short).await;
        let Some(mut first_error) = transport_mismatch(&attempt) else {
            return attempt.end;
        };
        let second = match first {
            HttpKind::Sse => HttpKind::Streamable,
            HttpKind::Streamable => HttpKind::Sse,
        };
        tracing::info!("trying the other HTTP transport: {first_error}");
        let attempt = try_transport(second, EndpointWait::Long).await;
        let Some(second_error) = transport_mismatch(&attempt) else {
            return attempt.end;
        };
        if let HttpError::NoEndpoint(_) | HttpError::StreamableStream = first_error {
            // The server does not use streamable HTTP after all, so it may just be slow.
            let attempt = try_transport(first, EndpointWait::Long).await;
            match transport_mismatch(&attempt) {
                Some(error) => first_error = error,
                None => return attempt.end,
            }
        }
        let (sse, http) = match first {
            HttpKind::Sse => (first_error, second_error),
            HttpKind::Streamable => (second_error, first_error),
        };
        let (sse, http) = (Box::new(sse), Box::new(http));
        SessionEnd::Failed(HttpError::NeitherTransport { sse, http }.into(), None)
    }

    /// Runs one session over HTTP, and ends it on the server.
    pub async fn run_remote(
        &self,
        remote: &Arc<RemoteClient>,
        (http_kind, wait): (HttpKind, EndpointWait),
        shared: &Arc<SessionShared>,
        handshake: Handshake,
    ) -> SessionEnd {
        let opening = async {
            match http_kind {
                HttpKind::Streamable => Ok((remote.url.clone(), None)),
                HttpKind::Sse => {
                    let opened = open_sse_endpoint(remote, wait).await;
                    opened.map(|(target, stream)| (target, Some(stream)))
                }
            }
        };
        let (target, server_stream) = tokio::select! {
            biased;
            () = self.stop.cancelled() => return SessionEnd::Stopped,
            () = self.manual_reconnect.notified() => return SessionEnd::ReconnectRequested,
            opened = opening => match opened {
                Ok(opened) => opened,
                Err(error) => return SessionEnd::Failed(error.into(), None),
            },
        };
        let (connection, incoming) =
            Connection::new(remote.clone(), shared.clone(), http_kind, target);
        let (outbox, queue) = mpsc::channel(QUEUE_MAX);
        let time_limit = self.state.borrow().config.startup_timeout;
        let mut inbox = Inbox::new(shared.clone(), self.late_answer_handler());
        inbox.discover_wait = DiscoverWait::new(handshake.discover_timeout(time_limit));
        let http_transport = HttpTransport::new(outbox, incoming, inbox, shared.clone());
        let transport = match http_kind {
            HttpKind::Sse => ServerTransport::Sse,
            HttpKind::Streamable => ServerTransport::Http,
        };
        let session = session::run_session(
            http_transport,
            shared,
            (handshake, time_limit),
            |ready| async move {
                self.cache_http_kind(http_kind).await;
                self.maintain_session(ready, transport).await;
            },
        );
        // Record this error before the session is dropped, because dropping it records a generic
        // one.
        let driver = async {
            let error = HttpDriver::new(connection.clone(), server_stream)
                .run(queue)
                .await;
            shared.outcome.end(error);
            shared.outcome.wait_for_end().await
        };
        let end = self
            .run_until_stopped(shared, async {
                tokio::select! {
                    error = session => error,
                    error = driver => error,
                }
            })
            .await;
        // All other requests have been dropped by now.
        let _ = timeout(DELETE_TIMEOUT, connection.delete()).await;
        end
    }

    async fn cache_http_kind(&self, http_kind: HttpKind) {
        let launch_id = self.state.borrow().config.launch.identity();
        let cache = &self.context.cache;
        cache
            .update(&launch_id, move |detected| {
                detected.http_kind = Some(http_kind);
            })
            .await;
    }
}

/// The error of an attempt, if it suggests that the server does not support the transport.
fn transport_mismatch(attempt: &ConnectionAttempt) -> Option<HttpError> {
    match &attempt.end {
        SessionEnd::Failed(McpError::Http(error), _)
            if error.is_request_specific() && attempt.stage != HandshakeStage::Open =>
        {
            Some(error.clone())
        }
        _ => None,
    }
}
