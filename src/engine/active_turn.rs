//! The conversation's turn under way: its driver, and what the conversation adds to it.

use super::injection_guard::UntrustedText;
use super::persist::TurnToSave;
use super::turn_driver::{TurnDriver, TurnSignal};
use crate::domain::session::CompactedRange;
use crate::domain::{ModelConfig, ModelInfo, Persona, PromptKind, Transcript, TurnId};
use futures::future::BoxFuture;
use std::sync::Arc;

pub(super) struct ActiveTurn {
    pub(super) id: TurnId,
    pub(super) driver: TurnDriver,
    pub(super) prompt: String,
    pub(super) kind: PromptKind,
    /// The messages that the answer will replace, where it is to be a summary.
    pub(super) compacted_range: Option<CompactedRange>,
    pub(super) model: Arc<ModelConfig>,
    pub(super) persona: Option<Arc<Persona>>,
    /// The fold of this turn's events, for the session's metadata.
    pub(super) transcript: Transcript,
    /// Asks the server about its model.
    pub(super) facts: Option<BoxFuture<'static, Option<ModelInfo>>>,
    /// Reads the piped text for calls; nothing is sent before that.
    pub(super) piped_text_scan: Option<BoxFuture<'static, Arc<UntrustedText>>>,
}

pub(super) enum ActiveTurnSignal {
    Turn(TurnSignal),
    Facts(Option<ModelInfo>),
    PipedTextRead(Arc<UntrustedText>),
}

impl ActiveTurn {
    pub(super) fn to_save(&self) -> TurnToSave<'_> {
        TurnToSave {
            prompt: &self.prompt,
            kind: self.kind,
            model: &self.model.name,
            transcript: &self.transcript,
        }
    }

    /// The next finished call, and the next signal of another kind. Cancel-safe.
    pub(super) fn signals(
        &mut self,
    ) -> (
        impl Future<Output = TurnSignal>,
        impl Future<Output = ActiveTurnSignal>,
    ) {
        let Self {
            driver,
            piped_text_scan: reading,
            facts,
            ..
        } = self;
        let (finished_call, signal) = driver.signals();
        let other = async move {
            if let Some(asked) = reading {
                let quote = asked.await;
                *reading = None;
                return ActiveTurnSignal::PipedTextRead(quote);
            }
            if let Some(asked) = facts {
                let answer = asked.await;
                *facts = None;
                return ActiveTurnSignal::Facts(answer);
            }
            ActiveTurnSignal::Turn(signal.await)
        };
        (finished_call, other)
    }
}
