//! Finds the dialect that a model follows. Runs one turn per dialect, in which the model must
//! call `say_hello` and repeat a word that only the call reveals. Independent of conversations.

use super::running_trial::{RunningTrial, TrialEnd};
use crate::config::BUILT_IN_SERVER;
use crate::domain::probe::{CallOutcome, DialectTrial, PROBE_TOOL};
use crate::domain::server::{OAuthSettings, ProtocolMode};
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

/// Maximum silence during a reply, in seconds. A probe never asks whether to keep waiting.
const IDLE_SECONDS_MAX: u64 = 30;
const PROBE_EVENTS_MAX: usize = 16;
/// Time limit for starting the built-in server and for each of its calls.
const BUILT_IN_TIME_MAX: Duration = Duration::from_secs(10);
const HUB_EVENTS_MAX: usize = 64;

/// The model to probe, and how a conversation would use it.
pub struct DialectProbe {
    pub provider: Provider,
    pub built_in_server: Arc<dyn LocalServer>,
    pub model: Arc<ModelConfig>,
    /// The chat's system prompt, because it affects whether the model follows a dialect.
    pub system_prompt: Arc<str>,
    /// The conversation's context size. A different size would make Ollama reload the model.
    pub num_ctx: u32,
    /// The context size that the user allowed in the conversation.
    pub approved_num_ctx: u64,
    /// `idleSeconds` of the settings.
    pub idle_seconds: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ProbeEvent {
    TrialStarted(Dialect),
    ModelLoading,
    ModelLoaded,
    TrialFinished(DialectTrial),
    /// The last event. An error affects every dialect, such as an unreachable server.
    Finished(Result<(), Notice>),
}

/// A running probe; dropping it stops it.
pub struct RunningProbe {
    events: mpsc::Receiver<ProbeEvent>,
    task: AbortOnDropHandle<Result<(), Notice>>,
}

impl RunningProbe {
    /// Waits for the next event. Cancel-safe. Must not be called after
    /// [`ProbeEvent::Finished`].
    pub async fn next_event(&mut self) -> ProbeEvent {
        if let Some(event) = self.events.recv().await {
            return event;
        }
        let result = (&mut self.task).await.unwrap_or_else(|error| {
            tracing::error!("a probe failed: {error}");
            let message = "The probe failed because of an internal error.";
            Err(Notice::failure(message).with_advice(Advice::ShowLog))
        });
        ProbeEvent::Finished(result)
    }

    /// Takes the finished trials that have not been received yet. Other queued events are
    /// dropped.
    pub fn take_finished_trials(&mut self) -> Vec<DialectTrial> {
        std::iter::from_fn(|| self.events.try_recv().ok())
            .filter_map(|event| match event {
                ProbeEvent::TrialFinished(trial) => Some(trial),
                _ => None,
            })
            .collect()
    }
}

impl DialectProbe {
    pub fn start(self, runtime: &Handle) -> RunningProbe {
        let (sender, events) = mpsc::channel(PROBE_EVENTS_MAX);
        let task = AbortOnDropHandle::new(runtime.spawn(self.run(sender)));
        RunningProbe { events, task }
    }

    /// Stops only at a failure that would affect the other dialects as well.
    async fn run(self, sender: mpsc::Sender<ProbeEvent>) -> Result<(), Notice> {
        let mut tools = ProbeTools::start(Arc::clone(&self.built_in_server)).await?;
        let model_info = match self.model.provider.reports_capabilities() {
            true => self.provider.model_info(&self.model).await.ok(),
            false => None,
        };
        let model_info = model_info.unwrap_or_default();
        for dialect in Dialect::ALL {
            let trial = if dialect == Dialect::Native
                && model_info.has_capability("tools") == Some(false)
            {
                let capabilities = model_info.capabilities.join(", ");
                DialectTrial::skipped(
                    dialect,
                    format!(
                        "not tried, because the model server does not list `tools` among its capabilities ({capabilities})."
                    ),
                )
            } else {
                let _ = sender.send(ProbeEvent::TrialStarted(dialect)).await;
                match RunningTrial::run(&self, dialect, &model_info, &mut tools, &sender).await {
                    TrialEnd::Completed(trial) => trial,
                    TrialEnd::Aborted(notice) => return Err(notice),
                }
            };
            log_trial(&self.model.name, &trial);
            let _ = sender.send(ProbeEvent::TrialFinished(trial)).await;
        }
        Ok(())
    }

    pub(super) fn idle_seconds(&self) -> u64 {
        self.idle_seconds.min(IDLE_SECONDS_MAX)
    }
}

fn log_trial(model: &str, trial: &DialectTrial) {
    let dialect = trial.dialect.name();
    let problem = trial.problem.as_deref().unwrap_or("no problem");
    let seconds = trial.elapsed.as_secs_f64();
    let (call, used_result) = (&trial.call, trial.used_result);
    if *call == CallOutcome::Skipped {
        return tracing::info!("probe of {model}: {dialect}: {problem}");
    }
    tracing::info!(
        "probe of {model}: {dialect}: wrote {call:?}, answered {used_result}, {seconds:.1} s, {problem}"
    );
}

/// The probe's own session with the built-in server, so its tool can run even if it is disabled in
/// the chat.
pub(super) struct ProbeTools {
    pub(super) hub: Hub,
    pub(super) hub_events: mpsc::Receiver<HubEvent>,
    pub(super) toolset: Arc<Toolset>,
}

impl ProbeTools {
    async fn start(built_in_server: Arc<dyn LocalServer>) -> Result<Self, Notice> {
        let (sender, mut events) = mpsc::channel(HUB_EVENTS_MAX);
        let mut hub = Hub::new(sender, built_in_server);
        hub.configure(vec![ServerConfig {
            id: ServerId::new(BUILT_IN_SERVER),
            description: None,
            enabled: true,
            launch: LaunchConfig::BuiltIn,
            disabled_tools: BTreeSet::new(),
            always_offered: BTreeSet::new(),
            startup_timeout: BUILT_IN_TIME_MAX,
            tool_timeout: BUILT_IN_TIME_MAX,
            protocol: ProtocolMode::Legacy,
            oauth: OAuthSettings::default(),
            secrets: Vec::new(),
            missing_variables: Vec::new(),
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
        let server = timeout(BUILT_IN_TIME_MAX, connected).await.ok().flatten();
        let toolset = server.as_ref().map(probe_toolset).unwrap_or_default();
        if toolset.is_empty() {
            return Err(Notice::failure(format!(
                "The built-in tool {PROBE_TOOL} could not be started."
            )));
        }
        Ok(Self {
            hub,
            hub_events: events,
            toolset: Arc::new(toolset),
        })
    }
}

fn probe_toolset(server: &Server) -> Toolset {
    let mut server = server.clone();
    let tools = server.tools.iter().filter(|tool| tool.name == PROBE_TOOL);
    server.tools = Arc::new(tools.cloned().collect());
    Toolset::from_servers([&server])
}
