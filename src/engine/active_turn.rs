//! The conversation's running turn: its driver, and the data that only a conversation has.

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
    /// The messages that the answer will replace, if it is a summary.
    pub(super) compacted_range: Option<CompactedRange>,
    pub(super) model: Arc<ModelConfig>,
    pub(super) persona: Option<Arc<Persona>>,
    /// Built from this turn's events, for the session's metadata.
    pub(super) transcript: Transcript,
    /// The query for the server's information about its model.
    pub(super) facts: Option<BoxFuture<'static, Option<ModelInfo>>>,
    /// The scan of piped text for calls; the request waits for it.
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

    /// The next finished call, and the next signal of any other kind. Cancel-safe.
    pub(super) fn signals(
        &mut self,
    ) -> (
        impl Future<Output = TurnSignal>,
        impl Future<Output = ActiveTurnSignal>,
    ) {
        let Self {
            driver,
            piped_text_scan,
            facts,
            ..
        } = self;
        let (finished_call, signal) = driver.signals();
        let other = async move {
            if let Some(scan) = piped_text_scan {
                let untrusted_text = scan.await;
                *piped_text_scan = None;
                return ActiveTurnSignal::PipedTextRead(untrusted_text);
            }
            if let Some(query) = facts {
                let answer = query.await;
                *facts = None;
                return ActiveTurnSignal::Facts(answer);
            }
            ActiveTurnSignal::Turn(signal.await)
        };
        (finished_call, other)
    }
}
