//! Creates, finds and summarizes notes. File access and searches run on blocking threads.

use super::embedding::EmbeddingHealth;
use super::vault::{Vault, display_path, is_hidden};
use super::vault_index::{OpenIndex, UpdateLimits};
use crate::domain::{
    Advice, CreatedNote, FoundNote, FoundNotes, NotePaths, NoteSummary, NotesSettings, Notice,
    OpenNote, SummarySource, SummaryTask, VaultStatus, WrittenNote,
};
use crate::files;
use crate::ports::{
    CompletedText, Completion, CompletionRequest, Embedder, NoteAnswer, NoteExcerpts, NoteRequest,
    NoteService,
};
use crate::search::{SearchTerms, snippet};
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for writing a note or summary. Local models on small machines are slow.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(900);
const SNIPPET_CHARS: usize = 160;

/// The note service for all vaults. Cheap to clone; clones share the open indexes.
#[derive(Clone)]
pub struct Notebook(pub(super) Arc<NotebookState>);

pub(super) struct NotebookState {
    /// The folder of the index files.
    pub(super) cache: PathBuf,
    pub(super) completion: Arc<dyn Completion>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) embedding_health: EmbeddingHealth,
    pub(super) indexes: Mutex<HashMap<PathBuf, Arc<Mutex<OpenIndex>>>>,
}

impl Notebook {
    pub fn new(
        cache: PathBuf,
        completion: Arc<dyn Completion>,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        Self(Arc::new(NotebookState {
            cache,
            completion,
            embedder,
            embedding_health: EmbeddingHealth::default(),
            indexes: Mutex::default(),
        }))
    }

    async fn search_notes(
        self,
        request: NoteRequest,
        query: String,
        limit: usize,
    ) -> Result<FoundNotes, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        let mut remarks = Vec::new();
        let limits = UpdateLimits::TOOL;
        self.update(&vault, limits, &request, &mut remarks).await?;
        let vector = self
            .query_vector(&vault, &request, &query, limits, &mut remarks)
            .await?;
        let hits = self
            .find(&vault, &query, vector, limit, true, &mut remarks)
            .await?;
        let terms = SearchTerms::parse(&query);
        let notes = hits.into_iter().map(|hit| {
            let found = snippet(&hit.body, &terms, SNIPPET_CHARS);
            FoundNote {
                path: vault.root().join(&hit.key),
                title: hit.title,
                snippet: found.text,
                matches: found.matches,
                score: hit.score,
            }
        });
        Ok(FoundNotes {
            notes: notes.collect(),
            vault: vault.root().to_path_buf(),
            remarks,
        })
    }

    async fn create_note(self, request: NoteRequest, topic: String) -> Result<CreatedNote, Notice> {
        let prompt = self.note_prompt(&request, &topic, "").await?;
        (request.on_progress)("Writing the note");
        let answer = self.complete(&request, prompt).await?;
        if answer.is_cut_off {
            return Err(Notice::failure(
                "The model reached its token limit before the note was complete, so nothing was saved.",
            ));
        }
        let answer = NoteAnswer {
            topic,
            text: answer.text,
            replaces: None,
        };
        self.save_note(&request, answer).await
    }

    async fn summarize_notes(
        self,
        request: NoteRequest,
        source: SummarySource,
    ) -> Result<NoteSummary, Notice> {
        let mut task = self.summary_task(&request, source, "").await?;
        (request.on_progress)("Summarizing");
        let summary = self.complete(&request, task.prompt).await?;
        if summary.is_cut_off {
            let remark = "The summary is incomplete: the model reached its token limit.";
            task.remarks.push(remark.to_owned());
        }
        Ok(NoteSummary {
            title: task.title,
            summary: summary.text,
            sources: task.sources,
            remarks: task.remarks,
        })
    }

    async fn complete(
        &self,
        request: &NoteRequest,
        prompt: String,
    ) -> Result<CompletedText, Notice> {
        let model = request.settings.model.as_deref().ok_or_else(|| {
            Notice::failure(
                "No model is configured to write notes: mark one as active in config.json.",
            )
        })?;
        let name = model.model.clone();
        let (on_progress, shown_name) = (Arc::clone(&request.on_progress), name.clone());
        let completion = self.0.completion.complete(CompletionRequest {
            model: model.clone(),
            prompt,
            on_progress: Box::new(move |chars| {
                on_progress(&format!("{shown_name}: {chars} characters"));
            }),
        });
        let completed = timeout(COMPLETION_TIMEOUT, completion).await;
        let completed = completed.map_err(|_| {
            let minutes = COMPLETION_TIMEOUT.as_secs() / 60;
            Notice::failure(format!(
                "The model `{name}` took longer than {minutes} minutes."
            ))
        })??;
        if completed.is_only_calls && !completed.is_cut_off {
            return Err(Notice::failure("The answer is only a tool call."));
        }
        Ok(completed)
    }
}

