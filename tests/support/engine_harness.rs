//! The real engine without a screen, in a temporary home. The model is scripted, unless a test asks
//! for real providers.

use super::in_memory_server::InMemoryServer;
use humble::app::{built_in_server, notebook};
use humble::config::Home;
use humble::domain::{
    AskId, BuiltInSettings, CallId, EntryBody, Message, Notice, Prompt, SecretRegistry,
    ServerStatus, Transcript, TurnEnd, TurnEvent, TurnId,
};
use humble::engine::{self, EngineDeps, EngineHandle, EngineOptions};
use humble::log::LogHandle;
use humble::mcp::ProcessGroups;
use humble::ports::LocalServer;
use humble::protocol::{Command, Event, LogLine, Question, UserAnswer};
use humble::provider::scripted::{RecordedRequests, Script};
use humble::provider::{ChatRequest, Provider};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc::Receiver;

/// One active Ollama model with the `prompt` dialect.
pub const OLLAMA_CONFIG: &str =
    r#"{ "models": [ { "name": "m", "provider": "ollama", "active": true } ] }"#;

/// A call to the built-in clock, as written by a model in the prompt dialect.
pub const GET_TIME_CALL: &str =
    r#"{"server": "humble", "name": "get_time", "arguments": {"timezone": "Asia/Seoul"}}"#;

/// A call for which the tool returns an error.
pub const FAILING_GET_TIME_CALL: &str =
    r#"{"server": "humble", "name": "get_time", "arguments": {"timezone": "Nowhere/Land"}}"#;

/// A log, the lines for its pane, and the secrets that it does not show.
type EngineLog = (LogHandle, Receiver<LogLine>, SecretRegistry);

pub struct EngineHarness {
    pub home: TempDir,
    pub handle: EngineHandle,
    pub requests: RecordedRequests,
    pub transcript: Transcript,
    pub events: Vec<Event>,
    turn_count: u64,
}

impl EngineHarness {
    /// Starts the engine and waits until its tools are available.
    pub async fn start(script: Script) -> Self {
        Self::start_with_config(script, OLLAMA_CONFIG).await
    }

