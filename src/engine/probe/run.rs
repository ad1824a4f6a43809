//! Finds out which dialect a model follows: one turn for each, in which it is
//! to call `say_hello` and to repeat what only a call can tell it. Nothing of that
//! belongs to a conversation; dropping the future stops it at once.

use super::attempt::{AttemptEnd, ProbeAttempt};
use crate::config::BUILT_IN_SERVER;
use crate::domain::probe::{CallOutcome, DialectTrial, PROBE_TOOL};
use crate::domain::server::ProtocolMode;
use crate::domain::{
    Advice, Dialect, LaunchConfig, ModelConfig, Notice, Server, ServerConfig, ServerId,
    ServerStatus, Toolset,
};
use crate::mcp::{Hub, HubEvent};
use crate::ports::LocalServer;
use crate::provider::Provider;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// Seconds of silence in the middle of a reply that end an attempt at the latest: nobody is
/// asked whether to wait on.
const IDLE_SECONDS_MAX: u64 = 30;
/// News that wait for whoever started the probe.
const NEWS_MAX: usize = 16;
/// How long the built-in server may take to come up.
const TOOLS_TIME_MAX: Duration = Duration::from_secs(10);
/// Events of the hub that wait.
const EVENTS_MAX: usize = 64;

/// What is probed, and how it would be asked in a conversation.
pub struct DialectProbe {
    pub provider: Provider,
    pub built_in: Arc<dyn LocalServer>,
    pub model: Arc<ModelConfig>,
    /// What the chat would send: whether a dialect is followed depends on it.
    pub system_prompt: Arc<str>,
    /// The context that a conversation has with this model, and the one that the user
    /// agreed to: another would make Ollama load it anew.
    pub num_ctx: u32,
    pub approved_num_ctx: u64,
    /// `idleSeconds` of the settings.
    pub idle_seconds: u64,
}

/// What a probe has to say while it runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeEvent {
    AttemptStarted(Dialect),
    /// The server loads the model first.
    ModelLoading,
    ModelLoaded,
    AttemptFinished(DialectTrial),
    /// The last news. An error would stop every dialect alike, such as a server that is
    /// not there.
    Finished(Result<(), Notice>),
}

/// A probe under way; dropping it stops it.
pub struct RunningProbe {
    events: mpsc::Receiver<ProbeEvent>,
    task: AbortOnDropHandle<Result<(), Notice>>,
}

impl RunningProbe {
    /// Waits for the next news. Cancel-safe; not to be called after [`ProbeNews::Over`].
    pub async fn next(&mut self) -> ProbeEvent {
        if let Some(news) = self.events.recv().await {
            return news;
        }
        let over = (&mut self.task).await.unwrap_or_else(|fault| {
            tracing::error!("a probe failed: {fault}");
            let what = "The probe ended by a fault of humble itself.";
            Err(Notice::failure(what).with_advice(Advice::ShowLog))
        });
        ProbeEvent::Finished(over)
    }

    /// The attempts that ended before the probe is stopped, and were not heard of yet.
    pub fn take_finished_attempts(&mut self) -> Vec<DialectTrial> {
        std::iter::from_fn(|| self.events.try_recv().ok())
            .filter_map(|news| match news {
                ProbeEvent::AttemptFinished(trial) => Some(trial),
                _ => None,
            })
            .collect()
    }
}

impl DialectProbe {
    pub fn start(self, runtime: &Handle) -> RunningProbe {
        let (tell, news) = mpsc::channel(NEWS_MAX);
        let task = AbortOnDropHandle::new(runtime.spawn(self.run(tell)));
        RunningProbe { events: news, task }
    }

    /// Tries each dialect. A fault in one of them does not keep the others from being
    /// tried.
    async fn run(self, tell: mpsc::Sender<ProbeEvent>) -> Result<(), Notice> {
        let mut tools = ProbeTools::open(Arc::clone(&self.built_in)).await?;
        let facts = match self.model.provider.reports_capabilities() {
            true => self.provider.facts(&self.model).await.ok(),
            false => None,
        };
        let facts = facts.unwrap_or_default();
        for dialect in Dialect::ALL {
            let trial =
                if dialect == Dialect::Native && facts.has_capability("tools") == Some(false) {
                    let has = facts.capabilities.join(", ");
                    DialectTrial::skipped(
                        dialect,
                        format!("not tried, since its server lists no `tools` for it ({has})."),
                    )
                } else {
                    let _ = tell.send(ProbeEvent::AttemptStarted(dialect)).await;
                    match ProbeAttempt::run(&self, dialect, &facts, &mut tools, &tell).await {
                        AttemptEnd::Completed(trial) => trial,
                        AttemptEnd::Aborted(notice) => return Err(notice),
                    }
                };
            log(&self.model.name, &trial);
            let _ = tell.send(ProbeEvent::AttemptFinished(trial)).await;
        }
        Ok(())
    }

    /// Seconds of silence in the middle of a reply that end an attempt.
    pub(super) fn idle_seconds(&self) -> u64 {
        self.idle_seconds.min(IDLE_SECONDS_MAX)
    }
}

fn log(model: &str, trial: &DialectTrial) {
    let dialect = trial.dialect.name();
    let fault = trial.fault.as_deref().unwrap_or("no fault");
    let seconds = trial.elapsed.as_secs_f64();
    let (wrote, answered) = (&trial.call, trial.used_result);
    if *wrote == CallOutcome::Skipped {
        return tracing::info!("probe of {model}: {dialect}: {fault}");
    }
    tracing::info!(
        "probe of {model}: {dialect}: wrote {wrote:?}, answered {answered}, {seconds:.1} s, {fault}"
    );
}

/// A session with the built-in server that is the probe's own: what the user switched
/// off in the chat stays off there.
pub(super) struct ProbeTools {
    pub(super) hub: Hub,
    pub(super) hub_events: mpsc::Receiver<HubEvent>,
    /// The one tool.
    pub(super) toolset: Arc<Toolset>,
}

impl ProbeTools {
    async fn open(built_in: Arc<dyn LocalServer>) -> Result<Self, Notice> {
        let (sender, mut events) = mpsc::channel(EVENTS_MAX);
        let mut hub = Hub::new(sender, built_in);
        hub.configure(vec![ServerConfig {
            id: ServerId::new(BUILT_IN_SERVER),
            description: None,
            enabled: true,
            launch: LaunchConfig::BuiltIn,
            disabled_tools: BTreeSet::new(),
            startup_timeout: TOOLS_TIME_MAX,
            tool_timeout: TOOLS_TIME_MAX,
            protocol: ProtocolMode::Legacy,
            secrets: Vec::new(),
        }]);
        let connected = async {
            while let Some(event) = events.recv().await {
                if let HubEvent::Changed(server) = event
                    && server.status == ServerStatus::Connected
                {
                    return Some(*server);
                }
            }
            None
        };
        let server = timeout(TOOLS_TIME_MAX, connected).await.ok().flatten();
        let offered = server.as_ref().map(probe_toolset).unwrap_or_default();
        if offered.is_empty() {
            return Err(Notice::failure(format!(
                "The built-in tool {PROBE_TOOL} did not come up."
            )));
        }
        Ok(Self {
            hub,
            hub_events: events,
            toolset: Arc::new(offered),
        })
    }
}

fn probe_toolset(server: &Server) -> Toolset {
    let mut server = server.clone();
    let tools = server.tools.iter().filter(|tool| tool.name == PROBE_TOOL);
    server.tools = Arc::new(tools.cloned().collect());
    Toolset::from_servers([&server])
}