impl NoteService for Notebook {
    fn prepare_note(
        &self,
        request: NoteRequest,
        topic: String,
        style: String,
    ) -> BoxFuture<'static, Result<String, Notice>> {
        let notebook = self.clone();
        Box::pin(async move { notebook.note_prompt(&request, &topic, &style).await })
    }

    fn save(
        &self,
        request: NoteRequest,
        answer: NoteAnswer,
    ) -> BoxFuture<'static, Result<CreatedNote, Notice>> {
        let notebook = self.clone();
        Box::pin(async move { notebook.save_note(&request, answer).await })
    }

    fn complete_path(
        &self,
        request: NoteRequest,
        fragment: String,
    ) -> BoxFuture<'static, Result<NotePaths, Notice>> {
        Box::pin(super::steps::complete_path(request, fragment))
    }

    fn find_file(
        &self,
        request: NoteRequest,
        name: String,
    ) -> BoxFuture<'static, Result<Option<String>, Notice>> {
        Box::pin(super::steps::find_file(request, name))
    }

    fn prepare_summary(
        &self,
        request: NoteRequest,
        source: SummarySource,
        style: String,
    ) -> BoxFuture<'static, Result<SummaryTask, Notice>> {
        let notebook = self.clone();
        Box::pin(async move { notebook.summary_task(&request, source, &style).await })
    }

    fn open(
        &self,
        request: NoteRequest,
        note: String,
    ) -> BoxFuture<'static, Result<OpenNote, Notice>> {
        Box::pin(super::steps::open_note(request, note))
    }

    fn remove(
        &self,
        request: NoteRequest,
        note: WrittenNote,
    ) -> BoxFuture<'static, Result<(), Notice>> {
        Box::pin(super::steps::remove_note(request, note))
    }

    fn discard(
        &self,
        request: NoteRequest,
        note: CreatedNote,
    ) -> BoxFuture<'static, Result<(), Notice>> {
        Box::pin(super::steps::discard_note(request, note))
    }

    fn refresh(&self, request: NoteRequest) -> BoxFuture<'static, Result<VaultStatus, Notice>> {
        let notebook = self.clone();
        Box::pin(async move { notebook.refresh_index(request).await })
    }

    fn excerpts(
        &self,
        request: NoteRequest,
        prompt: String,
    ) -> BoxFuture<'static, Result<NoteExcerpts, Notice>> {
        let notebook = self.clone();
        Box::pin(async move { notebook.find_excerpts(request, prompt).await })
    }

    fn create(
        &self,
        request: NoteRequest,
        topic: String,
    ) -> BoxFuture<'static, Result<CreatedNote, Notice>> {
        Box::pin(self.clone().create_note(request, topic))
    }

    fn search(
        &self,
        request: NoteRequest,
        query: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<FoundNotes, Notice>> {
        Box::pin(self.clone().search_notes(request, query, limit))
    }

    fn summarize(
        &self,
        request: NoteRequest,
        source: SummarySource,
    ) -> BoxFuture<'static, Result<NoteSummary, Notice>> {
        Box::pin(self.clone().summarize_notes(request, source))
    }
}

fn outside_vaults_message(folder: &str, settings: &NotesSettings) -> String {
    let names = settings.vault_names();
    match settings.vaults.len() {
        1 => format!("{folder} is not in the notes folder {names}, so it may not be used."),
        _ => {
            format!("{folder} is not in any of the notes folders ({names}), so it may not be used.")
        }
    }
}

/// Opens `folder`, which must be a configured vault or a folder in one; by default the first vault.
pub(super) async fn open_vault(
    settings: &NotesSettings,
    folder: Option<String>,
) -> Result<Vault, Notice> {
    let mut settings = settings.clone();
    let open = move || {
        let Some(first) = settings.vaults.first() else {
            return Err(Notice::failure("No notes folder is configured.")
                .with_advice(Advice::ChooseNotesFolder));
        };
        let Some(folder) = folder else {
            return Ok(Vault::open(first)?);
        };
        // A relative path is relative to the first vault.
        let folder = first.join(files::expand_home(&folder));
        let opened = Vault::open(&folder)?;
        let vaults = settings.vaults.iter();
        let allowed: Vec<_> = vaults
            .filter_map(|path| Some((path.clone(), Vault::open(path).ok()?)))
            .collect();
        if allowed.is_empty() {
            // Fails with the reason, which was dropped above.
            Vault::open(first)?;
        }
        let (paths, allowed): (Vec<_>, Vec<_>) = allowed.into_iter().unzip();
        settings.vaults = paths;
        let below = allowed
            .iter()
            .filter_map(|vault| Some((vault, vault.path_below(&opened)?)));
        let folder = display_path(&folder.display().to_string());
        // A folder that is hidden in one vault may be another vault itself.
        match below.reduce(|one, other| if is_hidden(&one.1) { other } else { one }) {
            Some((_, below)) if is_hidden(&below) => Err(Notice::failure(format!(
                "{folder} is a hidden folder, so it may not be used for notes."
            ))),
            Some((vault, below)) => Ok(vault.subfolder(&below)?),
            None => Err(Notice::failure(outside_vaults_message(&folder, &settings))),
        }
    };
    let opened = tokio::task::spawn_blocking(open).await;
    opened.map_err(|error| Notice::failure(error.to_string()))?
}
