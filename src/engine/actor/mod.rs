//! The select loop: receives every event, one at a time, and passes it to its owner. Only this
//! folder passes work from one owner to another: `commands` and `server_commands` route
//! commands of the front end, `agents` connects note agents to turns, `turns` starts turns,
//! `turn_outputs` carries out their outputs, `session_switch` opens another session, `initial_session` the one
//! named on the command line,
//! `settings_changes` applies changed settings, `tool_offers` connects the offer of tools to turns,
//! `awaited_servers` lets turns wait for servers that are starting,
//! `left_tasks` lets calls outlive their turn, `tool_calls` runs approved calls, `job_results` routes results of background jobs and the user's answers, `shutdown`
//! ends the engine.

mod agents;
mod awaited_servers;
mod commands;
mod initial_session;
mod job_results;
mod left_tasks;
mod new_servers;
mod server_commands;
mod session_switch;
mod settings_changes;
mod shutdown;
mod tool_calls;
mod tool_offers;
mod turn_outputs;
mod turns;

use crate::config::{ConfigLoad, ConfigSnapshot};
use crate::domain::{QuoteSource, Session, Toolset, UnsentText};
use crate::engine::active_turn::ActiveTurn;
use crate::engine::agents::NoteAgents;
use crate::engine::argument_checker::ArgumentChecker;
use crate::engine::attachments::AttachmentJobs;
use crate::engine::cx::EngineCx;
use crate::engine::deps::EngineDeps;
use crate::engine::injection_guard::SessionGuards;
use crate::engine::jobs::JobResult;
use crate::engine::models::ModelRegistry;
use crate::engine::persist::Persistence;
use crate::engine::persist::crash_recovery::CrashRecovery;
use crate::engine::probe::ModelProbe;
use crate::engine::server_content::ServerContentJobs;
use crate::engine::server_requests::ServerRequests;
use crate::engine::server_requests::open::OpenServerRequest;
use crate::engine::sessions::Conversation;
use crate::engine::sessions::saved::SavedSessions;
use crate::engine::settings::{
    LiveSettings, apply_model_override, prompt_templates, register_secrets,
};
use crate::engine::sign_in::ServerSignIn;
use crate::engine::tool_offer::ToolOffer;
use crate::engine::trust::TrustState;
use crate::engine::turn::{TurnIdGenerators, TurnInput};
use crate::engine::turn_driver::{ReplyTracer, RunningCalls};
use crate::mcp::{Hub, HubEvent};
use crate::ports::LocalServer;
use crate::protocol::{Command, Event, LogLine};
use crate::store::Journals;
use futures::future::OptionFuture;
use futures::stream::StreamExt;
use initial_session::OpeningSession;
use left_tasks::LeftTasks;
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::SendError};
use tokio::time::Instant;

const HUB_EVENTS_MAX: usize = 256;
/// Maximum number of earlier prompts loaded for the message editor.
const HISTORY_MAX: usize = 1_000;

struct Actor {
    cx: EngineCx,
    settings: LiveSettings,
    hub: Hub,
    /// The offered tools of all servers.
    toolset: Arc<Toolset>,
    tool_offer: ToolOffer,
    models: ModelRegistry,
    trust: TrustState,
    conversation: Conversation,
    /// Set while the conversation named on the command line is being opened.
    opening: Option<OpeningSession>,
    saved: SavedSessions,
    persist: Persistence,
    recovery: CrashRecovery,
    guards: SessionGuards,
    turn: Option<ActiveTurn>,
    turn_ids: TurnIdGenerators,
    /// Calls of finished turns: cancelled ones, polled until their servers have been notified, and
    /// `left_tasks`.
    earlier_calls: RunningCalls,
    /// The raw replies of the last turn.
    last_trace: ReplyTracer,
    probe: ModelProbe,
    sign_in: ServerSignIn,
    agents: NoteAgents,
    attachments: AttachmentJobs,
    server_content: ServerContentJobs,
    server_requests: ServerRequests,
    left_tasks: LeftTasks,
    built_in_server: Arc<dyn LocalServer>,
    argument_checker: ArgumentChecker,
}

