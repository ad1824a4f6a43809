//! The servers that a `humble mcp` command connects to: waits for them with a status line, and closes
//! them.

use super::output::print_to_stderr;
use crate::app::built_in_server;
use crate::app::process_secrets::{network_provider, secrets};
use crate::app::watchdog::BackgroundRuntime;
use crate::config::{self, Home};
use crate::domain::trust::PinChange;
use crate::domain::{
    LaunchConfig, Notice, Server, ServerConfig, ServerRequestReply, ServerStatus, Tool, Trust,
};
use crate::headless::mcp::{self as cli_output, ServerReport};
use crate::headless::signals::ExitSignals;
use crate::mcp::{Hub, HubEvent};
use crate::text::grapheme::truncate_to_width;
use anyhow::{Context, Result};
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

const EVENTS_MAX: usize = 256;
const TICK: Duration = Duration::from_millis(100);
/// No status line is shown before the command has run for this long.
const STATUS_DELAY: Duration = Duration::from_millis(400);
/// Margin on top of the servers' own deadlines, in case those are missed.
const WAIT_MARGIN: Duration = Duration::from_secs(60);

pub struct ServerPool {
    pub hub: Hub,
    pub events: mpsc::Receiver<HubEvent>,
    pub signals: ExitSignals,
    pub status: StatusLine,
    configs: Vec<ServerConfig>,
    trust: Trust,
    deadline: Option<Instant>,
    timeout: Option<Duration>,
    /// Why waiting for the servers stopped early, if it did.
    stop_reason: Option<StopReason>,
    background: BackgroundRuntime,
}

/// Why waiting stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// A signal, with its exit status.
    Signal(u8),
    Timeout,
}

impl ServerPool {
    /// Starts the enabled servers. `timeout` covers the whole command.
    pub fn open(
        home: &Home,
        mut servers: Vec<ServerConfig>,
        timeout: Option<Duration>,
        background: &BackgroundRuntime,
    ) -> Result<Self> {
        let signals = ExitSignals::install().context("could not install signal handlers")?;
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let process_groups = background.process_groups.clone();
        let mut hub = {
            let _in_background = background.runtime.enter();
            let settings = config::read_settings(home).value;
            let built_in_server =
                built_in_server(home, settings.built_in_tools(), network_provider());
            let mut hub = Hub::with_process_groups(sender, built_in_server, process_groups);
            hub.set_secrets(secrets());
            hub.set_roots(settings.roots);
            hub
        };
        background.watch_front_end();
        if home.root().is_dir() {
            hub.set_cache_file(home.cache().join("servers.json"));
            hub.set_credential_file(home.credentials());
        }
        if let Some(timeout) = timeout {
            for server in &mut servers {
                server.tool_timeout = server.tool_timeout.min(timeout);
            }
        }
        hub.configure(servers.clone());
        let trust = config::read_trust(home);
        for banner in &trust.banners {
            print_to_stderr(&cli_output::notice_line(&banner.notice));
        }
        Ok(Self {
            hub,
            events,
            signals,
            status: StatusLine::new(),
            configs: servers,
            trust: trust.value,
            deadline: timeout.map(|timeout| Instant::now() + timeout),
            timeout,
            stop_reason: None,
            background: background.clone(),
        })
    }

    /// Waits until no server is starting anymore. The error is the reason for stopping early.
    pub async fn wait_while_starting(&mut self) -> Result<(), StopReason> {
        let starting_servers = |hub: &Hub| -> Vec<String> {
            let servers = hub.servers().into_iter();
            servers
                .filter(|server| server.status == ServerStatus::Starting)
                .map(|server| server.id.to_string())
                .collect()
        };
        let deadline = self
            .deadline
            .unwrap_or(Instant::now() + self.default_wait());
        let result = loop {
            let starting = starting_servers(&self.hub);
            if starting.is_empty() {
                break Ok(());
            }
            self.status
                .set(format!("Connecting to {}", starting.join(", ")));
            tokio::select! {
                biased;
                code = self.signals.next() => break Err(StopReason::Signal(code)),
                () = sleep_until(deadline) => break Err(StopReason::Timeout),
                event = self.events.recv() => self.handle_event(event),
                () = self.status.tick() => {}
            }
        };
        self.status.clear();
        self.stop_reason = result.err();
        result
    }

    /// How long servers may take to connect if the command has no deadline.
    fn default_wait(&self) -> Duration {
        let startup = self.configs.iter().map(|server| server.startup_timeout * 2);
        startup.max().unwrap_or_default() + WAIT_MARGIN
    }

