//! One connection attempt: selects a handshake and runs the session while it is open.

use crate::domain::{LaunchConfig, Notice, server::ProtocolMode, server::ServerTransport};
use crate::mcp::content::list_subscription;
use crate::mcp::error::McpError;
use crate::mcp::http::{EndpointWait, HttpKind, RemoteClient};
use crate::mcp::hub_event::HubEvent;
use crate::mcp::server_requests::answer_incoming;
use crate::mcp::session::detection_cache::Era;
use crate::mcp::session::discover_wait::DiscoverWait;
use crate::mcp::session::fallback_handshake::fallback_handshake;
use crate::mcp::session::inbox::{Inbox, LateAnswerHandler};
use crate::mcp::session::shared::SessionShared;
use crate::mcp::session::{self, Handshake, McpSession, ReadySession};
use crate::mcp::stdio::process::{Process, Program};
use crate::mcp::stdio::startup::HandshakeStage;
use crate::mcp::stdio::transport::{OUTBOX_MESSAGES_MAX, StdioTransport, write_queue};
use crate::mcp::supervisor::endpoint::Endpoint;
use crate::mcp::supervisor::server_log;
use crate::mcp::supervisor::status::ServerPhase;
use crate::mcp::supervisor::{ServerSupervisor, SessionEnd};
use crate::text::Clean;
use rmcp::model::RootsListChangedNotification;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long to keep reading the output of an exited process.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_millis(200);
/// How long an ending session waits for a recent cancellation to be sent.
const CANCEL_GRACE: Duration = Duration::from_millis(100);

/// The outcome of one handshake and the session it opened.
pub struct ConnectionAttempt {
    pub end: SessionEnd,
    /// How far the handshake got.
    pub stage: HandshakeStage,
}