pub(super) async fn run(
    deps: EngineDeps,
    files: ConfigLoad,
    mut commands: mpsc::Receiver<Command>,
    events: mpsc::Sender<Event>,
) {
    let (hub_sender, mut hub_events) = mpsc::channel(HUB_EVENTS_MAX);
    let (log, mut log_lines) = deps.log.unzip();
    let built_in_server = Arc::clone(&deps.built_in_server);
    let mut hub = Hub::with_process_groups(hub_sender, built_in_server, deps.process_groups);
    hub.set_cache_file(deps.home.cache().join("servers.json"));
    hub.set_secrets(deps.secrets.clone());
    hub.set_credential_file(deps.home.credentials());
    let file_banners = files.banners.clone();
    let asks_again = !files.rejected.is_empty() && !deps.options.is_one_shot;
    let banners = files.banners.iter().chain(&deps.banners).cloned();
    let (options, mut settings) = (deps.options, files.snapshot.settings.clone());
    apply_model_override(&mut settings, &options);
    let cx = EngineCx::new(
        deps.home,
        deps.provider,
        options,
        settings,
        (log, deps.secrets),
        banners,
    );
    let agents = NoteAgents::new(deps.notes);
    let mut actor = Actor::new(cx, files.snapshot, hub, agents, deps.built_in_server);
    actor.start_up();
    let trust = actor.trust.stored_trust();
    actor
        .settings
        .start_watching(&file_banners, trust, &actor.cx);
    if asks_again {
        actor.settings.read_files(false, &mut actor.cx);
    }
    while actor
        .run_once(&mut commands, &mut hub_events, &mut log_lines, &events)
        .await
    {}
    // Unblocks hub tasks that are waiting for space in this channel.
    drop(hub_events);
    actor.close(&events).await;
}

/// Reserves space for one event, at `not_before` at the earliest. Cancel-safe.
async fn reserve_event(
    events: &mpsc::Sender<Event>,
    not_before: Option<Instant>,
) -> Result<mpsc::Permit<'_, Event>, SendError<()>> {
    if let Some(not_before) = not_before {
        tokio::time::sleep_until(not_before).await;
    }
    events.reserve().await
}

