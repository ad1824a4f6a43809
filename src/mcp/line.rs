//! The line to one configured server: one task starts it, keeps its session,
//! ends its process, and then waits for a reason to try again.

use super::HubEvent;
use super::backoff::Backoff;
use super::fault::{Death, Fault, STDERR_LINES_TOLD};
use super::http::WebFault;
use super::memory::Memory;
use super::process::{Groups, Program};
use super::remote::Address;
use super::report;
use super::session::Session;
use super::state::{Look, Phase, Redactors, State};
use super::stderr::Stderr;
use crate::domain::server::Inherit;
use crate::domain::{Launch, Pin, Redactor, Server, ServerConfig};
use crate::ports::LocalServer;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// What closing the old process may add to the start-up of a new one, with its
/// listing.
const RESTART_SLACK: Duration = Duration::from_secs(35);

/// Everything that lines have in common.
#[derive(Clone)]
pub struct Surroundings {
    pub events: mpsc::Sender<HubEvent>,
    pub groups: Groups,
    pub local: Arc<dyn LocalServer>,
    pub memory: Memory,
}

pub struct Line {
    pub(super) state: watch::Sender<State>,
    pub(super) stderr: Stderr,
    /// A call wants a session.
    demand: Notify,
    /// A person wants a new session.
    pub(super) by_hand: Notify,
    pub stop: CancellationToken,
    pub(super) around: Surroundings,
}

/// What a server is reached through.
pub(super) enum Endpoint {
    BuiltIn,
    Child(Program),
    Remote(Address),
}

/// Why a session is over.
pub(super) enum End {
    Stopped,
    ByHand,
    Fault(Fault, Option<ExitStatus>),
}

impl Line {
    pub fn new(config: ServerConfig, around: Surroundings) -> Self {
        let phase = match &config.launch {
            Launch::Misconfigured { why } => Phase::Misconfigured(why.clone()),
            _ => Phase::Starting,
        };
        let redactors = Redactors::of(&config);
        let stderr = Stderr::default();
        stderr.redact_with(redactors.all.clone());
        Self {
            state: watch::Sender::new(State {
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
            around,
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
    pub fn has_as_approved(&self, call: &super::Call) -> bool {
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
                Look::Found(session) => return Ok(session),
                Look::Never(why) => return Err(why),
                Look::Wait => {}
                Look::Ask => {
                    asked_after = Some(starts);
                    self.demand.notify_one();
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => return Err("the server was switched off".to_owned()),
                // The sender is this line itself: it cannot be gone.
                _ = states.changed() => {}
            }
        }
    }

    /// The life of the line, until it is stopped.
    pub async fn supervise(&self) {
        let config = self.state.borrow().config.clone();
        let Some(endpoint) = endpoint(config, self.stderr.redactor()) else {
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
                End::Stopped => return,
                End::ByHand => backoff.reset(),
                End::Fault(fault, status) => {
                    let delay = backoff.failed(started.elapsed());
                    let was_connected = self.state.borrow().is_connected();
                    let is_lost = matches!(&fault, Fault::Web(WebFault::SessionLost));
                    if is_lost && was_connected && delay.is_zero() {
                        // It only forgot who we are: nobody needs to notice.
                        continue;
                    }
                    let (config, redactors) = {
                        let state = self.state.borrow();
                        (state.config.clone(), state.redactors.clone())
                    };
                    let death = Death {
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

    async fn fail(&self, death: &Death<'_>, delay: Duration) {
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
        report::tell_log(&server);
        self.send(HubEvent::Changed(Box::new(server))).await;
    }

    /// Waits for room, but never beyond the end of the line: whoever stops it
    /// may have ceased to listen.
    pub(super) async fn send(&self, event: HubEvent) {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            _ = self.around.events.send(event) => {}
        }
    }
}

/// Where the launch of a server leads, unless it leads nowhere.
fn endpoint(config: ServerConfig, redactor: Arc<Redactor>) -> Option<Endpoint> {
    match config.launch {
        Launch::Misconfigured { .. } => None,
        Launch::BuiltIn => Some(Endpoint::BuiltIn),
        Launch::Remote {
            url,
            transport,
            headers,
        } => Some(Endpoint::Remote(Address {
            url,
            transport,
            headers,
            redactor,
        })),
        Launch::Stdio {
            command,
            args,
            env,
            cwd,
            inherit,
        } => Some(Endpoint::Child(Program {
            command,
            args,
            env,
            cwd,
            inherit,
        })),
    }
}

impl Endpoint {
    fn inherit(&self) -> Option<&Inherit> {
        match self {
            Self::Child(program) => Some(&program.inherit),
            Self::BuiltIn | Self::Remote(_) => None,
        }
    }
}
