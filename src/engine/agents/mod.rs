//! Note agents: each acts on one kind of prompt, and answers it from the notes, prepares another
//! prompt for the model, or adds excerpts of notes to it.
//!
//! The intent of a prompt decides which one takes its turn. This module owns the open note, the note
//! that waits for a continuation, and the remarks that were shown; agents have no state.

mod agent;
mod consult_notes;
mod create_note;
mod find_notes;
mod path_search;
mod summarize_notes;

pub(super) use agent::{AgentStep, FinishAgent, Preparation, UnusedAnswer};

use crate::domain::{
    Advice, AgentResult, NotesSettings, Notice, OpenNote, Prompt, PromptKind, Session, Toolset,
    VaultStatus, WrittenNote,
};
use crate::engine::cx::EngineCx;
use crate::notes::NoteIntent;
use crate::ports::NoteService;
use agent::{AgentContext, PreparedStep, UnfinishedNote, no_open_note};
use consult_notes::consult_notes;
use create_note::{complete_note, create_note};
use find_notes::find_notes;
use futures::future::{BoxFuture, ready};
use path_search::PathSearch;
use std::collections::BTreeSet;
use std::sync::Arc;
use summarize_notes::{summarize_file, summarize_open_note, summarize_topic};
use tokio::sync::watch;

/// Maximum number of shown remarks that are remembered.
const REMARKS_MAX: usize = 100;

pub(super) struct NoteAgents {
    notes: Arc<dyn NoteService>,
    open_note: Option<OpenNote>,
    /// The last note that is incomplete because its answer was truncated.
    unfinished_note: Option<UnfinishedNote>,
    /// The remarks that this conversation has shown already.
    shown_remarks: BTreeSet<String>,
    pub(super) path_search: PathSearch,
}

impl NoteAgents {
    pub(super) fn new(notes: Arc<dyn NoteService>) -> Self {
        Self {
            notes,
            open_note: None,
            unfinished_note: None,
            shown_remarks: BTreeSet::new(),
            path_search: PathSearch::default(),
        }
    }

    /// Offers a prompt to the agents, before it starts a turn of `session`. Without a vault, no agent
    /// acts, but most requests for notes get a notice.
    pub(super) fn offer(
        &self,
        prompt: &Prompt,
        session: &Session,
        settings: NotesSettings,
        offered: &Arc<Toolset>,
    ) -> Option<Preparation> {
        if settings.vaults.is_empty() {
            return request_without_folder(prompt);
        }
        let (report, progress) = watch::channel(String::new());
        let last_turn = session.last_prompt_index();
        // An edit of an earlier message leaves the notes of all later turns alone.
        let replaces_last = prompt.kind == PromptKind::Replace && prompt.replaced_turns == 1;
        let replaced_notes = last_turn
            .filter(|_| replaces_last)
            .map(|first| session.metadata.written_notes(first));
        let context = AgentContext {
            consults_notes: session.metadata.consults_notes == Some(true),
            replaced_note: replaced_notes.and_then(|notes| notes.into_iter().next_back()),
            on_progress: Arc::new(move |text| _ = report.send(text.to_owned())),
            offered: Arc::clone(offered),
            ..self.context(settings)
        };
        let (step, needs_model) = if prompt.kind == PromptKind::Continue {
            let last_answer = &*session.messages.last()?.content;
            let unfinished = self.unfinished_note.clone();
            let note = unfinished.filter(|note| note.text == last_answer)?;
            (complete_note(&context, note), true)
        } else {
            match prompt.text_for_agents() {
                Some(message) => prepare(message, context)?,
                None => (request_with_extra_input(prompt)?, true),
            }
        };
        Some(Preparation {
            step,
            progress,
            needs_model,
        })
    }

    fn context(&self, settings: NotesSettings) -> AgentContext {
        AgentContext {
            notes: Arc::clone(&self.notes),
            settings,
            open_note: self.open_note.clone(),
            consults_notes: false,
            replaced_note: None,
            offered: Arc::default(),
            on_progress: Arc::new(|_| {}),
        }
    }

    /// Whether `answer` is an incomplete note; only a continuation completes it. A note that was left
    /// incomplete before another answer cannot be completed anymore.
    pub(super) fn is_unfinished_note(&mut self, answer: &str) -> bool {
        self.unfinished_note.take_if(|note| note.text != answer);
        self.unfinished_note.is_some()
    }

    pub(super) fn set_unfinished_note(&mut self, note: Option<UnfinishedNote>) {
        self.unfinished_note = note;
    }

    /// Removes the remarks that the conversation has shown already.
    pub(super) fn keep_new_remarks(&mut self, remarks: &mut Vec<String>) {
        if self.shown_remarks.len() > REMARKS_MAX {
            self.shown_remarks.clear();
        }
        remarks.retain(|remark| self.shown_remarks.insert(remark.clone()));
    }

    pub(super) fn keep_new_remarks_of(&mut self, result: &mut AgentResult) {
        if let Some(remarks) = result.remarks_mut() {
            self.keep_new_remarks(remarks);
        }
    }