    pub async fn start_with_config(script: Script, config: &str) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        write_config(&home, config);
        Self::start_in(home, script).await
    }

    /// Starts the engine in an existing home.
    pub async fn start_in(home: TempDir, script: Script) -> Self {
        Self::start_with_options(home, script, EngineOptions::default()).await
    }

    /// Starts the engine in an existing home, with another server in place of the built-in one.
    pub async fn start_in_with_server(
        home: TempDir,
        script: Script,
        server: &InMemoryServer,
    ) -> Self {
        let requests = script.requests();
        let (provider, options) = (Provider::scripted(script), EngineOptions::default());
        let server: Arc<dyn LocalServer> = Arc::new(server.clone());
        let harness = Self::spawn(home, provider, requests, options, None, Some(server));
        harness.wait_for_tools().await
    }

    /// Starts the engine with command-line options.
    pub async fn start_with_options(home: TempDir, script: Script, options: EngineOptions) -> Self {
        let requests = script.requests();
        Self::spawn_and_wait(home, Provider::scripted(script), requests, options, None).await
    }

    /// Starts the engine with a log, whose redaction and level it manages, and the lines for its pane.
    pub async fn start_with_log(home: TempDir, script: Script, log: EngineLog) -> Self {
        let requests = script.requests();
        let provider = Provider::scripted(script);
        Self::spawn_and_wait(
            home,
            provider,
            requests,
            EngineOptions::default(),
            Some(log),
        )
        .await
    }

    /// Starts the engine with providers that connect to the servers in `config`.
    pub async fn start_on_network(config: &str) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        write_config(&home, config);
        let options = EngineOptions::default();
        Self::spawn_and_wait(
            home,
            Provider::new(),
            RecordedRequests::default(),
            options,
            None,
        )
        .await
    }

    /// Like [`Self::start_on_network`], with another server in place of the built-in one.
    pub async fn start_on_network_with_server(config: &str, server: Arc<dyn LocalServer>) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        write_config(&home, config);
        let (requests, options) = (RecordedRequests::default(), EngineOptions::default());
        let provider = Provider::new();
        let harness = Self::spawn(home, provider, requests, options, None, Some(server));
        harness.wait_for_tools().await
    }

    /// Starts the engine, and calls `edit` before the engine has run.
    pub async fn start_and_edit_home(home: TempDir, script: Script, edit: impl FnOnce()) -> Self {
        let requests = script.requests();
        let provider = Provider::scripted(script);
        let options = EngineOptions::default();
        let harness = Self::spawn(home, provider, requests, options, None, None);
        edit();
        harness.wait_for_tools().await
    }

    /// Starts the engine, and does not wait until it is ready.
    pub fn start_unready(home: TempDir, script: Script, options: EngineOptions) -> Self {
        let requests = script.requests();
        let provider = Provider::scripted(script);
        Self::spawn(home, provider, requests, options, None, None)
    }

    async fn spawn_and_wait(
        home: TempDir,
        provider: Provider,
        requests: RecordedRequests,
        options: EngineOptions,
        log: Option<EngineLog>,
    ) -> Self {
        let harness = Self::spawn(home, provider, requests, options, log, None);
        harness.wait_for_tools().await
    }

    fn spawn(
        home: TempDir,
        provider: Provider,
        requests: RecordedRequests,
        options: EngineOptions,
        log: Option<EngineLog>,
        server: Option<Arc<dyn LocalServer>>,
    ) -> Self {
        let folder = Home::at(home.path());
        let built_in_server = server.unwrap_or_else(|| {
            built_in_server(&folder, BuiltInSettings::default(), Provider::new())
        });
        let (log, secrets) = match log {
            Some((handle, lines, secrets)) => (Some((handle, lines)), secrets),
            None => (None, SecretRegistry::default()),
        };
        let handle = engine::spawn(EngineDeps {
            banners: folder.prepare(),
            provider,
            built_in_server,
            notes: Arc::new(notebook(&folder, Provider::new())),
            home: folder,
            process_groups: ProcessGroups::default(),
            secrets,
            log,
            options,
        });
        let (transcript, events) = (Transcript::default(), Vec::new());
        Self {
            home,
            handle,
            requests,
            transcript,
            events,
            turn_count: 0,
        }
    }

    /// Waits until a server has connected: the built-in one, unless the home has others.
    async fn wait_for_tools(mut self) -> Self {
        let is_connected = |event: &Event| match event {
            Event::ServerChanged(server) => server.status == ServerStatus::Connected,
            _ => false,
        };
        self.wait_for("the built-in server", is_connected).await;
        self
    }

    pub async fn send(&self, command: Command) {
        self.handle
            .commands
            .send(command)
            .await
            .expect("the engine is running");
    }

    /// Sends a prompt and returns the id of its turn.
    pub async fn prompt(&mut self, text: &str) -> TurnId {
        self.turn_count += 1;
        let (turn, prompt) = (TurnId(self.turn_count), Prompt::new(text));
        self.send(Command::Submit { turn, prompt }).await;
        turn
    }

    /// Receives events until one matches.
    pub async fn wait_for(&mut self, what: &str, is_wanted: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(600), self.handle.events.recv());
            let event = event.await.unwrap_or_else(|_| {
                let recent = &self.events[self.events.len().saturating_sub(8)..];
                panic!("timed out waiting for {what}; the last events: {recent:#?}")
            });
            let event = event.unwrap_or_else(|| panic!("the engine ended before {what}"));
            if let Event::Turn(turn, event) = &event {
                self.transcript.apply(*turn, event);
            }
            self.events.push(event.clone());
            if is_wanted(&event) {
                return event;
            }
        }
    }

    pub async fn next_question(&mut self) -> (AskId, Question) {
        match self
            .wait_for("a question", |event| matches!(event, Event::Asked { .. }))
            .await
        {
            Event::Asked { ask, question, .. } => (ask, question),
            _ => unreachable!("just matched"),
        }
    }

    /// The next approval and its calls.
    pub async fn next_approval(&mut self) -> (AskId, Vec<CallId>) {
        let (ask, question) = self.next_question().await;
        assert_eq!(question.kind, "approve");
        let calls = question.calls().iter();
        (ask, calls.map(|call| call.call).collect())
    }

    pub async fn answer(&self, ask: AskId, answer: UserAnswer) {
        self.send(Command::Answer { ask, answer }).await;
    }

    pub async fn wait_for_turn_end(&mut self) -> TurnEnd {
        let is_turn_end = |event: &Event| matches!(event, Event::Turn(_, TurnEvent::Ended { .. }));
        match self.wait_for("the turn's end", is_turn_end).await {
            Event::Turn(_, TurnEvent::Ended { end, .. }) => end,
            _ => unreachable!("just matched"),
        }
    }

    pub async fn wait_for_save(&mut self) {
        self.wait_for("the save", |event| matches!(event, Event::SessionSaved(_)))
            .await;
    }

    /// Shuts the engine down and returns the home for inspection or a second start.
    pub async fn shut_down(mut self) -> TempDir {
        self.send(Command::Shutdown).await;
        self.wait_for("the engine's end", |event| *event == Event::ShutDown)
            .await;
        self.handle
            .task
            .await
            .expect("the engine ends without a panic");
        self.home
    }

    /// All notices in the transcript so far.
    pub fn turn_notices(&self) -> Vec<Notice> {
        let entries = self.transcript.entries().iter();
        let notice = |entry: &humble::domain::TranscriptEntry| match &entry.body {
            EntryBody::Note(notice) => Some(notice.clone()),
            _ => None,
        };
        entries.filter_map(notice).collect()
    }

    pub fn last_request(&self) -> ChatRequest {
        self.requests.all().pop().expect("a request")
    }

    /// Messages of the last request, without the system message.
    pub fn model_messages(&self) -> Vec<Message> {
        let mut messages = self.last_request().messages;
        messages.retain(|message| !matches!(message, Message::System(_)));
        messages
    }
}

/// Writes `config.json` with the permissions that the program uses.
pub fn write_config(home: &TempDir, text: &str) {
    let path = home.path().join("config.json");
    humble::files::create_new(&path, text.as_bytes(), humble::files::PRIVATE_MODE)
        .expect("the home is writable");
}

/// The session files of a home.
pub fn session_files(home: &TempDir) -> Vec<PathBuf> {
    let folder = home.path().join("sessions");
    let entries = std::fs::read_dir(folder).expect("a sessions folder");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    files
}
