//! Note agents: each recognizes one kind of prompt, and answers it from the notes, prepares another
//! prompt for the model, or adds excerpts of notes to it.
//! A prompt is offered to them in the order of [`AGENTS`] before it goes to the model; the first
//! that recognizes it takes the turn. This module owns the open note and the note that can be
//! undone; an agent owns nothing.

mod agent;
mod consult_notes;
mod create_note;
mod find_notes;
mod summarize_notes;

pub(super) use agent::{AgentStep, FinishAgent, FinishedAgent, Preparation};

use crate::domain::{
    Advice, CreatedNote, NotesSettings, Notice, OpenNote, Prompt, SavedMessage, VaultStatus,
};
use crate::ports::NoteService;
use agent::{Agent, AgentContext, no_open_note};
use futures::future::BoxFuture;
use std::future::ready;
use std::sync::Arc;

/// The agents, in the order in which prompts are offered to them.
const AGENTS: &[&dyn Agent] = &[
    &create_note::CreateNote,
    &find_notes::FindNotes,
    &summarize_notes::SummarizeNotes,
    &consult_notes::ConsultNotes,
];

/// The state of the note agents.
pub(super) struct NoteAgents {
    notes: Arc<dyn NoteService>,
    open_note: Option<OpenNote>,
    consults_notes: bool,
    /// The note that the last turn created.
    undoable_note: Option<CreatedNote>,
}

impl NoteAgents {
    pub(super) fn new(notes: Arc<dyn NoteService>) -> Self {
        Self {
            notes,
            open_note: None,
            consults_notes: false,
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
            consults_notes: self.consults_notes,
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

    /// Starts or stops sending excerpts of notes with ordinary prompts. Cannot start without a vault;
    /// the notice then gives the reason.
    pub(super) fn set_consulting(
        &mut self,
        consults_notes: bool,
        settings: NotesSettings,
    ) -> BoxFuture<'static, Notice> {
        self.consults_notes = consults_notes && !settings.vaults.is_empty();
        match consults_notes {
            true => self.describe_consulting(settings),
            false => Box::pin(ready(Notice::info(
                "Notes are no longer sent with prompts.",
            ))),
        }
    }

    /// Reports whether notes are sent with prompts, and which. Brings the index up to date, so that
    /// the next prompt need not wait for it.
    pub(super) fn describe_consulting(
        &self,
        settings: NotesSettings,
    ) -> BoxFuture<'static, Notice> {
        let consults_notes = self.consults_notes;
        let status = self.notes.refresh(self.context(settings).request());
        Box::pin(async move {
            match status.await {
                Ok(status) => consulting_notice(consults_notes, status),
                Err(notice) => notice,
            }
        })
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

fn consulting_notice(consults_notes: bool, status: VaultStatus) -> Notice {
    let notes = match status.notes {
        1 => "1 note".to_owned(),
        count => format!("{count} notes"),
    };
    let vault = status.vault.display();
    let notice = match consults_notes {
        true => Notice::info(format!(
            "Parts of notes that fit a prompt are sent with it ({notes} in {vault})."
        )),
        false => Notice::info(format!(
            "Notes are not sent with prompts ({notes} in {vault})."
        ))
        .with_advice(Advice::ConsultNotes),
    };
    let remarks = status.remarks.join(" ");
    match remarks.is_empty() {
        true => notice,
        false => notice.with_reason(remarks),
    }
}

fn open_note_notice(note: &OpenNote) -> Notice {
    Notice::info(format!(
        "The open note is \"{}\" ({}).",
        note.title, note.name
    ))
}