    /// Forgets what belongs to the conversation. The open note stays open.
    pub(super) fn leave_conversation(&mut self) {
        self.unfinished_note = None;
        self.shown_remarks.clear();
    }

    pub(super) fn find_paths(
        &mut self,
        fragment: String,
        settings: NotesSettings,
        cx: &mut EngineCx,
    ) {
        self.path_search.find(fragment, &self.notes, settings, cx);
    }

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

    pub(super) fn describe_open_note(&self, settings: &NotesSettings) -> Notice {
        match &self.open_note {
            Some(note) => open_note_notice(note),
            None if settings.vaults.is_empty() => no_notes_folder("No note is open: "),
            None => no_open_note(),
        }
    }

    /// Reports whether notes are sent with prompts, and which. Brings the index up to date, so that
    /// the next prompt need not wait for it.
    pub(super) fn describe_consulting(
        &self,
        consults_notes: bool,
        settings: NotesSettings,
    ) -> BoxFuture<'static, Notice> {
        let status = self.notes.refresh(self.context(settings).request());
        Box::pin(async move {
            match status.await {
                Ok(status) => consulting_notice(consults_notes, status),
                Err(notice) => notice,
            }
        })
    }

    /// Removes notes that turns created. If a note cannot be removed, for example because the user
    /// changed it, its notice names the `new_note` that replaces it, if any. All other notices begin
    /// with `reason`.
    pub(super) fn remove_notes(
        &self,
        written: Vec<WrittenNote>,
        reason: &'static str,
        new_note: Option<&str>,
        settings: NotesSettings,
    ) -> Vec<BoxFuture<'static, Notice>> {
        let request = self.context(settings).request();
        let remove = |note: WrittenNote| -> BoxFuture<'static, Notice> {
            let (name, new_note) = (note.note.clone(), new_note.map(str::to_owned));
            let removal = self.notes.remove(request.clone(), note);
            Box::pin(async move {
                match removal.await {
                    Ok(()) => Notice::info(format!("{reason} The note {name} was removed.")),
                    Err(notice) => match new_note {
                        Some(new) => Notice::info(format!("The new note is {new}."))
                            .with_reason(notice.summary()),
                        None => Notice {
                            what: format!("{reason} {}", notice.what),
                            ..notice
                        },
                    },
                }
            })
        };
        written.into_iter().map(remove).collect()
    }
}

/// The step of the agent that acts on a prompt, and whether only a model can answer it.
fn prepare(message: &str, context: AgentContext) -> Option<(PreparedStep, bool)> {
    let Some(intent) = NoteIntent::of_prompt(message) else {
        let consults_notes = context.consults_notes;
        return consults_notes.then(|| (consult_notes(&context, message), true));
    };
    let needs_model = !matches!(intent, NoteIntent::Find { .. });
    let step = match intent {
        NoteIntent::Create { topic, style } => create_note(&context, topic, style),
        NoteIntent::Find { query } => find_notes(&context, query),
        NoteIntent::SummarizeOpenNote { style } => summarize_open_note(context, style),
        NoteIntent::SummarizeTopic { topic, style } => summarize_topic(context, topic, style),
        NoteIntent::SummarizeFile { name } => summarize_file(context, name),
    };
    Some((step, needs_model))
}

/// A request for notes cannot use piped input or attached files, so the whole prompt goes to the
/// model.
fn request_with_extra_input(prompt: &Prompt) -> Option<PreparedStep> {
    NoteIntent::of_prompt(prompt.text_without_extra_input()?)?;
    let notice = Notice::info("The notes were not used: the prompt has piped input or files.")
        .with_reason("A request for notes must be the whole prompt.");
    Some(Box::pin(ready(Ok(AgentStep::PassOn(notice)))))
}

/// Handles a request for notes without a vault: the prompt goes to the model, with a notice unless
/// it names a file, which need not be a note.
fn request_without_folder(prompt: &Prompt) -> Option<Preparation> {
    let intent = NoteIntent::of_prompt(prompt.text_for_agents()?)?;
    if matches!(intent, NoteIntent::SummarizeFile { .. }) {
        return None;
    }
    let notice = no_notes_folder("The notes were not used: ");
    let (_, progress) = watch::channel(String::new());
    let step: PreparedStep = Box::pin(ready(Ok(AgentStep::PassOn(notice))));
    Some(Preparation {
        step,
        progress,
        needs_model: true,
    })
}

fn no_notes_folder(effect: &str) -> Notice {
    Notice::info(format!("{effect}no notes folder is configured."))
        .with_advice(Advice::ChooseNotesFolder)
}

fn consulting_notice(consults_notes: bool, status: VaultStatus) -> Notice {
    let notes = match status.notes {
        1 => "1 note".to_owned(),
        count => format!("{count} notes"),
    };
    let vault = status.vault.display();
    let notice = match consults_notes {
        true => Notice::info(format!(
            "Excerpts of notes that match a prompt are sent with it ({notes} in {vault})."
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
