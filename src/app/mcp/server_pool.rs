//! The connected servers of a `humble mcp` command: waits for them with a status line,
//! and closes them.

use super::output::print_error_line;
use crate::app::watchdog::BackgroundRuntime;
use crate::config::{self, Home};
use crate::domain::trust::PinChange;
use crate::domain::{LaunchConfig, Server, ServerConfig, ServerStatus, Tool, Trust};
use crate::headless::mcp::{self as cli_output, ServerReport};
use crate::headless::signals::ExitSignals;
use crate::mcp::{Hub, HubEvent};
use crate::serve::BuiltInServer;
use crate::text::grapheme::truncate_to_width;
use anyhow::{Context, Result};
use rustix::termios::tcgetwinsize;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

/// Capacity of the event channel.
const EVENTS_MAX: usize = 256;
const TICK: Duration = Duration::from_millis(100);
/// Shorter waits show no status line.
const STATUS_DELAY: Duration = Duration::from_millis(400);
/// Margin on top of the servers' own deadlines, in case those fail.
const WAIT_MAX: Duration = Duration::from_secs(60);

pub struct ConnectedServers {
    pub hub: Hub,
    pub events: mpsc::Receiver<HubEvent>,
    pub signals: ExitSignals,
    pub status: StatusLine,
    configs: Vec<ServerConfig>,
    trust: Trust,
    deadline: Option<Instant>,
    timeout: Option<Duration>,
    background: BackgroundRuntime,
}

/// Why waiting ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The exit status of a signal.
    Signal(u8),
    TimeOut,
}

impl ConnectedServers {
    /// Starts the enabled servers. `timeout` covers the whole command.
    pub fn open(
        home: &Home,
        servers: Vec<ServerConfig>,
        timeout: Option<Duration>,
        background: &BackgroundRuntime,
    ) -> Result<Self> {
        let signals = ExitSignals::install().context("could not install signal handlers")?;
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let groups = background.process_groups.clone();
        let mut hub = {
            let _in_background = background.runtime.enter();
            Hub::with_process_groups(sender, Arc::new(BuiltInServer), groups)
        };
        background.watch_front_end();
        if home.root().is_dir() {
            hub.set_cache_file(home.cache().join("servers.json"));
        }
        hub.configure(servers.clone());
        let trust = config::read_trust(home);
        for banner in &trust.banners {
            print_error_line(&cli_output::notice_line(&banner.notice));
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
            background: background.clone(),
        })
    }

    /// Waits until each server has connected or failed. Err says why it stopped waiting.
    pub async fn wait_until_connected(&mut self) -> Result<(), StopReason> {
        let starting = |hub: &Hub| {
            let servers = hub.servers().into_iter();
            let starting = servers.filter(|server| server.status == ServerStatus::Starting);
            starting
                .map(|server| server.id.to_string())
                .collect::<Vec<_>>()
        };
        let deadline = self
            .deadline
            .unwrap_or(Instant::now() + self.default_wait());
        let stopped = loop {
            let missing = starting(&self.hub);
            if missing.is_empty() {
                break Ok(());
            }
            self.status
                .set(format!("Connecting to {}", missing.join(", ")));
            tokio::select! {
                biased;
                code = self.signals.next() => break Err(StopReason::Signal(code)),
                () = sleep_until(deadline) => break Err(StopReason::TimeOut),
                event = self.events.recv() => self.show_event(event),
                () = self.status.tick() => {}
            }
        };
        self.status.clear();
        stopped
    }

    /// How long servers may take to connect if the command has no deadline.
    fn default_wait(&self) -> Duration {
        let startup = self.configs.iter().map(|server| server.startup_timeout * 2);
        startup.max().unwrap_or_default() + WAIT_MAX
    }

    /// Prints notices from servers.
    fn show_event(&mut self, event: Option<HubEvent>) {
        if let Some(HubEvent::Noticed(notice)) = event {
            self.status.clear();
            print_error_line(&cli_output::notice_line(&notice));
        }
    }

    /// When the whole command must be done.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The current state of the servers, in the order of the file.
    pub fn reports(&self) -> Vec<ServerReport> {
        let patience = self
            .timeout
            .unwrap_or_else(|| self.default_wait())
            .as_secs_f64();
        let given_up = format!("It did not answer within {patience} s.");
        let pairs = self.configs.iter().zip(self.hub.servers());
        pairs
            .map(|(config, server)| ServerReport {
                config: config.clone(),
                given_up: (server.status == ServerStatus::Starting).then(|| given_up.clone()),
                server: self.with_withheld_tools(server),
            })
            .collect()
    }

    /// Marks the tools that the chat would withhold because their definition changed.
    fn with_withheld_tools(&self, mut server: Server) -> Server {
        let tools = server.tools.iter();
        let changed = tools.filter(|tool| self.pin_change(&server, tool).is_some());
        server.withheld_tools = changed.map(|tool| tool.name.clone()).collect();
        server
    }

    /// How a tool differs from its accepted definition. Built-in tools are exempt: they
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

    /// Ends every session and process. Another signal or an unresponsive runtime cuts this
    /// short.
    pub async fn close(self) {
        let Self {
            hub,
            events,
            mut signals,
            background,
            ..
        } = self;
        // Releases hub tasks that wait for space in this channel.
        drop(events);
        tokio::select! {
            () = hub.shutdown() => {}
            _ = signals.next() => {}
            () = background.wait_until_stuck() => {}
        }
    }
}

/// An updating line on standard error, if that is a terminal, that names the current wait.
pub struct StatusLine {
    is_terminal: bool,
    text: String,
    since: Instant,
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
            since: Instant::now(),
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
        let waited = self.since.elapsed();
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
