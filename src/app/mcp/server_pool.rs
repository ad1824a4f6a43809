//! The servers that a command needs, connected: waiting for them, a line that says so
//! meanwhile, and their end.

use super::output::print_error_line;
use crate::app::watchdog::BackgroundRuntime;
use crate::config::{self, Home};
use crate::domain::trust::PinChange;
use crate::domain::{LaunchConfig, Server, ServerConfig, ServerStatus, Tool, Trust};
use crate::headless::mcp::{self as words, ServerReport};
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

/// Events of servers that wait to be read.
const EVENTS_MAX: usize = 256;
const TICK: Duration = Duration::from_millis(100);
/// What takes less time needs no word.
const STATUS_DELAY: Duration = Duration::from_millis(400);
/// Each server has deadlines of its own: this is for the case that they fail.
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
    /// What the servers run on.
    background: BackgroundRuntime,
}

/// Why there was no waiting any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// A signal, as the exit status that it stands for.
    Signal(u8),
    TimeOut,
}

impl ConnectedServers {
    /// Starts the servers that are on. `timeout` is for all that happens at the desk.
    pub fn open(
        home: &Home,
        servers: Vec<ServerConfig>,
        timeout: Option<Duration>,
        background: &BackgroundRuntime,
    ) -> Result<Self> {
        let signals = ExitSignals::install().context("signals cannot be heard")?;
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
            print_error_line(&words::notice_line(&banner.notice));
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

    /// Waits until each server is connected, or has failed. Err is why it did not wait
    /// any longer.
    pub async fn wait_until_connected(&mut self) -> Result<(), StopReason> {
        let starting = |hub: &Hub| {
            let servers = hub.servers().into_iter();
            let starting = servers.filter(|server| server.status == ServerStatus::Starting);
            starting
                .map(|server| server.id.to_string())
                .collect::<Vec<_>>()
        };
        let usual = self
            .configs
            .iter()
            .map(|server| server.startup_timeout * 2)
            .max();
        let usual = Instant::now() + usual.unwrap_or_default() + WAIT_MAX;
        let deadline = self.deadline.unwrap_or(usual);
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

    /// Says what a server has to say to the person.
    fn show_event(&mut self, event: Option<HubEvent>) {
        if let Some(HubEvent::Noticed(notice)) = event {
            self.status.clear();
            print_error_line(&words::notice_line(&notice));
        }
    }

    /// When everything has to be over.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The servers as they are now, in the order of the file.
    pub fn reports(&self) -> Vec<ServerReport> {
        let patience = self.timeout.unwrap_or(WAIT_MAX).as_secs_f64();
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

    /// The server with what the chat withholds of it (S7.5).
    fn with_withheld_tools(&self, mut server: Server) -> Server {
        let tools = server.tools.iter();
        let changed = tools.filter(|tool| self.pin_change(&server, tool).is_some());
        server.withheld_tools = changed.map(|tool| tool.name.clone()).collect();
        server
    }

    /// What of a tool is not as it was accepted. Built-in tools change with this
    /// program alone.
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

    /// Did the person rule the tool out?
    pub fn is_blocked(&self, server: &Server, tool: &Tool) -> bool {
        self.trust.is_blocked(&server.id, &tool.name)
    }

    /// Resolves once the runtime of the servers has not responded for a second.
    pub fn wait_until_stuck(&self) -> impl Future<Output = ()> + use<> {
        let background = self.background.clone();
        async move { background.wait_until_stuck().await }
    }

    /// Ends every session and every process. A second signal does it at once, and so does
    /// a runtime that does not respond.
    pub async fn close(self) {
        let Self {
            hub,
            events,
            mut signals,
            background,
            ..
        } = self;
        // Lines of the hub wait for room in this channel: let them go.
        drop(events);
        tokio::select! {
            () = hub.shutdown() => {}
            _ = signals.next() => {}
            () = background.wait_until_stuck() => {}
        }
    }
}

/// What is being waited for: a line on standard error that changes, where that is a
/// terminal.
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

    pub fn set(&mut self, words: String) {
        self.text = words;
    }

    /// Draws the line now and then.
    pub async fn tick(&mut self) {
        self.ticks.tick().await;
        let waited = self.since.elapsed();
        if !self.is_terminal || self.text.is_empty() || waited < STATUS_DELAY {
            return;
        }
        let columns = tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let seconds = format!(" … {} s", waited.as_secs());
        let room = columns.saturating_sub(seconds.chars().count() + 1);
        let words = words::clean_line(&self.text);
        let words = truncate_to_width(&words, room);
        let _ = write!(io::stderr(), "\r{words}{seconds}\x1b[K");
        self.is_drawn = true;
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
