//! Questions to the user other than the turn's own, with the data that each answer needs.

use super::persist::unfinished::UnfinishedTurns;
use crate::config::ConfigSnapshot;
use crate::domain::trust::InstructionsConsent;
use crate::domain::{Dialect, ModelRef, ModelServer, PinChange, SettingsChange};
use std::sync::Arc;

/// An open question.
#[derive(Debug)]
pub(super) enum PendingQuestion {
    /// Whether the context may grow to this many tokens.
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
    /// Whether to store the dialect that a probe recommends, if any.
    StoreDialect {
        model: ModelRef,
        to: Option<Dialect>,
    },
    /// Whether to apply edits of the settings files.
    OutsideEdit {
        edited: Box<ConfigSnapshot>,
        /// The active settings when the question was asked.
        base: Box<ConfigSnapshot>,
        changes: Vec<SettingsChange>,
    },
    /// The text that was shown. If the file has changed since, it is not replaced.
    ReplaceSystemPrompt(Arc<str>),
    /// Whether to resume a turn of an earlier run.
    Unfinished(UnfinishedTurns),
    /// Confirms that an unfinished turn is discarded.
    DiscardUnfinished(UnfinishedTurns),
    /// The tool change that was shown.
    PinChanged(Box<PinChange>),
    /// Consent to the instructions that were shown, identified by hash.
    Instructions(InstructionsConsent),
}
