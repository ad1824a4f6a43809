//! The MCP client. The hub owns one line per configured server; each line owns
//! its session and its process. Nothing here decides what may be called: by the
//! time a call arrives it has been approved.

mod backoff;
mod call;
mod convert;
mod environment;
mod fault;
mod http;
mod inbox;
mod lenient;
mod line;
mod link;
mod live;
mod memory;
mod process;
mod remote;
mod report;
mod session;
mod shallow;
mod state;
mod stderr;
mod subscribe;
mod wire;

use crate::domain::{
    Arguments, CallId, Launch, Notice, Pin, Progress, Server, ServerConfig, ServerId, ServerLog,
    ToolOutcome,
};
use crate::ports::LocalServer;
pub use call::Ran;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use line::{Line, Surroundings};
use memory::Memory;
pub use process::Groups as ProcessGroups;
use process::Groups;
use state::switched_off;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// After this, what is left is killed without another word.
const SHUTDOWN_DEADLINE: Duration = Duration::from_millis(3_800);

/// One approved call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    pub server: ServerId,
    pub tool: String,
    pub arguments: Arguments,
    /// The definition that was approved. The tool is not called if its server has
    /// another by the time of the call, as after a restart.
    pub pin: Option<Pin>,
}

/// What the hub reports to its owner.
#[derive(Debug, Clone, PartialEq)]
pub enum HubEvent {
    /// A server's status or tools changed. Servers that are off report nothing.
    Changed(Box<Server>),
    /// The newest progress of a running call; older ones may have been skipped.
    Progress {
        call: CallId,
        progress: Progress,
    },
    Noticed(Notice),
}

/// All MCP servers. Dropped without [`Hub::shutdown`], it kills their processes.
pub struct Hub {
    around: Surroundings,
    entries: Vec<Entry>,
    /// The tasks of all lines, also of those that are being closed.
    tasks: JoinSet<()>,
    runtime: Handle,
}

struct Entry {
    config: ServerConfig,
    /// None where the server is switched off.
    line: Option<Arc<Line>>,
}