pub enum SessionChannel<'a> {
    BuiltIn,
    Process(&'a Program),
    /// The last field matters only for HTTP+SSE.
    Remote(&'a Arc<RemoteClient>, HttpKind, EndpointWait),
}

impl ServerSupervisor {
    /// Starts the server, runs its session and stops it. If the first handshake fails, the server
    /// may be restarted for another handshake.
    pub async fn connect(&self, endpoint: &Endpoint) -> SessionEnd {
        match endpoint {
            Endpoint::BuiltIn => self.negotiate(SessionChannel::BuiltIn).await.end,
            Endpoint::Process(program) => {
                self.negotiate(SessionChannel::Process(program)).await.end
            }
            Endpoint::Remote(address) => self.connect_remote(address).await,
        }
    }

    /// Tries handshakes in turn until one opens a session or none is left.
    pub async fn negotiate(&self, channel: SessionChannel<'_>) -> ConnectionAttempt {
        let (protocol, launch_id) = {
            let config = &self.state.borrow().config;
            (config.protocol, config.launch.identity())
        };
        let first = match (protocol, &channel) {
            (ProtocolMode::Legacy, _)
            | (ProtocolMode::Auto, SessionChannel::BuiltIn)
            // HTTP+SSE itself belongs to the legacy protocol.
            | (_, SessionChannel::Remote(_, HttpKind::Sse, _)) => Handshake::Initialize,
            (ProtocolMode::Modern, _) => Handshake::Discover,
            (ProtocolMode::Auto, _) => match self.context.cache.get(&launch_id).await.era {
                Some(Era::Legacy) => Handshake::Initialize,
                Some(Era::Modern) => Handshake::Discover,
                None => Handshake::DiscoverOrInitialize,
            },
        };
        let is_process = matches!(channel, SessionChannel::Process(_));
        let (mut handshake, mut tried, mut timed_out) = (first, Vec::new(), false);
        loop {
            let mut attempt = self.try_handshake(&channel, handshake).await;
            tried.push(handshake);
            if let SessionEnd::Failed(McpError::HandshakeTimeout(time_limit), status) = attempt.end
            {
                attempt.end = SessionEnd::Failed(
                    match timed_out && is_process {
                        true => McpError::SecondHandshakeTimeout(time_limit),
                        false => McpError::HandshakeTimeout(time_limit),
                    },
                    status,
                );
                timed_out = true;
            }
            let next = match protocol {
                ProtocolMode::Auto => fallback_handshake(handshake, &attempt),
                ProtocolMode::Legacy | ProtocolMode::Modern => None,
            };
            match next.filter(|next| !tried.contains(next)) {
                Some(next) => handshake = next,
                None => return attempt,
            }
            if let SessionEnd::Failed(error, _) = &attempt.end {
                let server = &self.state.borrow().config.id;
                tracing::info!(
                    "MCP server `{server}` did not accept the handshake; trying {handshake:?}: {error}"
                );
            }
            let cache = &self.context.cache;
            cache
                .update(&launch_id, |detected| detected.era = None)
                .await;
        }
    }

    async fn try_handshake(
        &self,
        channel: &SessionChannel<'_>,
        handshake: Handshake,
    ) -> ConnectionAttempt {
        let shared = Arc::new(SessionShared::new(
            self.stderr.clone(),
            self.context.secrets.clone(),
            self.context.roots.current(),
        ));
        let end = match channel {
            SessionChannel::Remote(remote, http_kind, wait) => {
                self.run_remote(remote, (*http_kind, *wait), &shared, handshake)
                    .await
            }
            SessionChannel::BuiltIn => {
                let streams = tokio::io::split(self.context.built_in_server.connect());
                let session =
                    self.run_session(streams, &shared, handshake, ServerTransport::InMemory);
                self.run_until_stopped(&shared, session).await
            }
            SessionChannel::Process(program) => self.run_child(program, &shared, handshake).await,
        };
        let stage = shared.startup.stage();
        self.state.send_if_modified(|state| {
            state.skipped_summary = shared.flood.skipped_summary();
            false
        });
        ConnectionAttempt { end, stage }
    }

    async fn run_child(
        &self,
        program: &Program,
        shared: &Arc<SessionShared>,
        handshake: Handshake,
    ) -> SessionEnd {
        let (mut process, input, output) =
            match Process::spawn(program, &self.context.process_groups, &self.stderr) {
                Ok(spawned) => spawned,
                Err(error) => return SessionEnd::Failed(error, None),
            };
        let end = {
            let session =
                self.run_session((output, input), shared, handshake, ServerTransport::Stdio);
            self.run_until_stopped(shared, async {
                let mut session = pin!(session);
                tokio::select! {
                    error = &mut session => error,
                    // A descendant may keep the output open forever.
                    () = process.wait_for_exit() => {
                        let drained = timeout(OUTPUT_DRAIN_TIMEOUT, session).await;
                        drained.unwrap_or(McpError::ProcessExited)
                    }
                }
            })
            .await
        };
        // The session was dropped above, which closed stdin.
        let status = process.close().await;
        match end {
            SessionEnd::Failed(error, _) => SessionEnd::Failed(error, status),
            other => other,
        }
    }

    pub async fn run_until_stopped(
        &self,
        shared: &SessionShared,
        session: impl Future<Output = McpError>,
    ) -> SessionEnd {
        let mut session = pin!(session);
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {
                if shared.cancelled.has_recent() {
                    // The cancellation is being sent, and the server may act on it.
                    let _ = timeout(CANCEL_GRACE, session).await;
                }
                SessionEnd::Stopped
            }
            () = self.manual_reconnect.notified() => SessionEnd::ReconnectRequested,
            error = &mut session => SessionEnd::Failed(error, None),
        }
    }

    async fn run_session<R, W>(
        &self,
        (reader, writer): (R, W),
        shared: &Arc<SessionShared>,
        handshake: Handshake,
        transport: ServerTransport,
    ) -> McpError
    where
        R: tokio::io::AsyncRead + Unpin + Send + 'static,
        W: tokio::io::AsyncWrite + Unpin,
    {
        let (outbox, queue) = mpsc::channel(OUTBOX_MESSAGES_MAX);
        let time_limit = self.state.borrow().config.startup_timeout;
        let mut inbox = Inbox::new(shared.clone(), self.late_answer_handler());
        inbox.discover_wait = DiscoverWait::new(handshake.discover_timeout(time_limit));
        let stdio_transport = StdioTransport::new(reader, outbox, shared.clone(), inbox);
        let session =
            session::run_session(stdio_transport, shared, (handshake, time_limit), |ready| {
                self.maintain_session(ready, transport)
            });
        // Record this error before the session is dropped, because dropping it records a generic
        // one. Only the first error is kept.
        let writing = async {
            shared.outcome.end(write_queue(queue, writer).await);
            shared.outcome.wait_for_end().await
        };
        tokio::select! {
            error = session => error,
            error = writing => error,
        }
    }

    pub fn late_answer_handler(&self) -> LateAnswerHandler {
        let events = self.context.events.clone();
        let server = Clean::name(self.state.borrow().config.id.as_str());
        Box::new(move |tool: String| {
            let tool = Clean::name(&tool);
            let notice = Notice::warning(format!(
                "Server `{server}` kept running `{tool}` after the call was cancelled."
            ));
            let _ = events.try_send(HubEvent::Noticed(notice));
        })
    }

    /// Publishes an open session, keeps its lists up to date and answers the server's requests.
    pub async fn maintain_session(&self, mut ready: ReadySession, transport: ServerTransport) {
        let session = ready.session.clone();
        session
            .shared
            .param_headers
            .register_tools(&mut ready.tools);
        let content = ready.content;
        let reports_tool_changes = ready.reports_tool_changes;
        let reports_list_changes = reports_tool_changes || content.reports_changes();
        let is_modern = ready.is_modern;
        let tools_ttl = ready.tools.ttl;
        let sets_log_level = ready.sends_log_messages && !is_modern;
        let uses_subscription = is_modern && reports_list_changes;
        // A different account may have signed in since the last session.
        self.recent_reads.clear();
        self.cache_era(&ready).await;
        self.state.send_modify(|state| {
            state.phase = ServerPhase::Connected(ready.session);
            state.was_connected = true;
            state.tools = Arc::new(ready.tools.tools);
            state.omitted_tools = ready.tools.omitted;
            state.instructions = ready.instructions;
            state.peer = ready
                .server_info
                .map(|identity| identity.into_peer(transport));
        });
        self.report().await;
        let gets_notifications = !is_modern && reports_list_changes;
        let listening = async {
            if uses_subscription {
                list_subscription::listen_for_changes(&session, reports_tool_changes, content)
                    .await;
            } else if gets_notifications && transport == ServerTransport::Http {
                list_subscription::relist_after_reconnects(&session).await;
            }
            std::future::pending().await
        };
        let server = self.state.borrow().config.id.clone();
        tokio::select! {
            () = listening => {}
            () = self.maintain_tools(&session, tools_ttl) => {}
            // Boxed, because nested futures of this size would overflow a thread's stack.
            () = Box::pin(self.maintain_content(&session, content)) => {}
            () = Box::pin(self.maintain_subscriptions(&session, content, is_modern)) => {}
            () = self.announce_root_changes(&session, is_modern) => {}
            () = Box::pin(server_log::set_level(&session.peer)), if sets_log_level => {}
            () = answer_incoming(&session.shared, &self.context.requests, &server) => {}
        }
    }

    /// Notifies a legacy server each time the roots change. Modern servers ask when they need them.
    async fn announce_root_changes(&self, session: &McpSession, is_modern: bool) {
        if !session.shared.declares_roots() {
            return std::future::pending().await;
        }
        let mut known = Arc::clone(&session.shared.initial_roots);
        loop {
            known = self.context.roots.changed_from(&known).await;
            if !is_modern {
                let notification = RootsListChangedNotification::default();
                let sending = session.peer.send_notification(notification.into());
                if let Err(error) = sending.await {
                    tracing::debug!("reporting changed roots failed: {error}");
                }
            }
            self.report().await;
        }
    }

    /// Caches the protocol era, so that the next start begins with the right handshake.
    async fn cache_era(&self, ready: &ReadySession) {
        let (protocol, launch_id, is_built_in) = {
            let config = &self.state.borrow().config;
            let is_built_in = config.launch == LaunchConfig::BuiltIn;
            (config.protocol, config.launch.identity(), is_built_in)
        };
        if protocol == ProtocolMode::Auto && !is_built_in {
            let era = if ready.is_modern {
                Era::Modern
            } else {
                Era::Legacy
            };
            let cache = &self.context.cache;
            cache
                .update(&launch_id, move |detected| detected.era = Some(era))
                .await;
        }
    }
}
