//! Questions to the user, except those of a turn, with the data for handling the answers.

use super::persist::unfinished::UnfinishedTurns;
use super::server_requests::open::OpenServerRequest;
use crate::config::{ConfigSnapshot, NotesFolder};
use crate::domain::trust::InstructionsConsent;
use crate::domain::{Dialect, ModelRef, ModelServer, PinChange, SettingsChange};
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum PendingQuestion {
    /// Whether the context may grow to `to` tokens.
    GrowContext {
        to: u64,
    },
    RemoveModel {
        server: ModelServer,
        name: String,
    },
    /// Whether to store the dialect that a probe recommends, if any.
    SaveDialect {
        model: ModelRef,
        to: Option<Dialect>,
    },
    /// Whether to apply edits to the settings files.
    ExternalEdit {
        edited: Box<ConfigSnapshot>,
        /// The active settings when the question was asked.
        base: Box<ConfigSnapshot>,
        changes: Vec<SettingsChange>,
    },
    /// Whether to replace the system prompt file. Contains the text that was shown: if the file
    /// has changed since, it is not replaced.
    ReplaceSystemPrompt(Arc<str>),
    UseNotesFolder(NotesFolder),
    /// Whether to resume a turn of an earlier run.
    Unfinished(UnfinishedTurns),
    DiscardUnfinished(UnfinishedTurns),
    /// Whether to accept the tool change that was shown.
    PinChanged(Box<PinChange>),
    /// Whether to send the instructions that were shown. Contains the consent to store.
    Instructions(InstructionsConsent),
    ServerRequest(OpenServerRequest),
}