impl Hub {
    /// A hub without servers. `events` goes to the owner, who must keep reading
    /// it: lines wait for room.
    /// Servers run on the tokio runtime within which the hub was made, whichever one its
    /// methods are called from.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(events: mpsc::Sender<HubEvent>, local: Arc<dyn LocalServer>) -> Self {
        Self::with_groups(events, local, Groups::default())
    }

    /// As [`Hub::new`], with process groups that somebody else can end as well.
    pub fn with_groups(
        events: mpsc::Sender<HubEvent>,
        local: Arc<dyn LocalServer>,
        groups: Groups,
    ) -> Self {
        Self {
            runtime: Handle::current(),
            around: Surroundings {
                events,
                groups,
                local,
                memory: Memory::default(),
            },
            entries: Vec::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Keeps what is found out about servers in this file from now on; to be called
    /// before [`Hub::configure`].
    pub fn remember_in(&mut self, file: PathBuf) {
        self.around.memory = Memory::in_file(file);
    }

    /// Replaces the list: starts what is enabled and new or changed, stops what
    /// is gone, changed or off. Returns at once; all of it happens in the
    /// background.
    pub fn configure(&mut self, servers: Vec<ServerConfig>) {
        while self.tasks.try_join_next().is_some() {}
        let mut old = std::mem::take(&mut self.entries);
        for config in servers {
            let kept = old
                .iter()
                .position(|entry| entry.config.id == config.id && entry.continues_as(&config))
                .map(|index| old.swap_remove(index));
            let line = match kept.and_then(|entry| entry.line) {
                Some(line) => {
                    line.adapt(config.clone());
                    Some(line)
                }
                None => self.start(&config),
            };
            self.entries.push(Entry { config, line });
        }
        for line in old.into_iter().filter_map(|entry| entry.line) {
            line.stop.cancel();
        }
    }

    fn start(&mut self, config: &ServerConfig) -> Option<Arc<Line>> {
        let misconfigured = matches!(config.launch, Launch::Misconfigured { .. });
        if !config.enabled && !misconfigured {
            return None;
        }
        let line = Arc::new(Line::new(config.clone(), self.around.clone()));
        let supervised = line.clone();
        let supervision = async move { supervised.supervise().await };
        self.tasks.spawn_on(supervision, &self.runtime);
        Some(line)
    }

    /// Snapshots, in the order of the configuration.
    pub fn servers(&self) -> Vec<Server> {
        self.entries
            .iter()
            .map(|entry| match &entry.line {
                Some(line) => line.snapshot(),
                None => switched_off(&entry.config),
            })
            .collect()
    }

    /// What a server wrote, where there is more than the `seen` lines that were ever
    /// written when somebody looked last.
    pub fn log(&self, id: &ServerId, seen: Option<u64>) -> Option<ServerLog> {
        let Some(line) = self.line(id) else {
            // It is off: nothing is known of its last run.
            return seen.is_none().then(|| ServerLog {
                server: id.clone(),
                since: None,
                lines: Vec::new(),
                written: 0,
            });
        };
        (seen != Some(line.stderr.written())).then(|| {
            let (lines, since, written) = line.stderr.run();
            let server = id.clone();
            ServerLog {
                server,
                since,
                lines,
                written,
            }
        })
    }

    /// Ends the session of a server, if there is one, and opens another at once,
    /// whatever failed before.
    pub fn reconnect(&mut self, id: &ServerId) {
        if let Some(line) = self.line(id) {
            line.reconnect();
        }
    }

    /// Runs one call on the server's session, opening one first where it has
    /// ended. The returned future owns the call: when `cancel` is cancelled it
    /// tells the server (`notifications/cancelled`) and resolves at once to
    /// [`ToolOutcome::Interrupted`]; dropping it tells the server too. After
    /// `tool_timeout` without progress, or ten times that in all, the call is
    /// cancelled likewise and resolves to [`ToolOutcome::TimedOut`].
    pub fn call(&self, call: Call, cancel: CancellationToken) -> BoxFuture<'static, ToolOutcome> {
        self.call_whole(call, cancel).map(|ran| ran.outcome).boxed()
    }

    /// As [`Hub::call`], with the server's own result beside the outcome.
    pub fn call_whole(&self, call: Call, cancel: CancellationToken) -> BoxFuture<'static, Ran> {
        match self.line(&call.server) {
            Some(line) => call::run(line.clone(), call, cancel, self.around.events.clone()).boxed(),
            None => {
                let outcome = ToolOutcome::Unreachable {
                    why: format!("Server `{}` is not running.", call.server),
                    elapsed: Duration::ZERO,
                };
                ready(outcome.into()).boxed()
            }
        }
    }

    fn line(&self, id: &ServerId) -> Option<&Arc<Line>> {
        let entry = self.entries.iter().find(|entry| entry.config.id == *id)?;
        entry.line.as_ref()
    }

    /// Closes everything, all servers in parallel: stdin is closed, then SIGTERM
    /// and SIGKILL go to the process group, a second after each other. Returns
    /// when no child is left, after about four seconds at the latest.
    pub async fn shutdown(mut self) {
        for line in self.entries.iter().filter_map(|entry| entry.line.as_ref()) {
            line.stop.cancel();
        }
        let closing = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(SHUTDOWN_DEADLINE, closing).await.is_err() {
            tracing::warn!("not all MCP servers could be closed in time: they are killed");
        }
        // Dropping the hub kills what is left.
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.around.groups.kill_all();
    }
}

impl Entry {
    /// Can the line of this entry go on under `config`?
    fn continues_as(&self, config: &ServerConfig) -> bool {
        self.config.enabled == config.enabled && self.config.launch == config.launch
    }
}
