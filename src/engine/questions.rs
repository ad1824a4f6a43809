//! Questions to the user that are not the turn's own, and what follows from each answer.

use super::persist::unfinished::UnfinishedTurns;
use crate::config::ConfigSnapshot;
use crate::domain::trust::InstructionsConsent;
use crate::domain::{Dialect, ModelRef, ModelServer, PinChange, SettingsChange};
use std::sync::Arc;

/// What waits for an answer.
#[derive(Debug)]
pub(super) enum PendingQuestion {
    /// A conversation that does not fit into the context, which may grow to this.
    GrowContext {
        to: u64,
    },
    AddModel {
        server: ModelServer,
        name: String,
    },
    RemoveModel {
        server: ModelServer,
        name: String,
    },
    /// What a probe found, and what of it is worth storing.
    StoreDialect {
        model: ModelRef,
        to: Option<Dialect>,
    },
    /// What would come into force, and what was said of it.
    OutsideEdit {
        edited: Box<ConfigSnapshot>,
        /// What was in force when it was asked.
        base: Box<ConfigSnapshot>,
        changes: Vec<SettingsChange>,
    },
    /// The text that was shown: another is not replaced.
    ReplaceSystemPrompt(Arc<str>),
    /// Whether a turn of an earlier run is taken up again.
    Unfinished(UnfinishedTurns),
    /// Whether it is really to go.
    DiscardUnfinished(UnfinishedTurns),
    /// What was shown of a tool that changed.
    PinChanged(Box<PinChange>),
    /// The text that was shown, by its hash.
    Instructions(InstructionsConsent),
}
