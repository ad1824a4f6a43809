//! The select loop: one place where everything that happens arrives, one at a
//! time. State is changed here and nowhere else.

use super::active_turn::ActiveTurn;
use super::approval::Approval;
use super::argument_checker::ArgumentChecker;
use super::asking::Pending;
use super::context_budget::Fill;
use super::journalist::Journalist;
use super::outbox::Outbox;
use super::outside::Outside;
use super::probe::{Probing, next_news};
use super::quotes::{Quote, Quotes};
use super::recall::Kept;
use super::saver::{Epoch, Saver, Ticket};
use super::stock::Shelves;
use super::trusting::Trusting;
use super::turn::{Ids, Input};
use super::turn_driver::{CallsUnderWay, ReplyTracer};
use super::unfinished::{Leavings, Left};
use super::{Options, Parts};
use crate::config::{ConfigError, Home, Read, Settings};
use crate::domain::id::Mint;
use crate::domain::{
    AskId, Banner, Dialect, ModelConfig, ModelRef, Notice, Offered, Persona, ServerConfig, Session,
    SessionId,
};
use crate::log::LogHandle;
use crate::mcp::{Hub, HubEvent};
use crate::ports::LocalServer;
use crate::protocol::{Command, Event, LogLine};
use crate::provider::Provider;
use crate::store::{History, Journals, NotFound, Sessions, StoreError};
use futures::future::OptionFuture;
use futures::stream::StreamExt;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::SendError};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Events of the hub that wait for the actor.
const HUB_EVENTS_MAX: usize = 256;
/// What was typed before, offered to the editor at most.
const HISTORY_MAX: usize = 1_000;
/// Where the ids of questions begin that are not the turn's, which mints its own.
const ASKS_FROM: u64 = 1 << 32;

/// What a blocking piece of work came to.
pub(super) enum Done {
    Nothing,
    Events(Vec<Event>),
    Opened(Result<Session, StoreError>),
    /// What the command line asked for.
    Continued(Result<Result<Session, StoreError>, NotFound>),
    Left(Leavings),
    /// What a conversation takes, in tokens by the weights.
    Weighed(Epoch, u64),
    /// What the messages of an opened conversation quote.
    Recalled(Epoch, Arc<Quote>),
    /// A turn that was left, and its conversation where it has one.
    Resumed(Left, Option<Result<Session, StoreError>>),
    Deleted(SessionId, Result<(), StoreError>),
    Config(Result<(), ConfigError>),
    /// The home was prepared once more, since it seems to be writable now.
    Prepared(Vec<Banner>),
    Added(Box<ModelConfig>, Result<(), ConfigError>),
    DialectStored(ModelRef, Dialect, Result<(), ConfigError>),
    /// The files were read again, and whether that was asked for.
    Reread(Box<Read>, bool),
    PromptRead(Result<Option<Arc<str>>, ConfigError>),
    PromptReplaced(Result<PathBuf, ConfigError>),
}

