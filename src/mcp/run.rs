//! One connection attempt: picks a handshake and runs the session, as long as it is open.

use super::detection_cache::Era;
use super::endpoint::Endpoint;
use super::error::McpError;
use super::http::{HttpKind, Remote};
use super::hub_event::HubEvent;
use super::inbox::{Inbox, OnLateAnswer};
use super::process::{Process, Program};
use super::session::{self, Handshake, ReadySession, Session};
use super::session_shared::SessionShared;
use super::startup::Stage;
use super::status::{Phase, change};
use super::stdio_transport::{OUTBOX_MESSAGES_MAX, StdioTransport, write_all};
use super::subscribe;
use super::supervisor::{ServerSupervisor, SessionEnd};
use super::tool_list::ListedTools;
use crate::domain::server::{Protocol, Transport};
use crate::domain::{Launch, Notice};
use crate::text::Clean;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Changes of a list that come this close together are one.
const RELIST_DELAY: Duration = Duration::from_millis(200);
/// A server whose list changes again within this time is asked less and less often.
const RELIST_CALM: Duration = Duration::from_secs(40);
const RELIST_DELAY_MAX: Duration = Duration::from_secs(30);
/// Until a server that was reached by URL has the stream that it speaks on.
const STREAM_DELAY: Duration = Duration::from_secs(1);
/// How long the output of a process that has ended may still be read.
const OUTPUT_REST: Duration = Duration::from_millis(200);
/// How long a session that is to end goes on for what was cancelled just before.
const FAREWELL: Duration = Duration::from_millis(100);

/// What came of one handshake, and of the session behind it.
pub(super) struct Attempt {
    pub end: SessionEnd,
    /// How far it came.
    pub stage: Stage,
}

