//! One connection attempt: picks a handshake and runs the session, as long as it is open.

use super::detection_cache::Era;
use super::endpoint::Endpoint;
use super::error::McpError;
use super::http::{HttpKind, RemoteClient};
use super::hub_event::HubEvent;
use super::inbox::{Inbox, OnLateAnswer};
use super::process::{Process, Program};
use super::session::{self, Handshake, McpSession, ReadySession};
use super::session_shared::SessionShared;
use super::startup::HandshakeStage;
use super::status::{ServerPhase, describe_tool_changes};
use super::stdio_transport::{OUTBOX_MESSAGES_MAX, StdioTransport, write_queue};
use super::supervisor::{ServerSupervisor, SessionEnd};
use super::tool_list::ListedTools;
use super::tool_subscription;
use crate::domain::server::{ProtocolMode, ServerTransport};
use crate::domain::{LaunchConfig, Notice};
use crate::text::Clean;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Changes of a list that come this close together are one.
const RELIST_DELAY: Duration = Duration::from_millis(200);
/// A server whose list changes again within this time is asked less and less often.
const RELIST_QUIET_PERIOD: Duration = Duration::from_secs(40);
const RELIST_DELAY_MAX: Duration = Duration::from_secs(30);
/// Until a server that was reached by URL has the stream that it speaks on.
const SERVER_STREAM_DELAY: Duration = Duration::from_secs(1);
/// How long the output of a process that has ended may still be read.
const OUTPUT_DRAIN_DEADLINE: Duration = Duration::from_millis(200);
/// How long a session that is to end goes on for what was cancelled just before.
const CANCEL_GRACE: Duration = Duration::from_millis(100);

/// What came of one handshake, and of the session behind it.
pub(super) struct ConnectionAttempt {
    pub end: SessionEnd,
    /// How far it came.
    pub stage: HandshakeStage,
}

