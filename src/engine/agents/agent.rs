//! The types that note agents share.

use crate::dialect::only_call::is_only_calls;
use crate::domain::{Advice, AgentResult, NotesSettings, Notice, OpenNote, Toolset, WrittenNote};
use crate::engine::turn::ModelAnswer;
use crate::ports::{NoteRequest, NoteService};
use crate::text::Clean;
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

pub(super) struct AgentContext {
    pub(super) notes: Arc<dyn NoteService>,
    pub(super) settings: NotesSettings,
    pub(super) open_note: Option<OpenNote>,
    /// Ordinary prompts are sent with excerpts of notes.
    pub(super) consults_notes: bool,
    /// The note that the replaced turn created.
    pub(super) replaced_note: Option<WrittenNote>,
    /// The tools that the model may try to call.
    pub(super) offered: Arc<Toolset>,
    /// Called with a short description of the current work.
    pub(super) on_progress: ProgressReport,
}

pub(super) type ProgressReport = Arc<dyn Fn(&str) + Send + Sync>;

impl AgentContext {
    pub(super) fn request(&self) -> NoteRequest {
        NoteRequest {
            settings: self.settings.clone(),
            vault: None,
            on_progress: Arc::clone(&self.on_progress),
        }
    }
}

/// The work before the model is asked; dropping the future stops it. `Err` is the reason why the
/// agent cannot carry out the request; the prompt then goes to the model.
pub type PreparedStep = BoxFuture<'static, Result<AgentStep, Notice>>;

/// The preparation of a turn by the agent that recognized its prompt.
pub struct Preparation {
    pub step: PreparedStep,
    /// A short description of the current work.
    pub progress: watch::Receiver<String>,
    /// Whether only a model can answer the prompt.
    pub needs_model: bool,
}

/// How a turn goes on after an agent's preparation.
pub enum AgentStep {
    /// The agent has the answer, so the model is not asked.
    Answer { text: String, result: AgentResult },
    /// The prompt is sent to the model as usual, after these excerpts of notes.
    AddToPrompt {
        excerpts: String,
        result: AgentResult,
    },
    /// This prompt is sent to the model in place of the user's.
    AskModel { prompt: String, finish: FinishAgent },
    /// Nothing was found, so the prompt is sent to the model as usual. The remarks that the
    /// conversation has not shown yet become the reason.
    NothingFound {
        notice: Notice,
        remarks: Vec<String>,
    },
    /// The prompt turned out not to be a request about notes, so it is sent to the model as usual.
    /// The notice explains why no notes were used.
    PassOn(Notice),
    /// The prompt is sent to the model as usual, and the agent processes the answer.
    UseAnswer(FinishAgent),
}

/// Processes the model's answer. Dropping the future undoes its effects.
pub type FinishAgent =
    Box<dyn FnOnce(ModelAnswer) -> BoxFuture<'static, Result<AgentResult, UnusedAnswer>> + Send>;

/// Why an agent could not use the model's answer.
pub struct UnusedAnswer {
    pub notice: Notice,
    /// Set if a continuation of the answer would complete a note.
    pub unfinished_note: Option<UnfinishedNote>,
}

/// A note whose text was truncated.
#[derive(Debug, Clone)]
pub struct UnfinishedNote {
    pub topic: String,
    /// The whole answer so far.
    pub text: String,
}

impl From<Notice> for UnusedAnswer {
    fn from(notice: Notice) -> Self {
        Self {
            notice,
            unfinished_note: None,
        }
    }
}

/// Detects an answer that is only a tool call: no tools were offered, but a small model may call one
/// nevertheless. The notice begins with `failure`.
pub(super) fn call_instead_of_text(
    answer: &ModelAnswer,
    offered: &Arc<Toolset>,
    failure: &str,
) -> Option<UnusedAnswer> {
    let is_call = !answer.is_truncated && is_only_calls(&answer.text, offered);
    is_call.then(|| {
        let notice = Notice::failure(failure);
        let notice = notice.with_reason("The answer is only a tool call.");
        notice.with_advice(Advice::Retry).into()
    })
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
