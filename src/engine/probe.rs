//! Finds out which dialect a model follows (S6.6): one turn for each, in which it is
//! to call `say_hello` and to repeat what only a call can tell it. Nothing of that
//! belongs to a conversation; dropping the future stops it at once.

use super::approval::{Approval, Grant};
use super::sending::with_tool_role;
use super::trial::{Attempt, Ended};
use super::window::{self, Bounds, Fit};
use crate::config::BUILT_IN;
use crate::domain::probe::{TOOL, Trial, Wrote};
use crate::domain::server::Protocol;
use crate::domain::{
    Dialect, Launch, ModelConfig, ModelFacts, Notice, Offered, ProviderKind, Server, ServerConfig,
    ServerId, ServerStatus, ToolMode,
};
use crate::engine::context;
use crate::engine::turn::Setup;
use crate::mcp::{Hub, HubEvent};
use crate::ports::LocalServer;
use crate::provider::Provider;
use crate::text::token_estimate::Vocabulary;
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long the built-in server may take to come up.
const DESK_TIME_MAX: Duration = Duration::from_secs(10);
/// Rounds with calls in one dialect: the one that was asked for, and two more.
const ROUNDS_MAX: u32 = 3;
/// Events of the hub that wait.
const EVENTS_MAX: usize = 64;

/// What is probed, and how it would be asked in a conversation.
pub struct Probe {
    pub provider: Provider,
    pub built_in: Arc<dyn LocalServer>,
    pub model: Arc<ModelConfig>,
    /// What the chat would send: whether a dialect is followed depends on it.
    pub system_prompt: Arc<str>,
    /// The context that a conversation has with this model, and the one that the person
    /// agreed to: another would make Ollama load it anew.
    pub num_ctx: u32,
    pub agreed: u64,
    /// Silence of so long in the middle of a reply ends a trial.
    pub idle: Duration,
}

/// What a probe has to say while it runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeNews {
    Trying(Dialect),
    /// The server loads the model first.
    Loading,
    Loaded,
    Tried(Trial),
}

impl Probe {
    /// Tries each dialect; `tell` hears of each. What one of them runs into does not
    /// keep the others from being tried.
    ///
    /// # Errors
    /// What would stop every dialect alike, such as a server that is not there.
    pub async fn run(self, tell: mpsc::Sender<ProbeNews>) -> Result<(), Notice> {
        let mut desk = Desk::open(Arc::clone(&self.built_in)).await?;
        let facts = match self.model.provider {
            // Who else has what to say says it when asked with tools.
            ProviderKind::Ollama => self.provider.facts(&self.model).await.ok(),
            _ => None,
        };
        let facts = facts.unwrap_or_default();
        for dialect in Dialect::ALL {
            let trial = if dialect == Dialect::Native && facts.can("tools") == Some(false) {
                let has = facts.capabilities.join(", ");
                Trial::skipped(
                    dialect,
                    format!("not tried, since its server lists no `tools` for it ({has})."),
                )
            } else {
                let _ = tell.send(ProbeNews::Trying(dialect)).await;
                self.try_dialect(dialect, &facts, &mut desk, &tell).await?
            };
            log(&self.model.name, &trial);
            let _ = tell.send(ProbeNews::Tried(trial)).await;
        }
        Ok(())
    }

    async fn try_dialect(
        &self,
        dialect: Dialect,
        facts: &ModelFacts,
        desk: &mut Desk,
        tell: &mpsc::Sender<ProbeNews>,
    ) -> Result<Trial, Notice> {
        let model = Arc::new(ModelConfig {
            dialect,
            ..ModelConfig::clone(&self.model)
        });
        let model = with_tool_role(&model, facts);
        let setup = self.setup(&model, desk);
        let num_ctx = self.num_ctx(&model, facts, &setup);
        let attempt = Attempt {
            provider: &self.provider,
            model,
            num_ctx,
            idle: self.idle,
            tell,
        };
        match attempt.run(setup, desk).await {
            Ended::Tried(trial) => Ok(trial),
            Ended::Hopeless(notice) => Err(notice),
        }
    }