/// What a session is run over.
pub(super) enum Channel<'a> {
    BuiltIn,
    Child(&'a Program),
    Remote(&'a Arc<Remote>, HttpKind),
}

impl ServerSupervisor {
    /// One run of the server, from its start until nothing of it is left. One that
    /// does not take to the first handshake is started again for the other.
    pub(super) async fn live(&self, endpoint: &Endpoint) -> SessionEnd {
        match endpoint {
            Endpoint::BuiltIn => self.live_over(Channel::BuiltIn).await.end,
            Endpoint::Child(program) => self.live_over(Channel::Child(program)).await.end,
            Endpoint::Remote(address) => self.live_remote(address).await,
        }
    }

    pub(super) async fn live_over(&self, way: Channel<'_>) -> Attempt {
        let (protocol, launch) = {
            let config = &self.state.borrow().config;
            (config.protocol, config.launch.identity())
        };
        let first = match (protocol, &way) {
            (Protocol::Legacy, _)
            | (Protocol::Auto, Channel::BuiltIn)
            // It is a protocol of the older era itself.
            | (_, Channel::Remote(_, HttpKind::Sse)) => Handshake::Initialize,
            (Protocol::Modern, _) => Handshake::Discover,
            (Protocol::Auto, _) => match self.context.cache.of(&launch).await.era {
                Some(Era::Legacy) => Handshake::Initialize,
                Some(Era::Modern) => Handshake::Discover,
                None => Handshake::Probe,
            },
        };
        let (mut handshake, mut tried) = (first, Vec::new());
        loop {
            let met = self.meet(&way, handshake).await;
            tried.push(handshake);
            let next = match protocol {
                Protocol::Auto => other(handshake, &met),
                Protocol::Legacy | Protocol::Modern => None,
            };
            match next.filter(|next| !tried.contains(next)) {
                Some(next) => handshake = next,
                None => return met,
            }
            if let SessionEnd::Failed(fault, _) = &met.end {
                let server = &self.state.borrow().config.id;
                tracing::info!("MCP server `{server}` is met anew, with {handshake:?}: {fault}");
            }
            let cache = &self.context.cache;
            cache.update(&launch, |known| known.era = None).await;
        }
    }

    async fn meet(&self, way: &Channel<'_>, handshake: Handshake) -> Attempt {
        let shared = Arc::new(SessionShared::logging_to(self.stderr.clone()));
        let end = match way {
            Channel::Remote(remote, carrier) => {
                self.run_remote(remote, *carrier, &shared, handshake).await
            }
            Channel::BuiltIn => {
                let streams = tokio::io::split(self.context.local.connect());
                let session = self.run_session(streams, &shared, handshake, Transport::InMemory);
                self.until_told(&shared, session).await
            }
            Channel::Child(program) => self.run_child(program, &shared, handshake).await,
        };
        let stage = shared.startup.stage();
        self.state.send_if_modified(|state| {
            state.skipped = shared.flood.skipped();
            false
        });
        Attempt { end, stage }
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
            let session = self.run_session((output, input), shared, handshake, Transport::Stdio);
            self.until_told(shared, async {
                let mut session = pin!(session);
                tokio::select! {
                    fault = &mut session => fault,
                    // What it started may hold its output open for ever.
                    () = process.exited() => {
                        let rest = timeout(OUTPUT_REST, session).await;
                        rest.unwrap_or(McpError::Exited)
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
    pub(super) async fn until_told(
        &self,
        shared: &SessionShared,
        session: impl Future<Output = McpError>,
    ) -> SessionEnd {
        let mut session = pin!(session);
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {
                if shared.cancelled.has_new() {
                    // The word of it is on its way, and the server may act on it.
                    let _ = timeout(FAREWELL, session).await;
                }
                SessionEnd::Stopped
            }
            () = self.by_hand.notified() => SessionEnd::ByHand,
            fault = &mut session => SessionEnd::Failed(fault, None),
        }
    }

    async fn run_session<R, W>(
        &self,
        (reader, writer): (R, W),
        shared: &Arc<SessionShared>,
        handshake: Handshake,
        transport: Transport,
    ) -> McpError
    where
        R: tokio::io::AsyncRead + Unpin + Send + 'static,
        W: tokio::io::AsyncWrite + Unpin,
    {
        let (outbox, queue) = mpsc::channel(OUTBOX_MESSAGES_MAX);
        let inbox = Inbox::new(shared.clone(), self.on_late_answer());
        let wire = StdioTransport::new(reader, outbox, shared.clone(), inbox);
        let startup = self.startup_left();
        let session = session::run(wire, shared, (handshake, startup), |opened| {
            self.keep(opened, transport)
        });
        // The end is told before the session is dropped, which would tell another one; and
        // the first reason stands, since the queue ends with the session too.
        let writing = async {
            shared.outcome.end(write_all(queue, writer).await);
            shared.outcome.ended().await
        };
        tokio::select! {
            fault = session => fault,
            fault = writing => fault,
        }
    }

    /// What is left of the time to start, all handshakes together; the later ones get
    /// two thirds of it in any case.
    pub(super) fn startup_left(&self) -> Duration {
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
    pub(super) async fn keep(&self, mut opened: ReadySession, transport: Transport) {
        let session = opened.session.clone();
        session.shared.params.admit(&mut opened.tools);
        let listens = opened.is_modern && opened.supports_list_changed;
        self.remember(&opened).await;
        self.state.send_modify(|state| {
            state.phase = Phase::Connected(opened.session);
            state.was_connected = true;
            state.tools = Arc::new(opened.tools.tools);
            state.left_out = opened.tools.left_out;
            state.instructions = opened.instructions;
            state.peer = opened.about.map(|about| about.over(transport));
        });
        self.report().await;
        let looks_again = !opened.is_modern && opened.supports_list_changed;
        let listening = async {
            if listens {
                subscribe::listen(&session).await;
            } else if looks_again && transport == Transport::Http {
                look_again(&session).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            () = listening => {}
            () = self.follow_changes(&session) => {}
        }
    }

    async fn follow_changes(&self, session: &Session) {
        let (mut pause, mut listed_at) = (RELIST_DELAY, None::<Instant>);
        loop {
            session.shared.tools_changed.notified().await;
            // Some servers call the very question a change, and would be asked for ever.
            pause = match listed_at {
                Some(at) if at.elapsed() < RELIST_CALM => (pause * 2).min(RELIST_DELAY_MAX),
                _ => RELIST_DELAY,
            };
            sleep(pause).await;
            listed_at = Some(Instant::now());
            match session::list(&session.peer).await {
                Ok(listed) => self.relisted(session, listed).await,
                Err(why) => {
                    let server = self.state.borrow().config.id.clone();
                    let what =
                        format!("The changed tools of server `{server}` could not be listed");
                    let notice = self.redactors().all.redacted(&format!("{what}: {why}."));
                    self.send(HubEvent::Noticed(Notice::warning(notice))).await;
                }
            }
        }
    }

    /// The next start begins with the handshake that led here.
    async fn remember(&self, opened: &ReadySession) {
        let (protocol, launch, is_built_in) = {
            let config = &self.state.borrow().config;
            let is_built_in = config.launch == Launch::BuiltIn;
            (config.protocol, config.launch.identity(), is_built_in)
        };
        if protocol == Protocol::Auto && !is_built_in {
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

    async fn relisted(&self, session: &Session, mut listed: ListedTools) {
        session.shared.params.admit(&mut listed);
        let (before, server) = {
            let state = self.state.borrow();
            (state.tools.clone(), state.config.id.clone())
        };
        let change = change(&before, &listed.tools);
        if change.is_none() && listed.left_out == self.state.borrow().left_out {
            return;
        }
        self.state.send_modify(|state| {
            state.tools = Arc::new(listed.tools);
            state.left_out = listed.left_out;
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
async fn look_again(session: &Session) {
    sleep(STREAM_DELAY).await;
    loop {
        session.shared.tools_changed.notify_one();
        session.shared.stream_reopened.notified().await;
    }
}

/// The handshake to try next, where the last was the wrong one. Many servers of the
/// older era end, hang or lock up when they are asked for `server/discover`.
fn other(last: Handshake, met: &Attempt) -> Option<Handshake> {
    let SessionEnd::Failed(fault, _) = &met.end else {
        return None;
    };
    match (last, met.stage, fault) {
        // What it prints is no fault of the question.
        (_, _, McpError::Junk { .. }) => None,
        // Nor is a way that leads nowhere.
        (_, _, McpError::Web(fault)) if !fault.is_about_the_question() => None,
        (Handshake::Probe | Handshake::Discover, Stage::Discovering, _) => {
            Some(Handshake::Initialize)
        }
        // It said no to both.
        (Handshake::Probe, Stage::Initializing, McpError::Version(_) | McpError::Handshake(_)) => {
            None
        }
        // It said that it does not know the probe, and was lost for it all the same.
        (Handshake::Probe, Stage::Initializing, _) => Some(Handshake::Initialize),
        // It may be of the newer era and too slow for the probe, or be so since it was
        // met last.
        (
            Handshake::Initialize,
            Stage::Initializing,
            McpError::Version(_) | McpError::Handshake(_),
        ) => Some(Handshake::Discover),
        // Over HTTP a probe loses nothing, if there was none yet.
        (Handshake::Initialize, Stage::Initializing, McpError::Web(_)) => Some(Handshake::Probe),
        _ => None,
    }
}
