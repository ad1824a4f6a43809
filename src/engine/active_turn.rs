//! The conversation's running turn: its driver, and the data that a probe's turn does not
//! need.

use super::agents::{AgentStep, FinishAgent, UnusedAnswer};
use super::persist::TurnToSave;
use super::turn_driver::{TurnDriver, TurnSignal};
use crate::domain::session::SummarizedPrefix;
use crate::domain::{
    AgentResult, Attachment, ModelConfig, ModelInfo, Notice, Persona, Prompt, PromptKind,
    Transcript, TurnId,
};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

pub(super) struct ActiveTurn {
    pub(super) id: TurnId,
    pub(super) driver: TurnDriver,
    pub(super) prompt: String,
    pub(super) attachments: Vec<Arc<Attachment>>,
    pub(super) kind: PromptKind,
    /// See [`crate::domain::Prompt::replaced_turns`].
    pub(super) replaced_turns: usize,
    /// For a summary: the messages that the answer will replace.
    pub(super) summarized_prefix: Option<SummarizedPrefix>,
    /// `None` if no model is selected, for a prompt that a note agent answers alone.
    pub(super) model: Option<Arc<ModelConfig>>,
    pub(super) persona: Option<Arc<Persona>>,
    /// Built from this turn's events, for the session's metadata.
    pub(super) transcript: Transcript,
    pub(super) model_info_query: Option<BoxFuture<'static, Option<ModelInfo>>>,
    pub(super) agent: ActingAgent,
    /// Set while the turn waits for servers that are starting.
    pub(super) awaited_servers: Option<AwaitedServers>,
}

/// The rest of a turn that waits for servers.
pub(super) struct AwaitedServers {
    /// Offered to the note agents once the tools are known.
    pub(super) prompt: Prompt,
    pub(super) deadline: Instant,
}

/// The note agent that acts in a turn. Empty if none does.
#[derive(Default)]
pub(super) struct ActingAgent {
    /// Its running work, before or after the model's answer.
    pub(super) task: Option<BoxFuture<'static, AgentSignal>>,
    /// A short description of that work.
    pub(super) progress: Option<watch::Receiver<String>>,
    /// Its work after the model's answer.
    pub(super) finish: Option<FinishAgent>,
    /// The request contains the agent's prompt instead of the conversation.
    pub(super) is_side_request: bool,
}

pub(super) enum AgentSignal {
    /// With the scanned text of notes.
    Prepared(Result<AgentStep, Notice>),
    Finished(Result<AgentResult, UnusedAnswer>),
    Progressed(String),
}

pub(super) enum ActiveTurnSignal {
    /// The turn has waited long enough for servers.
    ServersOverdue,
    Turn(TurnSignal),
    ModelInfo(Option<ModelInfo>),
    Agent(AgentSignal),
}

impl ActiveTurn {
    pub(super) fn to_save(&self, is_stopped: bool) -> TurnToSave<'_> {
        TurnToSave {
            prompt: &self.prompt,
            attachments: &self.attachments,
            kind: self.kind,
            replaced_turns: self.replaced_turns,
            model: self.model.as_ref().map_or("", |model| &model.name),
            persona: self.persona.as_ref().map(|persona| persona.name.as_str()),
            transcript: &self.transcript,
            is_stopped,
        }
    }

    /// The next finished call, and the next signal of any other kind. Cancel-safe.
    pub(super) fn signals(
        &mut self,
    ) -> (
        impl Future<Output = TurnSignal>,
        impl Future<Output = ActiveTurnSignal>,
    ) {
        let Self {
            driver,
            model_info_query,
            agent,
            awaited_servers,
            ..
        } = self;
        let (finished_call, signal) = driver.signals();
        let deadline = awaited_servers.as_ref().map(|awaited| awaited.deadline);
        let other_signal = async move {
            if let Some(deadline) = deadline {
                sleep_until(deadline).await;
                return ActiveTurnSignal::ServersOverdue;
            }
            if let Some(query) = model_info_query {
                let model_info = query.await;
                *model_info_query = None;
                return ActiveTurnSignal::ModelInfo(model_info);
            }
            if let Some(signal) = agent.next_signal().await {
                return ActiveTurnSignal::Agent(signal);
            }
            ActiveTurnSignal::Turn(signal.await)
        };
        (finished_call, other_signal)
    }
}

impl ActingAgent {
    /// The next progress or the result of the running work; `None` if none runs. Cancel-safe.
    async fn next_signal(&mut self) -> Option<AgentSignal> {
        let task = self.task.as_mut()?;
        let signal = match &mut self.progress {
            Some(progress) => tokio::select! {
                biased;
                signal = &mut *task => signal,
                // Fails once the sender is dropped; then only the result is awaited.
                Ok(()) = progress.changed() => {
                    let text = progress.borrow_and_update().clone();
                    return Some(AgentSignal::Progressed(text));
                }
            },
            None => task.await,
        };
        self.task = None;
        Some(signal)
    }
}
