//! The contract of note agents, and what they share.

use crate::domain::{
    Advice, AgentResult, CreatedNote, NotesSettings, Notice, OpenNote, SavedMessage,
};
use crate::engine::turn::ModelAnswer;
use crate::ports::{NoteRequest, NoteService};
use crate::text::Clean;
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) trait Agent: Sync {
    /// Recognizes a prompt. `None` leaves it to the next agent. Must be fast: the work belongs in the
    /// preparation. `history` contains the prompts and answers before this one.
    fn try_handle(
        &self,
        message: &str,
        history: &[SavedMessage],
        context: &AgentContext,
    ) -> Option<Preparation>;
}

/// What the agents work with.
pub(super) struct AgentContext {
    pub(super) notes: Arc<dyn NoteService>,
    pub(super) settings: NotesSettings,
    pub(super) open_note: Option<OpenNote>,
    /// Ordinary prompts are sent with excerpts of notes.
    pub(super) consults_notes: bool,
}

impl AgentContext {
    pub(super) fn request(&self) -> NoteRequest {
        NoteRequest {
            settings: self.settings.clone(),
            vault: None,
            on_progress: Arc::new(|_| {}),
        }
    }
}

/// The work before the model is asked. Dropping it stops it. `Err` says why the agent cannot act;
/// the prompt then goes to the model.
pub type Preparation = BoxFuture<'static, Result<AgentStep, Notice>>;

/// What an agent does once it is prepared.
pub enum AgentStep {
    /// It has the answer already.
    Answer {
        text: String,
        result: AgentResult,
        /// The text of notes in the answer.
        untrusted_text: String,
    },
    /// The prompt is sent to the model as usual, after these excerpts of notes.
    AddToPrompt {
        excerpts: String,
        result: AgentResult,
        /// The text of notes in the excerpts.
        untrusted_text: String,
    },
    /// This prompt is sent to the model in place of the user's.
    AskModel {
        prompt: String,
        /// The text of notes in the prompt.
        untrusted_text: String,
        finish: FinishAgent,
    },
}

/// Processes the model's answer. Dropping the future undoes its effects.
pub type FinishAgent =
    Box<dyn FnOnce(ModelAnswer) -> BoxFuture<'static, Result<FinishedAgent, Notice>> + Send>;

/// The result of an agent.
pub struct FinishedAgent {
    pub result: AgentResult,
    /// The note that was created, which can be undone.
    pub created: Option<CreatedNote>,
}

pub(super) fn no_open_note() -> Notice {
    Notice::info("No note is open.").with_advice(Advice::OpenNote)
}

/// The name of a note on one line: its path below the vault.
pub(super) fn name_in(vault: &Path, note: &Path) -> String {
    let name = note.strip_prefix(vault).unwrap_or(note);
    Clean::single_line(&name.to_string_lossy()).into()
}

pub(super) fn names_in(vault: &Path, notes: &[PathBuf]) -> Vec<String> {
    notes.iter().map(|note| name_in(vault, note)).collect()
}
