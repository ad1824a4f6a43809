//! The select loop: one place where everything that happens arrives, one at a
//! time. State is changed here and nowhere else.

use super::active_turn::ActiveTurn;
use super::argument_checker::ArgumentChecker;
use super::context::ContextBudget;
use super::cx::EngineCx;
use super::deps::EngineDeps;
use super::injection_guard::InjectionGuard;
use super::jobs::JobResult;
use super::models::Models;
use super::outside::Outside;
use super::persist::Persistence;
use super::persist::crash_recovery::CrashRecovery;
use super::probe::ModelProbe;
use super::sessions::{self, Conversation};
use super::trust::TrustState;
use super::turn::{Ids, Input};
use super::turn_driver::{CallsUnderWay, ReplyTracer};
use crate::config::{Read, Settings};
use crate::domain::{Offered, Persona, ServerConfig, Session};
use crate::mcp::{Hub, HubEvent};
use crate::ports::LocalServer;
use crate::protocol::{Command, Event, LogLine};
use crate::store::Journals;
use futures::future::OptionFuture;
use futures::stream::StreamExt;
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::Instant;

/// Events of the hub that wait for the actor.
const HUB_EVENTS_MAX: usize = 256;
/// What was typed before, offered to the editor at most.
const HISTORY_MAX: usize = 1_000;

pub(super) struct Actor {
    pub(super) cx: EngineCx,
    pub(super) settings: Settings,
    pub(super) system_prompt: Arc<str>,
    pub(super) servers: Vec<ServerConfig>,
    /// The personas that are files.
    pub(super) personas: Vec<Persona>,
    /// The chosen one.
    pub(super) persona: Option<Arc<Persona>>,
    /// The command line chose it: its tools are looked for once the servers are there.
    pub(super) persona_unchecked: bool,
    pub(super) outside: Outside,
    pub(super) hub: Hub,
    pub(super) offered: Arc<Offered>,
    pub(super) models: Models,
    pub(super) trust: TrustState,
    pub(super) conversation: Conversation,
    pub(super) persist: Persistence,
    pub(super) recovery: CrashRecovery,
    pub(super) guard: InjectionGuard,
    pub(super) context: ContextBudget,
    pub(super) turn: Option<ActiveTurn>,
    pub(super) turn_ids: Ids,
    /// Calls of turns that are over; their servers are still told of the cancellation.
    pub(super) cancelled_calls: CallsUnderWay,
    /// The raw replies of the last turn.
    pub(super) trace: ReplyTracer,
    pub(super) probe: ModelProbe,
    pub(super) built_in: Arc<dyn LocalServer>,
    pub(super) argument_checker: ArgumentChecker,
}

pub(super) async fn run(
    deps: EngineDeps,
    files: Read,
    mut commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<Event>,
) {
    let (hub_sender, mut hub_events) = mpsc::channel(HUB_EVENTS_MAX);
    let (log, mut log_lines) = deps.log.unzip();
    let built_in = Arc::clone(&deps.built_in);
    let mut hub = Hub::with_groups(hub_sender, built_in, deps.process_groups);
    hub.remember_in(deps.home.cache().join("servers.json"));
    let told = files.banners.clone();
    let banners = files.banners.iter().chain(&deps.banners).cloned();
    let cx = EngineCx::new(deps.home, deps.provider, deps.options, log, banners);
    let mut actor = Actor::new(cx, files, hub, deps.built_in);
    actor.introduce();
    actor.watch(&told);
    while actor
        .turn_once(&mut commands, &mut hub_events, &mut log_lines, &events)
        .await
    {}
    // Lines of the hub wait for room in this channel: let them go.
    drop(hub_events);
    actor.close(&events).await;
}

/// Room for one more event, from a moment on. Cancel-safe.
async fn room(
    events: &mpsc::Sender<Event>,
    from: Option<Instant>,
) -> Result<mpsc::Permit<'_, Event>, SendError<()>> {
    if let Some(from) = from {
        tokio::time::sleep_until(from).await;
    }
    events.reserve().await
}

/// The log's next line; pending where no log is kept. Cancel-safe.
async fn next_line(lines: &mut Option<mpsc::Receiver<LogLine>>) -> LogLine {
    if let Some(receiver) = lines
        && let Some(line) = receiver.recv().await
    {
        return line;
    }
    *lines = None;
    std::future::pending().await
}