/// Waits for the next line of the log, forever if there is no log. Cancel-safe.
async fn next_log_line(lines: &mut Option<mpsc::Receiver<LogLine>>) -> LogLine {
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
        cx: EngineCx,
        files: ConfigSnapshot,
        hub: Hub,
        agents: NoteAgents,
        built_in_server: Arc<dyn LocalServer>,
    ) -> Self {
        let journals = Journals::new(cx.home.journal());
        let trust = Arc::clone(&files.trust);
        let settings = LiveSettings::new(files);
        Self {
            settings,
            hub,
            toolset: Arc::default(),
            tool_offer: ToolOffer::default(),
            models: ModelRegistry::default(),
            trust: TrustState::new(trust),
            conversation: Conversation::new(Session::new("")),
            opening: None,
            saved: SavedSessions::default(),
            persist: Persistence::new(Arc::clone(&cx.sessions), journals),
            recovery: CrashRecovery::default(),
            guards: SessionGuards::default(),
            turn: None,
            turn_ids: TurnIdGenerators::default(),
            earlier_calls: RunningCalls::new(),
            last_trace: ReplyTracer::default(),
            probe: ModelProbe::default(),
            sign_in: ServerSignIn::default(),
            agents,
            attachments: AttachmentJobs::default(),
            server_content: ServerContentJobs::default(),
            server_requests: ServerRequests::default(),
            left_tasks: LeftTasks::default(),
            built_in_server,
            argument_checker: ArgumentChecker::default(),
            cx,
        }
    }

    /// Sends the initial state to the front end and starts the servers.
    fn start_up(&mut self) {
        if let Some(log) = &self.cx.log {
            log.set_level(self.cx.settings.log_level);
        }
        register_secrets(
            &self.settings.snapshot(self.trust.stored_trust(), &self.cx),
            &self.cx,
        );
        SavedSessions::remove_expired(&mut self.cx);
        self.trust
            .set_allowed_tools(self.cx.options.allowed_tools.clone());
        let mode_override = self.cx.options.tool_mode;
        self.trust
            .set_mode(mode_override.unwrap_or(self.cx.settings.tool_mode));
        self.cx
            .outbox
            .push(Event::ToolModeChanged(self.trust.mode()));
        self.models.choose_first_model(&mut self.cx);
        self.conversation.session_mut().model = self.models.current_name();
        self.models.list_models(&mut self.cx);
        self.models.report_native_calls(&mut self.cx);
        self.settings
            .personas_mut()
            .select_from_command_line(&mut self.cx);
        if !self.cx.banners.is_empty() {
            self.cx.push_banners();
        }
        let keys = Arc::clone(&self.cx.settings.keys);
        self.cx.outbox.push(Event::KeysChanged(keys));
        let themes = Arc::clone(&self.cx.settings.theme);
        self.cx.outbox.push(Event::ThemesChanged(themes));
        self.configure_built_in_tools();
        self.hub.set_roots(self.cx.settings.roots.clone());
        if !self.cx.options.no_tools {
            self.hub.configure(self.settings.servers().to_vec());
        }
        self.handle_servers_changed();
        self.cx
            .outbox
            .push(Event::ServersListed(self.current_servers()));
        self.models.offer_models(&mut self.cx);
        self.open_initial_session();
        prompt_templates::list(&mut self.cx);
        self.recovery.start_scan(&mut self.cx);
        left_tasks::remove_stored(&mut self.cx);
        let (history, is_one_shot) = (Arc::clone(&self.cx.history), self.cx.options.is_one_shot);
        let recent_commands = self.cx.recent_commands.clone();
        let guard = self.guards.current().clone();
        self.cx.jobs.spawn_blocking(move || {
            let prompts = Arc::new(history.load(HISTORY_MAX));
            let draft = (!is_one_shot).then(|| history.claim_draft()).flatten();
            for text in draft.iter().flat_map(UnsentText::texts) {
                // Not all of it was typed: a server's prompt can be edited.
                guard.keep_of_message(QuoteSource::Earlier, text);
            }
            JobResult::Events(vec![
                Event::HistoryLoaded { prompts, draft },
                Event::RecentCommandsLoaded(recent_commands.load()),
            ])
        });
    }

    /// Waits for one event and handles it. Returns false if the engine must shut down.
    async fn run_once(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
        hub_events: &mut mpsc::Receiver<HubEvent>,
        log_lines: &mut Option<mpsc::Receiver<LogLine>>,
        events: &mpsc::Sender<Event>,
    ) -> bool {
        let has_queued_events = !self.cx.outbox.is_empty();
        let (finished_call, other_signal) = self.turn.as_mut().map(ActiveTurn::signals).unzip();
        // Biased, so that a fast stream never delays an interrupt.
        tokio::select! {
            biased;
            command = commands.recv() => return self.handle_command(command),
            permit = reserve_event(events, self.cx.outbox.next_send_at()), if has_queued_events => match permit {
                Ok(permit) => if let Some(event) = self.cx.outbox.pop() { permit.send(event) },
                // The front end is gone.
                Err(_) => return false,
            },
            Some(signal) = OptionFuture::from(finished_call) => self.handle_turn_signal(signal),
            Some(finished) = self.earlier_calls.next() => {
                self.take_left_task(finished);
            }
            Some(event) = hub_events.recv() => self.handle_hub_event(event),
            Some(result) = self.cx.jobs.join_next() => self.handle_job_result(result),
            Some(result) = self.saved.next_result() => self.handle_job_result(result),
            event = self.models.next_event() => {
                self.models.handle_task_event(event, &mut self.cx);
            }
            event = self.persist.next_event() => {
                let conversation = &mut self.conversation;
                self.persist.handle_event(event, conversation, &mut self.cx);
            }
            () = self.settings.wait_for_edit() => self.settings.read_files(false, &mut self.cx),
            event = self.probe.next_event() => self.probe.handle_event(event, &mut self.cx),
            update = self.sign_in.next_update() => {
                self.sign_in.handle_update(update, &mut self.hub, &mut self.cx);
            }
            () = self.trust.retry_due() => self.trust.retry(&mut self.cx),
            line = next_log_line(log_lines) => self.cx.handle_log_line(line),
            Some(signal) = OptionFuture::from(other_signal) => self.handle_active_turn_signal(signal),
        }
        true
    }

    fn handle_hub_event(&mut self, event: HubEvent) {
        match event {
            HubEvent::Changed(server) => {
                self.handle_servers_changed();
                let server = self.with_marked_tools(*server);
                self.cx.outbox.push(Event::ServerChanged(server));
            }
            HubEvent::Progress { call, progress } => {
                self.feed(TurnInput::Progress { call, progress });
            }
            HubEvent::TaskStarted { call, task } => {
                self.feed(TurnInput::TaskStarted { call, task })
            }
            HubEvent::Requested {
                id,
                server,
                request,
            } => {
                let calls = self.running_calls(Some(&server));
                let open = OpenServerRequest::new(id, server, request, calls);
                let model = self.models.current();
                let reply = self.server_requests.ask(open, model, &mut self.cx);
                self.reply_to_servers(reply);
            }
            HubEvent::RequestWithdrawn(id) => self.server_requests.withdraw(id, &mut self.cx),
            HubEvent::Noticed(notice) => self.cx.notice(notice),
        }
    }
}