pub(super) struct Actor {
    pub(super) home: Home,
    pub(super) provider: Provider,
    pub(super) options: Options,
    pub(super) log: Option<LogHandle>,
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
    pub(super) model: Option<Arc<ModelConfig>>,
    pub(super) approval: Approval,
    pub(super) trusting: Trusting,
    pub(super) session: Session,
    /// The raw replies of the last turn.
    pub(super) trace: ReplyTracer,
    pub(super) epoch: Epoch,
    /// What was said from outside in this conversation (S6.4).
    pub(super) quotes: Quotes,
    pub(super) kept_quotes: Kept,
    pub(super) fill: Fill,
    pub(super) ids: Ids,
    pub(super) turn: Option<ActiveTurn>,
    /// Calls of turns that are over; their servers are still told of the cancellation.
    pub(super) cancelled_calls: CallsUnderWay,
    pub(super) jobs: JoinSet<Done>,
    pub(super) saver: Saver,
    pub(super) journalist: Journalist,
    /// The save that holds the words of the turn that ends now.
    pub(super) kept: Option<Ticket>,
    /// Nothing of this conversation is saved.
    pub(super) private: bool,
    /// A fork whose name is not known yet, and what it is a fork of.
    pub(super) forked: Option<(Epoch, Option<SessionId>)>,
    /// Turns of earlier runs that are still to be offered.
    pub(super) left: VecDeque<Left>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) history: Arc<History>,
    pub(super) banners: BTreeMap<String, Banner>,
    pub(super) outbox: Outbox,
    /// Questions that are not the turn's, and what follows from their answers.
    pub(super) asked: BTreeMap<AskId, Pending>,
    pub(super) asks: Mint,
    /// What model servers have, and what is asked of them.
    pub(super) shelves: Shelves,
    /// A probe of a model, until the person has read what it found.
    pub(super) probing: Option<Probing>,
    pub(super) built_in: Arc<dyn LocalServer>,
    pub(super) argument_checker: ArgumentChecker,
}