    fn setup(&self, model: &ModelConfig, desk: &Desk) -> Setup {
        // Whatever else the model asks for is not on offer, and this one does no harm.
        let mut approval = Approval::new(ToolMode::Manual);
        let offered = desk.offered.tools().iter();
        offered.for_each(|tool| approval.grant(Grant::of(tool)));
        let limits = crate::domain::model::Limits {
            tool_rounds: ROUNDS_MAX,
            ..Default::default()
        };
        Setup {
            prompt: crate::domain::Prompt::new(prompt()),
            instruction: None,
            model: model.name.clone(),
            dialect: model.dialect,
            system_prompt: Arc::clone(&self.system_prompt),
            history: Arc::default(),
            offered: Arc::clone(&desk.offered),
            approval,
            limits,
            quotes: Default::default(),
        }
    }

    /// The context that a conversation would ask for; 0 where that is no question.
    fn num_ctx(&self, model: &ModelConfig, facts: &ModelFacts, setup: &Setup) -> u32 {
        if model.provider != ProviderKind::Ollama {
            return 0;
        }
        let (offered, prompt) = (&setup.offered, &setup.prompt.text);
        let messages = context::assemble(
            &setup.system_prompt,
            model.dialect,
            offered,
            &[],
            prompt,
            &[],
        );
        let native = (model.dialect == Dialect::Native).then_some(&**offered);
        let vocabulary = Vocabulary::of(facts.family.as_deref(), &model.model);
        let estimate = window::weigh(&messages, native, vocabulary);
        let bounds = Bounds::new(model, facts, self.num_ctx, self.agreed);
        let tokens = match bounds.fit(estimate) {
            Fit::Fits { num_ctx } | Fit::TooLong { num_ctx } => num_ctx,
            Fit::Grows { from, .. } => from,
        };
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }
}

/// What the model is asked. The number and the time make each prompt a new one: no
/// cache answers it.
fn prompt() -> String {
    let id = RandomState::new().hash_one(TOOL) as u32;
    let now = jiff::Timestamp::now();
    format!(
        "This is a test of tool calls (request {id:08x}, {now:.0}). Call the tool `{TOOL}` once, \
         without arguments. Its result holds a secret word. Then answer in one sentence that \
         repeats this secret word exactly."
    )
}

fn log(model: &str, trial: &Trial) {
    let dialect = trial.dialect.name();
    let fault = trial.fault.as_deref().unwrap_or("no fault");
    let seconds = trial.elapsed.as_secs_f64();
    let (wrote, answered) = (&trial.wrote, trial.answered);
    if *wrote == Wrote::Skipped {
        return tracing::info!("probe of {model}: {dialect}: {fault}");
    }
    tracing::info!(
        "probe of {model}: {dialect}: wrote {wrote:?}, answered {answered}, {seconds:.1} s, {fault}"
    );
}

/// A session with the built-in server that is the probe's own: what the person switched
/// off in the chat stays off there.
pub(super) struct Desk {
    pub(super) hub: Hub,
    pub(super) events: mpsc::Receiver<HubEvent>,
    /// The one tool.
    pub(super) offered: Arc<Offered>,
}

impl Desk {
    async fn open(built_in: Arc<dyn LocalServer>) -> Result<Self, Notice> {
        let (sender, mut events) = mpsc::channel(EVENTS_MAX);
        let mut hub = Hub::new(sender, built_in);
        hub.configure(vec![ServerConfig {
            id: ServerId::new(BUILT_IN),
            description: None,
            enabled: true,
            launch: Launch::BuiltIn,
            tools_off: BTreeSet::new(),
            startup_timeout: DESK_TIME_MAX,
            tool_timeout: DESK_TIME_MAX,
            protocol: Protocol::Legacy,
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
        let server = timeout(DESK_TIME_MAX, connected).await.ok().flatten();
        let offered = server.as_ref().map(only_the_tool).unwrap_or_default();
        if offered.is_empty() {
            return Err(Notice::failure(format!(
                "The built-in tool {TOOL} did not come up."
            )));
        }
        Ok(Self {
            hub,
            events,
            offered: Arc::new(offered),
        })
    }
}

fn only_the_tool(server: &Server) -> Offered {
    let mut server = server.clone();
    let tools = server.tools.iter().filter(|tool| tool.name == TOOL);
    server.tools = Arc::new(tools.cloned().collect());
    Offered::from_servers([&server])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_prompts_are_alike() {
        let (one, other) = (prompt(), prompt());
        assert_ne!(one, other);
        assert!(one.contains("`say_hello`"), "{one}");
    }
}