    fn handle_event(&mut self, event: Option<HubEvent>) {
        match event {
            Some(HubEvent::Noticed(notice)) => {
                self.status.clear();
                print_to_stderr(&cli_output::notice_line(&notice));
            }
            Some(event) => self.decline_request(event),
            None => {}
        }
    }

    /// Declines a server's request for input, because these commands ask no questions.
    pub fn decline_request(&mut self, event: HubEvent) {
        let HubEvent::Requested { id, server, .. } = event else {
            return;
        };
        self.hub.reply(id, ServerRequestReply::Declined);
        self.status.clear();
        let notice = Notice::warning(format!("Server `{server}` asked for input; declined."));
        print_to_stderr(&cli_output::notice_line(&notice));
    }

    /// The deadline of the whole command.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The current state of the servers: the built-in one first, then in the order of the file.
    pub fn reports(&self) -> Vec<ServerReport> {
        let gave_up_reason = match self.stop_reason {
            Some(StopReason::Signal(_)) => {
                "It was still starting when the command was interrupted.".to_owned()
            }
            _ => {
                let wait = self.timeout.unwrap_or_else(|| self.default_wait());
                format!("It did not answer within {} s.", wait.as_secs_f64())
            }
        };
        let pairs = self.configs.iter().zip(self.hub.servers());
        pairs
            .map(|(config, server)| ServerReport {
                config: config.clone(),
                gave_up_reason: (server.status == ServerStatus::Starting)
                    .then(|| gave_up_reason.clone()),
                server: self.with_withheld_tools(server),
            })
            .collect()
    }

    /// Marks the tools that the chat would withhold because their definitions changed.
    fn with_withheld_tools(&self, mut server: Server) -> Server {
        let tools = server.tools.iter();
        let changed = tools.filter(|tool| self.pin_change(&server, tool).is_some());
        server.withheld_tools = changed.map(|tool| tool.name.clone()).collect();
        server
    }

    /// How a tool differs from its accepted definition, if it does. Built-in tools are exempt: they
    /// change only with this program.
    pub fn pin_change(&self, server: &Server, tool: &Tool) -> Option<PinChange> {
        let (id, launch) = (&server.id, &server.launch);
        let accepted = self.trust.accepted_definition(id, launch, &tool.name)?;
        let has_changed = accepted.pin != tool.pin && *launch != LaunchConfig::BuiltIn.identity();
        has_changed.then(|| PinChange {
            server: id.clone(),
            launch: launch.clone(),
            tool: Arc::new(tool.clone()),
            accepted: accepted.clone(),
        })
    }

    /// Whether the user blocked the tool for models.
    pub fn is_blocked(&self, server: &Server, tool: &Tool) -> bool {
        self.trust.is_blocked(&server.id, &tool.name)
    }

    /// Resolves once the servers' runtime has not responded for about a second.
    pub fn wait_until_stuck(&self) -> impl Future<Output = ()> + use<> {
        let background = self.background.clone();
        async move { background.wait_until_stuck().await }
    }

    /// Ends every session and process. Returns early if a signal arrives or the runtime is stuck.
    pub async fn close(self) {
        let Self {
            hub,
            events,
            mut signals,
            background,
            ..
        } = self;
        // Releases hub tasks that are waiting for space in this channel.
        drop(events);
        tokio::select! {
            () = hub.shutdown() => {}
            _ = signals.next() => {}
            () = background.wait_until_stuck() => {}
        }
    }
}

/// A line on standard error with what is being waited for and the seconds since the command started.
/// Shown only on a terminal.
pub struct StatusLine {
    is_terminal: bool,
    text: String,
    started_at: Instant,
    is_drawn: bool,
    ticks: Interval,
}

impl StatusLine {
    fn new() -> Self {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self {
            is_terminal: io::stderr().is_terminal(),
            text: String::new(),
            started_at: Instant::now(),
            is_drawn: false,
            ticks,
        }
    }

    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    pub fn set(&mut self, text: String) {
        self.text = text;
    }

    /// Waits for the next tick, then redraws the line.
    pub async fn tick(&mut self) {
        self.ticks.tick().await;
        let waited = self.started_at.elapsed();
        if !self.is_terminal || self.text.is_empty() || waited < STATUS_DELAY {
            return;
        }
        let columns = tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let seconds = format!(" … {} s", waited.as_secs());
        let width = columns.saturating_sub(seconds.chars().count() + 1);
        let text = cli_output::clean_line(&self.text);
        let text = truncate_to_width(&text, width);
        let _ = write!(io::stderr(), "\r{text}{seconds}\x1b[K");
        self.is_drawn = true;
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