/// What a session is run over.
pub(super) enum SessionChannel<'a> {
    BuiltIn,
    Process(&'a Program),
    Remote(&'a Arc<RemoteClient>, HttpKind),
}

impl ServerSupervisor {
    /// One run of the server, from its start until nothing of it is left. One that
    /// does not take to the first handshake is started again for the other.
    pub(super) async fn connect(&self, endpoint: &Endpoint) -> SessionEnd {
        match endpoint {
            Endpoint::BuiltIn => self.negotiate(SessionChannel::BuiltIn).await.end,
            Endpoint::Process(program) => {
                self.negotiate(SessionChannel::Process(program)).await.end
            }
            Endpoint::Remote(address) => self.connect_remote(address).await,
        }
    }

    pub(super) async fn negotiate(&self, channel: SessionChannel<'_>) -> ConnectionAttempt {
        let (protocol, launch) = {
            let config = &self.state.borrow().config;
            (config.protocol, config.launch.identity())
        };
        let first = match (protocol, &channel) {
            (ProtocolMode::Legacy, _)
            | (ProtocolMode::Auto, SessionChannel::BuiltIn)
            // It is a protocol of the older era itself.
            | (_, SessionChannel::Remote(_, HttpKind::Sse)) => Handshake::Initialize,
            (ProtocolMode::Modern, _) => Handshake::Discover,
            (ProtocolMode::Auto, _) => match self.context.cache.get(&launch).await.era {
                Some(Era::Legacy) => Handshake::Initialize,
                Some(Era::Modern) => Handshake::Discover,
                None => Handshake::DiscoverOrInitialize,
            },
        };
        let (mut handshake, mut tried) = (first, Vec::new());
        loop {
            let attempt = self.try_handshake(&channel, handshake).await;
            tried.push(handshake);
            let next = match protocol {
                ProtocolMode::Auto => fallback_handshake(handshake, &attempt),
                ProtocolMode::Legacy | ProtocolMode::Modern => None,
            };
            match next.filter(|next| !tried.contains(next)) {
                Some(next) => handshake = next,
                None => return attempt,
            }
            if let SessionEnd::Failed(fault, _) = &attempt.end {
                let server = &self.state.borrow().config.id;
                tracing::info!("MCP server `{server}` is met anew, with {handshake:?}: {fault}");
            }
            let cache = &self.context.cache;
            cache.update(&launch, |known| known.era = None).await;
        }
    }

    async fn try_handshake(
        &self,
        way: &SessionChannel<'_>,
        handshake: Handshake,
    ) -> ConnectionAttempt {
        let shared = Arc::new(SessionShared::with_log(self.stderr.clone()));
        let end = match way {
            SessionChannel::Remote(remote, carrier) => {
                self.run_remote(remote, *carrier, &shared, handshake).await
            }
            SessionChannel::BuiltIn => {
                let streams = tokio::io::split(self.context.local.connect());
                let session =
                    self.run_session(streams, &shared, handshake, ServerTransport::InMemory);
                self.run_until_stopped(&shared, session).await
            }
            SessionChannel::Process(program) => self.run_child(program, &shared, handshake).await,
        };
        let stage = shared.startup.stage();
        self.state.send_if_modified(|state| {
            state.skipped = shared.flood.skipped_summary();
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
            match Process::spawn(program, &self.context.groups, &self.stderr) {
                Ok(spawned) => spawned,
                Err(fault) => return SessionEnd::Failed(fault, None),
            };
        let end = {
            let session =
                self.run_session((output, input), shared, handshake, ServerTransport::Stdio);
            self.run_until_stopped(shared, async {
                let mut session = pin!(session);
                tokio::select! {
                    fault = &mut session => fault,
                    // What it started may hold its output open for ever.
                    () = process.wait_for_exit() => {
                        let rest = timeout(OUTPUT_DRAIN_DEADLINE, session).await;
                        rest.unwrap_or(McpError::ProcessExited)
                    }
                }
            })
            .await
        };
        // The session is dropped and with it stdin is closed.
        let status = process.close().await;
        match end {
            SessionEnd::Failed(fault, _) => SessionEnd::Failed(fault, status),
            other => other,
        }
    }

    /// Runs a session until it ends, or somebody ends it.
    pub(super) async fn run_until_stopped(
        &self,
        shared: &SessionShared,
        session: impl Future<Output = McpError>,
    ) -> SessionEnd {
        let mut session = pin!(session);
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {
                if shared.cancelled.has_recent() {
                    // The word of it is on its way, and the server may act on it.
                    let _ = timeout(CANCEL_GRACE, session).await;
                }
                SessionEnd::Stopped
            }
            () = self.manual_reconnect.notified() => SessionEnd::ReconnectRequested,
            fault = &mut session => SessionEnd::Failed(fault, None),
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
        let inbox = Inbox::new(shared.clone(), self.on_late_answer());
        let wire = StdioTransport::new(reader, outbox, shared.clone(), inbox);
        let startup = self.remaining_startup_time();
        let session = session::run_session(wire, shared, (handshake, startup), |opened| {
            self.maintain_session(opened, transport)
        });
        // The end is told before the session is dropped, which would tell another one; and
        // the first reason stands, since the queue ends with the session too.
        let writing = async {
            shared.outcome.end(write_queue(queue, writer).await);
            shared.outcome.wait_for_end().await
        };
        tokio::select! {
            fault = session => fault,
            fault = writing => fault,
        }
    }

    /// What is left of the time to start, all handshakes together; the later ones get
    /// two thirds of it in any case.
    pub(super) fn remaining_startup_time(&self) -> Duration {
        let state = self.state.borrow();
        let whole = state.config.startup_timeout;
        whole
            .saturating_sub(state.starting_since.elapsed())
            .max(whole * 2 / 3)
    }

    pub(super) fn on_late_answer(&self) -> OnLateAnswer {
        let events = self.context.events.clone();
        let server = self.state.borrow().config.id.clone();
        Box::new(move |tool: String| {
            let notice = Notice::warning(format!(
                "Server `{server}` went on working on `{tool}` after the call was cancelled."
            ));
            let _ = events.try_send(HubEvent::Noticed(notice));
        })
    }

    /// Publishes an open session and keeps its list of tools fresh.
    pub(super) async fn maintain_session(
        &self,
        mut opened: ReadySession,
        transport: ServerTransport,
    ) {
        let session = opened.session.clone();
        session
            .shared
            .param_headers
            .register_tools(&mut opened.tools);
        let listens = opened.is_modern && opened.supports_list_changed;
        self.cache_era(&opened).await;
        self.state.send_modify(|state| {
            state.phase = ServerPhase::Connected(opened.session);
            state.was_connected = true;
            state.tools = Arc::new(opened.tools.tools);
            state.omitted = opened.tools.omitted;
            state.instructions = opened.instructions;
            state.peer = opened.server_info.map(|about| about.into_peer(transport));
        });
        self.report().await;
        let looks_again = !opened.is_modern && opened.supports_list_changed;
        let listening = async {
            if listens {
                tool_subscription::listen_for_tool_changes(&session).await;
            } else if looks_again && transport == ServerTransport::Http {
                relist_after_reconnects(&session).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            () = listening => {}
            () = self.follow_changes(&session) => {}
        }
    }

    async fn follow_changes(&self, session: &McpSession) {
        let (mut pause, mut listed_at) = (RELIST_DELAY, None::<Instant>);
        loop {
            session.shared.tools_changed.notified().await;
            // Some servers call the very question a change, and would be asked for ever.
            pause = match listed_at {
                Some(at) if at.elapsed() < RELIST_QUIET_PERIOD => (pause * 2).min(RELIST_DELAY_MAX),
                _ => RELIST_DELAY,
            };
            sleep(pause).await;
            listed_at = Some(Instant::now());
            match session::list_tools(&session.peer).await {
                Ok(listed) => self.apply_tool_list(session, listed).await,
                Err(why) => {
                    let server = self.state.borrow().config.id.clone();
                    let what =
                        format!("The changed tools of server `{server}` could not be listed");
                    let notice = self.redactors().all.redact(&format!("{what}: {why}."));
                    self.send(HubEvent::Noticed(Notice::warning(notice))).await;
                }
            }
        }
    }

    /// The next start begins with the handshake that led here.
    async fn cache_era(&self, opened: &ReadySession) {
        let (protocol, launch, is_built_in) = {
            let config = &self.state.borrow().config;
            let is_built_in = config.launch == LaunchConfig::BuiltIn;
            (config.protocol, config.launch.identity(), is_built_in)
        };
        if protocol == ProtocolMode::Auto && !is_built_in {
            let era = if opened.is_modern {
                Era::Modern
            } else {
                Era::Legacy
            };
            let cache = &self.context.cache;
            cache
                .update(&launch, move |known| known.era = Some(era))
                .await;
        }
    }

    async fn apply_tool_list(&self, session: &McpSession, mut listed: ListedTools) {
        session.shared.param_headers.register_tools(&mut listed);
        let (before, server) = {
            let state = self.state.borrow();
            (state.tools.clone(), state.config.id.clone())
        };
        let change = describe_tool_changes(&before, &listed.tools);
        if change.is_none() && listed.omitted == self.state.borrow().omitted {
            return;
        }
        self.state.send_modify(|state| {
            state.tools = Arc::new(listed.tools);
            state.omitted = listed.omitted;
        });
        self.report().await;
        if let Some(change) = change {
            let server = Clean::name(server.as_str());
            let notice = Notice::info(format!("Server `{server}` changed its tools: {change}."));
            self.send(HubEvent::Noticed(notice)).await;
        }
    }
}

/// Over HTTP a change that is told before the server has a stream to tell it on is lost.
async fn relist_after_reconnects(session: &McpSession) {
    sleep(SERVER_STREAM_DELAY).await;
    loop {
        session.shared.tools_changed.notify_one();
        session.shared.stream_reopened.notified().await;
    }
}

/// The handshake to try next, where the last was the wrong one. Many servers of the
/// older era end, hang or lock up when they are asked for `server/discover`.
fn fallback_handshake(last: Handshake, met: &ConnectionAttempt) -> Option<Handshake> {
    let SessionEnd::Failed(fault, _) = &met.end else {
        return None;
    };
    match (last, met.stage, fault) {
        // What it prints is no fault of the question.
        (_, _, McpError::NotMcp { .. }) => None,
        // Nor is a way that leads nowhere.
        (_, _, McpError::Http(fault)) if !fault.is_request_specific() => None,
        (Handshake::DiscoverOrInitialize | Handshake::Discover, HandshakeStage::Discovering, _) => {
            Some(Handshake::Initialize)
        }
        // It said no to both.
        (
            Handshake::DiscoverOrInitialize,
            HandshakeStage::Initializing,
            McpError::UnsupportedVersion(_) | McpError::InvalidHandshake(_),
        ) => None,
        // It said that it does not know the probe, and was lost for it all the same.
        (Handshake::DiscoverOrInitialize, HandshakeStage::Initializing, _) => {
            Some(Handshake::Initialize)
        }
        // It may be of the newer era and too slow for the probe, or be so since it was
        // met last.
        (
            Handshake::Initialize,
            HandshakeStage::Initializing,
            McpError::UnsupportedVersion(_) | McpError::InvalidHandshake(_),
        ) => Some(Handshake::Discover),
        // Over HTTP a probe loses nothing, if there was none yet.
        (Handshake::Initialize, HandshakeStage::Initializing, McpError::Http(_)) => {
            Some(Handshake::DiscoverOrInitialize)
        }
        _ => None,
    }
}