pub(super) async fn run(
    parts: Parts,
    files: Read,
    mut commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<Event>,
) {
    let (hub_sender, mut hub_events) = mpsc::channel(HUB_EVENTS_MAX);
    let (log, mut log_lines) = parts.log.unzip();
    let built_in = Arc::clone(&parts.built_in);
    let mut hub = Hub::with_groups(hub_sender, built_in, parts.process_groups);
    hub.remember_in(parts.home.cache().join("servers.json"));
    let told = files.banners.clone();
    let (provider, options, built_in) = (parts.provider, parts.options, parts.built_in);
    let mut actor = Actor::new(parts.home, files, provider, options, log, hub, built_in);
    let banners = parts.banners.into_iter();
    actor
        .banners
        .extend(banners.map(|banner| (banner.cause.clone(), banner)));
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
    fn new(
        home: Home,
        files: Read,
        provider: Provider,
        options: Options,
        log: Option<LogHandle>,
        hub: Hub,
        built_in: Arc<dyn LocalServer>,
    ) -> Self {
        let sessions = Arc::new(Sessions::new(home.sessions()));
        Self {
            provider,
            log,
            settings: files.known.settings,
            system_prompt: files.known.system_prompt.into(),
            servers: files.known.servers,
            personas: files.known.personas,
            persona: None,
            persona_unchecked: false,
            outside: Outside::default(),
            hub,
            offered: Arc::default(),
            model: None,
            approval: Approval::trusting(files.known.trust),
            trusting: Trusting::default(),
            session: Session::new(""),
            trace: ReplyTracer::default(),
            epoch: Epoch::default(),
            quotes: Quotes::default(),
            kept_quotes: Kept::default(),
            fill: Fill::default(),
            ids: Ids::default(),
            turn: None,
            cancelled_calls: CallsUnderWay::new(),
            jobs: JoinSet::new(),
            saver: Saver::new(Arc::clone(&sessions)),
            journalist: Journalist::new(Arc::new(Journals::new(home.journal()))),
            kept: None,
            private: false,
            forked: None,
            left: VecDeque::new(),
            sessions,
            history: Arc::new(History::new(home.history(), home.draft())),
            banners: files
                .banners
                .into_iter()
                .map(|b| (b.cause.clone(), b))
                .collect(),
            outbox: Outbox::default(),
            asked: BTreeMap::new(),
            asks: Mint::starting_at(ASKS_FROM),
            shelves: Shelves::default(),
            probing: None,
            built_in,
            argument_checker: ArgumentChecker::default(),
            options,
            home,
        }
    }

    /// Tells the front end all there is to know, and starts the servers.
    fn introduce(&mut self) {
        let mut settings = std::mem::take(&mut self.settings);
        self.put_stand_in(&mut settings);
        self.settings = settings;
        if let Some(log) = &self.log {
            log.set_level(self.settings.log_level);
        }
        self.hide_secrets(&self.known());
        self.approval.allowed = self.options.allow.clone().into();
        self.approval.mode = self.options.tool_mode.unwrap_or(self.settings.tool_mode);
        self.outbox.push(Event::ToolModeChanged(self.approval.mode));
        self.choose_first_model();
        self.list_models();
        self.choose_first_persona();
        self.push_banners();
        if !self.options.no_tools {
            self.hub.configure(self.servers.clone());
        }
        self.servers_changed();
        self.outbox.push(Event::ServersListed(self.servers_now()));
        self.offer_models();
        self.open_first();
        self.look_for_unfinished();
        let (history, one_turn) = (Arc::clone(&self.history), self.options.one_turn);
        self.jobs.spawn_blocking(move || {
            let prompts = Arc::new(history.load(HISTORY_MAX));
            let draft = (!one_turn).then(|| history.take_draft()).flatten();
            Done::Events(vec![Event::HistoryLoaded { prompts, draft }])
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
        let waiting = !self.outbox.is_empty();
        let (finished_call, signal) = self.turn.as_mut().map(ActiveTurn::signals).unzip();
        // Biased, so that a person's interrupt is never behind a fast stream.
        tokio::select! {
            biased;
            command = commands.recv() => return self.take_command(command),
            permit = room(events, self.outbox.due()), if waiting => match permit {
                Ok(permit) => if let Some(event) = self.outbox.pop() { permit.send(event) },
                // The front end is gone.
                Err(_) => return false,
            },
            Some(signal) = OptionFuture::from(finished_call) => self.turn_signal(signal),
            Some(_) = self.cancelled_calls.next() => {}
            Some(event) = hub_events.recv() => self.hub_event(event),
            Some(done) = self.jobs.join_next() => match done {
                Ok(done) => self.job_done(done),
                Err(fault) => tracing::error!("a piece of work failed: {fault}"),
            },
            Some(news) = self.shelves.news.recv() => self.news(news),
            saved = self.saver.saved() => self.saved(saved),
            () = self.outside.changed() => self.look_outside(false),
            step = self.journalist.step() => self.journalled(step),
            news = next_news(self.probing.as_mut()) => self.probe_news(news),
            line = next_line(log_lines) => self.outbox.push(Event::Logged(line)),
            Some(signal) = OptionFuture::from(signal) => self.active_turn_signal(signal),
        }
        true
    }

    pub(super) fn notice(&mut self, notice: Notice) {
        self.outbox.push(Event::Noticed(notice));
    }

    pub(super) fn set_banner(&mut self, banner: Banner) {
        self.banners.insert(banner.cause.clone(), banner);
        self.push_banners();
    }

    pub(super) fn clear_banner(&mut self, cause: &str) {
        if self.banners.remove(cause).is_some() {
            self.push_banners();
        }
    }

    pub(super) fn push_banners(&mut self) {
        let banners = self.banners.values().cloned().collect();
        self.outbox.push(Event::BannersChanged(banners));
    }

    /// What is on offer follows from the servers' snapshots.
    pub(super) fn servers_changed(&mut self) {
        let servers = self.hub.servers();
        self.pin_new(&servers);
        let servers = self.servers_now();
        let offered = Offered::from_servers(&servers);
        if offered != *self.offered {
            self.offered = Arc::new(offered);
            self.feed_offered();
        }
        self.check_first_persona(&servers);
        self.tell_of_withheld(&servers);
        self.tell_of_new_instructions(&servers);
        self.renew_pin_question();
        self.list_trust();
    }

    fn hub_event(&mut self, event: HubEvent) {
        match event {
            HubEvent::Changed(server) => {
                let event = self.server_event(*server);
                self.outbox.push(event);
            }
            HubEvent::Progress { call, progress } => self.feed(Input::Progress { call, progress }),
            HubEvent::Noticed(notice) => self.notice(notice),
        }
    }
}