impl Actor {
    fn new(cx: EngineCx, files: Read, hub: Hub, built_in: Arc<dyn LocalServer>) -> Self {
        let journals = Journals::new(cx.home.journal());
        Self {
            settings: files.known.settings,
            system_prompt: files.known.system_prompt.into(),
            servers: files.known.servers,
            personas: files.known.personas,
            persona: None,
            persona_unchecked: false,
            outside: Outside::default(),
            hub,
            offered: Arc::default(),
            models: Models::default(),
            trust: TrustState::new(files.known.trust),
            conversation: Conversation::new(Session::new("")),
            persist: Persistence::new(Arc::clone(&cx.sessions), journals),
            recovery: CrashRecovery::default(),
            guard: InjectionGuard::default(),
            context: ContextBudget::default(),
            turn: None,
            turn_ids: Ids::default(),
            cancelled_calls: CallsUnderWay::new(),
            trace: ReplyTracer::default(),
            probe: ModelProbe::default(),
            built_in,
            argument_checker: ArgumentChecker::default(),
            cx,
        }
    }

    /// Tells the front end all there is to know, and starts the servers.
    fn introduce(&mut self) {
        let mut settings = std::mem::take(&mut self.settings);
        self.put_stand_in(&mut settings);
        self.settings = settings;
        if let Some(log) = &self.cx.log {
            log.set_level(self.settings.log_level);
        }
        self.hide_secrets(&self.known());
        self.trust.allow(self.cx.options.allow.clone());
        let mode = self.cx.options.tool_mode;
        self.trust.set_mode(mode.unwrap_or(self.settings.tool_mode));
        self.cx
            .outbox
            .push(Event::ToolModeChanged(self.trust.mode()));
        self.models.choose_first_model(&self.settings, &mut self.cx);
        self.conversation.session_mut().model = self.models.current_name();
        self.models.list_models(&self.settings, &mut self.cx);
        self.choose_first_persona();
        self.cx.push_banners();
        if !self.cx.options.no_tools {
            self.hub.configure(self.servers.clone());
        }
        self.servers_changed();
        self.cx
            .outbox
            .push(Event::ServersListed(self.servers_now()));
        self.models.offer_models(&self.settings, &mut self.cx);
        sessions::open_first(&mut self.cx);
        self.recovery.look(&mut self.cx);
        let (history, one_turn) = (Arc::clone(&self.cx.history), self.cx.options.one_turn);
        self.cx.jobs.spawn_blocking(move || {
            let prompts = Arc::new(history.load(HISTORY_MAX));
            let draft = (!one_turn).then(|| history.take_draft()).flatten();
            JobResult::Events(vec![Event::HistoryLoaded { prompts, draft }])
        });
    }

    /// Waits for one thing and handles it. False once the program is to end.
    async fn turn_once(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
        hub_events: &mut mpsc::Receiver<HubEvent>,
        log_lines: &mut Option<mpsc::Receiver<LogLine>>,
        events: &mpsc::Sender<Event>,
    ) -> bool {
        let waiting = !self.cx.outbox.is_empty();
        let (finished_call, signal) = self.turn.as_mut().map(ActiveTurn::signals).unzip();
        // Biased, so that a person's interrupt is never behind a fast stream.
        tokio::select! {
            biased;
            command = commands.recv() => return self.take_command(command),
            permit = room(events, self.cx.outbox.due()), if waiting => match permit {
                Ok(permit) => if let Some(event) = self.cx.outbox.pop() { permit.send(event) },
                // The front end is gone.
                Err(_) => return false,
            },
            Some(signal) = OptionFuture::from(finished_call) => self.turn_signal(signal),
            Some(_) = self.cancelled_calls.next() => {}
            Some(event) = hub_events.recv() => self.hub_event(event),
            Some(done) = self.cx.jobs.join_next() => match done {
                Ok(done) => self.job_done(done),
                Err(fault) => tracing::error!("a piece of work failed: {fault}"),
            },
            event = self.models.next_event() => {
                self.models.task_event(event, &self.settings, &mut self.cx);
            }
            written = self.persist.next() => {
                let conversation = &mut self.conversation;
                self.persist.written(written, conversation, &mut self.cx);
            }
            () = self.outside.changed() => self.look_outside(false),
            news = self.probe.next() => self.probe.take_in(news, &self.settings, &mut self.cx),
            line = next_line(log_lines) => self.cx.outbox.push(Event::Logged(line)),
            Some(signal) = OptionFuture::from(signal) => self.active_turn_signal(signal),
        }
        true
    }

    fn hub_event(&mut self, event: HubEvent) {
        match event {
            HubEvent::Changed(server) => {
                self.servers_changed();
                let server = self.trust.withholding(*server);
                self.cx.outbox.push(Event::ServerChanged(server));
            }
            HubEvent::Progress { call, progress } => self.feed(Input::Progress { call, progress }),
            HubEvent::Noticed(notice) => self.cx.notice(notice),
        }
    }
}
