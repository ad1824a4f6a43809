//! The supervisor of one configured server: one task starts it, runs its session, ends its process and
//! waits for a reason to try again.

use super::backoff::Backoff;
use super::detection_cache::DetectionCache;
use super::endpoint::Endpoint;
use super::error::{McpError, STDERR_LINES_TOLD, SessionFailure};
use super::http::HttpError;
use super::hub_event::HubEvent;
use super::process::Groups;
use super::session::Session;
use super::status::{Phase, Redactors, ServerState, SessionLookup};
use super::stderr::Stderr;
use crate::domain::{Launch, Pin, Server, ServerConfig, ServerStatus};
use crate::ports::LocalServer;
use crate::text::Clean;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// What closing the old process may add to the start-up of a new one, with its
/// listing.
const RESTART_SLACK: Duration = Duration::from_secs(35);

/// Everything that supervisors have in common.
#[derive(Clone)]
pub struct HubContext {
    pub events: mpsc::Sender<HubEvent>,
    pub groups: Groups,
    pub local: Arc<dyn LocalServer>,
    pub cache: DetectionCache,
}

pub struct ServerSupervisor {
    pub(super) state: watch::Sender<ServerState>,
    pub(super) stderr: Stderr,
    /// A call wants a session.
    demand: Notify,
    /// A person wants a new session.
    pub(super) by_hand: Notify,
    pub stop: CancellationToken,
    pub(super) context: HubContext,
}

/// Why a session is over.
pub(super) enum SessionEnd {
    Stopped,
    ByHand,
    Failed(McpError, Option<ExitStatus>),
}

impl ServerSupervisor {
    pub fn new(config: ServerConfig, context: HubContext) -> Self {
        let phase = match &config.launch {
            Launch::Misconfigured { why } => Phase::Misconfigured(why.clone()),
            _ => Phase::Starting,
        };
        let redactors = Redactors::of(&config);
        let stderr = Stderr::default();
        stderr.redact_with(redactors.all.clone());
        Self {
            state: watch::Sender::new(ServerState {
                config,
                redactors,
                phase,
                starts: 0,
                starting_since: Instant::now(),
                was_connected: false,
                skipped: None,
                tools: Arc::default(),
                left_out: Vec::new(),
                instructions: None,
                peer: None,
            }),
            stderr,
            demand: Notify::new(),
            by_hand: Notify::new(),
            stop: CancellationToken::new(),
            context,
        }
    }

    /// Takes over what can change without a restart.
    pub fn adapt(&self, config: ServerConfig) {
        let redactors = Redactors::of(&config);
        self.stderr.redact_with(redactors.all.clone());
        self.state.send_modify(|state| {
            state.config = config;
            state.redactors = redactors;
        });
    }

    /// Asks for a new session at once.
    pub fn reconnect(&self) {
        self.by_hand.notify_one();
    }

    /// Is the tool of this call still what was approved?
    pub fn has_as_approved(&self, call: &super::call::Call) -> bool {
        let state = self.state.borrow();
        let same = |pin: &Pin| {
            state
                .tools
                .iter()
                .any(|tool| tool.name == call.tool && tool.pin == *pin)
        };
        call.pin.as_ref().is_none_or(same)
    }

    pub fn tool_timeout(&self) -> Duration {
        self.state.borrow().config.tool_timeout
    }

    pub fn redactors(&self) -> Redactors {
        self.state.borrow().redactors.clone()
    }

    pub fn snapshot(&self) -> Server {
        self.state.borrow().snapshot(self.stderr.lines())
    }

