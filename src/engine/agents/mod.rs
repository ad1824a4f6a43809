//! Note agents: each recognizes one kind of prompt and acts on the notes in place of a plain answer.
//! A prompt is offered to them in the order of [`AGENTS`] before it goes to the model; the first
//! that recognizes it takes the turn. This module owns the open note and the note that can be
//! undone; an agent owns nothing.

mod create_note;
mod find_notes;
mod summarize_notes;

use crate::domain::{
    AgentResult, CreatedNote, NotesSettings, Notice, OpenNote, Prompt, SavedMessage,
};
use crate::engine::turn::ModelAnswer;
use crate::ports::{NoteRequest, NoteService};
use futures::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The agents, in the order in which they are asked.
const AGENTS: &[&dyn Agent] = &[
    &create_note::CreateNote,
    &find_notes::FindNotes,
    &summarize_notes::SummarizeNotes,
];

trait Agent: Sync {
    /// Recognizes a prompt. `None` leaves it to the next agent; must be fast, because the work
    /// belongs into the preparation. `history` contains the prompts and answers before it.
    fn try_handle(
        &self,
        message: &str,
        history: &[SavedMessage],
        context: &AgentContext,
    ) -> Option<Preparation>;
}

/// What the agents work with.
struct AgentContext {
    notes: Arc<dyn NoteService>,
    settings: NotesSettings,
    open_note: Option<OpenNote>,
}

impl AgentContext {
    fn request(&self) -> NoteRequest {
        NoteRequest {
            settings: self.settings.clone(),
            vault: None,
            on_progress: Arc::new(|_| {}),
        }
    }
}

/// The work before the model is asked. Dropping it stops it. `Err` says why the agent cannot act;
/// the prompt then goes to the model.
pub(super) type Preparation = BoxFuture<'static, Result<AgentStep, Notice>>;

/// What an agent does once it is prepared.
pub(super) enum AgentStep {
    /// It has the answer already.
    Answer {
        text: String,
        result: AgentResult,
        /// The text of notes in the answer.
        untrusted_text: String,
    },
    /// The model is asked this.
    AskModel {
        prompt: String,
        /// The text of notes in the prompt.
        untrusted_text: String,
        finish: FinishAgent,
    },
}

/// Uses the model's answer. Dropping the future undoes what it did.
pub(super) type FinishAgent =
    Box<dyn FnOnce(ModelAnswer) -> BoxFuture<'static, Result<FinishedAgent, Notice>> + Send>;

/// The result of an agent.
pub(super) struct FinishedAgent {
    pub(super) result: AgentResult,
    /// The note that was created, which can be undone.
    pub(super) created: Option<CreatedNote>,
}

/// The state of the note agents.
pub(super) struct NoteAgents {
    notes: Arc<dyn NoteService>,
    open_note: Option<OpenNote>,
    /// The note that the last turn created.
    undoable_note: Option<CreatedNote>,
}

impl NoteAgents {
    pub(super) fn new(notes: Arc<dyn NoteService>) -> Self {
        Self {
            notes,
            open_note: None,
            undoable_note: None,
        }
    }

    /// Offers a prompt to the agents. Without a vault, no agent acts.
    pub(super) fn offer(
        &self,
        prompt: &Prompt,
        history: &[SavedMessage],
        settings: NotesSettings,
    ) -> Option<Preparation> {
        let message = prompt.text_for_agents()?;
        if settings.vaults.is_empty() {
            return None;
        }
        let context = self.context(settings);
        AGENTS
            .iter()
            .find_map(|agent| agent.try_handle(message, history, &context))
    }

    fn context(&self, settings: NotesSettings) -> AgentContext {
        AgentContext {
            notes: Arc::clone(&self.notes),
            settings,
            open_note: self.open_note.clone(),
        }
    }

    /// Finds the note that the user wants to open.
    pub(super) fn find_note(
        &self,
        note: String,
        settings: NotesSettings,
    ) -> BoxFuture<'static, Result<OpenNote, Notice>> {
        let request = self.context(settings).request();
        self.notes.open(request, note)
    }

    pub(super) fn set_open_note(&mut self, note: OpenNote) -> Notice {
        let notice = open_note_notice(&note);
        self.open_note = Some(note);
        notice
    }

    pub(super) fn close_note(&mut self) -> Notice {
        match self.open_note.take() {
            Some(note) => Notice::info(format!("Closed the note {}.", note.name)),
            None => no_open_note(),
        }
    }

    pub(super) fn describe_open_note(&self) -> Notice {
        let note = self.open_note.as_ref();
        note.map_or_else(no_open_note, open_note_notice)
    }

    pub(super) fn set_undoable_note(&mut self, note: Option<CreatedNote>) {
        self.undoable_note = note;
    }

    /// Removes the note that the last turn created, if it created one. The notice reports the
    /// result.
    pub(super) fn undo_note(&mut self) -> Option<BoxFuture<'static, Notice>> {
        let note = self.undoable_note.take()?;
        let name = note.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let removal = self.notes.remove(note);
        Some(Box::pin(async move {
            match removal.await {
                Ok(()) => Notice::info(format!("Undone. The note {name} was removed.")),
                Err(notice) => notice,
            }
        }))
    }
}

fn open_note_notice(note: &OpenNote) -> Notice {
    Notice::info(format!(
        "The open note is \"{}\" ({}).",
        note.title, note.name
    ))
}

fn no_open_note() -> Notice {
    Notice::info("No note is open.").with_advice(crate::domain::Advice::OpenNote)
}

/// The path below the vault.
fn name_in(vault: &Path, note: &Path) -> String {
    note.strip_prefix(vault)
        .unwrap_or(note)
        .display()
        .to_string()
}

fn names_in(vault: &Path, notes: &[PathBuf]) -> Vec<String> {
    notes.iter().map(|note| name_in(vault, note)).collect()
}