    /// An open session, waiting for a start that is under way and asking for one
    /// where the last has ended.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub async fn session(&self) -> Result<Session, String> {
        let patience = self.state.borrow().config.startup_timeout + RESTART_SLACK;
        timeout(patience, self.find_session())
            .await
            .unwrap_or_else(|_| Err("the server is still starting".to_owned()))
    }

    async fn find_session(&self) -> Result<Session, String> {
        let mut states = self.state.subscribe();
        let mut asked_after = None;
        loop {
            let (look, starts) = {
                let state = states.borrow_and_update();
                (state.look(asked_after), state.starts)
            };
            match look {
                SessionLookup::Found(session) => return Ok(session),
                SessionLookup::Never(why) => return Err(why),
                SessionLookup::Wait => {}
                SessionLookup::Ask => {
                    asked_after = Some(starts);
                    self.demand.notify_one();
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => return Err("the server was switched off".to_owned()),
                // The sender is this supervisor: it cannot be gone.
                _ = states.changed() => {}
            }
        }
    }

    /// Runs until it is stopped.
    pub async fn supervise(&self) {
        let config = self.state.borrow().config.clone();
        let Some(endpoint) = Endpoint::of(config.launch, self.stderr.redactor()) else {
            return self.report().await;
        };
        let mut backoff = Backoff::default();
        while !self.stop.is_cancelled() {
            self.state.send_modify(|state| {
                state.phase = Phase::Starting;
                state.starts += 1;
                state.starting_since = Instant::now();
            });
            self.report().await;
            let started = Instant::now();
            match self.live(&endpoint).await {
                SessionEnd::Stopped => return,
                SessionEnd::ByHand => backoff.reset(),
                SessionEnd::Failed(fault, status) => {
                    let delay = backoff.failed(started.elapsed());
                    let was_connected = self.state.borrow().is_connected();
                    let is_lost = matches!(&fault, McpError::Web(HttpError::SessionLost));
                    if is_lost && was_connected && delay.is_zero() {
                        // It only forgot who we are: nobody needs to notice.
                        continue;
                    }
                    let (config, redactors) = {
                        let state = self.state.borrow();
                        (state.config.clone(), state.redactors.clone())
                    };
                    let death = SessionFailure {
                        fault,
                        server: &config.id,
                        redactor: &redactors.all,
                        was_connected,
                        status,
                        last_words: self.last_words(was_connected),
                        skipped: self.state.borrow().skipped.clone(),
                        inherit: endpoint.inherit(),
                    };
                    self.fail(&death, delay).await;
                    self.wait_for_a_reason(&mut backoff).await;
                }
            }
        }
    }

    /// Chatter of a healthy run explains nothing; at start-up it mostly does.
    fn last_words(&self, was_connected: bool) -> Vec<String> {
        let count = if was_connected { 1 } else { STDERR_LINES_TOLD };
        self.stderr.last(count)
    }

    async fn fail(&self, death: &SessionFailure<'_>, delay: Duration) {
        let notice = death.notice();
        self.stderr.note(&notice.summary());
        self.state.send_modify(|state| {
            if !state.was_connected {
                state.tools = Arc::default();
                state.left_out.clear();
                state.instructions = None;
            }
            state.phase = Phase::Failed {
                notice,
                retry_at: Instant::now() + delay,
                wants_sign_in: death.wants_sign_in(),
            };
        });
        self.report().await;
    }

    async fn wait_for_a_reason(&self, backoff: &mut Backoff) {
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.by_hand.notified() => return backoff.reset(),
                () = self.demand.notified() => {
                    // A demand of before the last start may still be stored.
                    if self.state.borrow().may_retry() {
                        return;
                    }
                }
            }
        }
    }

    pub(super) async fn report(&self) {
        let server = self.snapshot();
        log_status(&server);
        self.send(HubEvent::Changed(Box::new(server))).await;
    }

    /// Waits for room, but never beyond the end of the supervisor: whoever stops it
    /// may have ceased to listen.
    pub(super) async fn send(&self, event: HubEvent) {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            _ = self.context.events.send(event) => {}
        }
    }
}

/// Logs a change of a server's state. A server that cannot be used is an error.
fn log_status(server: &Server) {
    let id = Clean::name(server.id.as_str());
    match &server.status {
        ServerStatus::Starting => tracing::info!("MCP server `{id}` is starting"),
        ServerStatus::Connected => {
            let tools = tools_words(server.tools.len());
            tracing::info!("MCP server `{id}` is connected, with {tools}");
            for line in &server.left_out {
                tracing::warn!("MCP server `{id}`, left out: {line}");
            }
        }
        ServerStatus::NeedsSignIn(notice) => {
            tracing::error!("MCP server `{id}` needs sign-in: {}", notice.summary());
        }
        ServerStatus::Failed(notice) => {
            tracing::error!("MCP server `{id}` failed: {}", notice.summary());
        }
        ServerStatus::Misconfigured(why) if server.enabled => {
            tracing::error!("MCP server `{id}`: {why}");
        }
        ServerStatus::Misconfigured(why) => tracing::warn!("MCP server `{id}`: {why}"),
        ServerStatus::Off => {}
    }
}

fn tools_words(count: usize) -> String {
    match count {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(tools_words), ["0 tools", "1 tool", "2 tools"]);
    }
}
