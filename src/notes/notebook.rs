//! Creates, finds and summarizes notes. File access and searches run on blocking threads.

use super::note;
use super::prompts::{self, PARTS_MAX};
use super::slug::slug;
use super::vault::Vault;
use crate::domain::{
    CreatedNote, FoundNote, FoundNotes, NoteSummary, NotesSettings, Notice, SummarySource,
};
use crate::files;
use crate::ports::{Completion, CompletionRequest, Embedder, NoteRequest, NoteService};
use crate::search::{Index, SearchTerms, snippet};
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// Time limit of a note or summary. Local models on small machines are slow.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(900);
const SNIPPET_CHARS: usize = 160;
/// Hits of which those with the topic are summarized.
const TOPIC_HITS: usize = 60;

/// Works on vaults. Cheap to clone; clones share the open indexes.
#[derive(Clone)]
pub struct Notebook(pub(super) Arc<NotebookState>);

pub(super) struct NotebookState {
    /// Where the indexes are.
    pub(super) cache: PathBuf,
    completion: Arc<dyn Completion>,
    pub(super) embedder: Arc<dyn Embedder>,
    /// The open indexes by vault.
    pub(super) indexes: Mutex<HashMap<PathBuf, Arc<Mutex<Index>>>>,
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
        self.update(&vault, &mut remarks).await?;
        let vector = self
            .query_vector(&vault, &request, &query, &mut remarks)
            .await?;
        let hits = self.find(&vault, &query, vector, limit, true).await?;
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
            remarks,
        })
    }

    async fn create_note(self, request: NoteRequest, topic: String) -> Result<CreatedNote, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        (request.on_progress)("Writing the note");
        let answer = self
            .complete(&request, prompts::note_prompt(&topic))
            .await?;
        let text = prompts::clean_note(&answer, &topic);
        let name = slug(&topic);
        let title = note::parse(&text, &name).title;
        let written = text.clone();
        let created = tokio::task::spawn_blocking(move || vault.create(&name, &written));
        let created = created
            .await
            .map_err(|error| Notice::failure(error.to_string()))??;
        Ok(CreatedNote {
            path: created.path,
            title,
            text,
        })
    }

    async fn summarize_notes(
        self,
        request: NoteRequest,
        source: SummarySource,
    ) -> Result<NoteSummary, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        match source {
            SummarySource::Note(note) => self.summarize_note(request, vault, note).await,
            SummarySource::Topic(topic) => self.summarize_topic(request, vault, topic).await,
        }
    }

    async fn summarize_note(
        self,
        request: NoteRequest,
        vault: Vault,
        note: String,
    ) -> Result<NoteSummary, Notice> {
        let read = tokio::task::spawn_blocking(move || {
            let path = vault.find(&note)?;
            let text = vault.read(&path)?;
            Ok::<_, super::NotesError>((path, text))
        });
        let (note, text) = read
            .await
            .map_err(|error| Notice::failure(error.to_string()))??;
        if text.trim().is_empty() {
            let key = &note.key;
            return Err(Notice::failure(format!("The note {key} is empty.")));
        }
        let stem = Path::new(&note.key).file_stem().unwrap_or_default();
        let title = note::parse(&text, &stem.to_string_lossy()).title;
        let mut remarks = Vec::new();
        if prompts::is_too_long(&text) {
            remarks.push("The note is long; only its beginning was summarized.".to_owned());
        }
        (request.on_progress)("Summarizing the note");
        let summary = self
            .complete(&request, prompts::single_note_prompt(&text))
            .await?;
        Ok(NoteSummary {
            title,
            summary,
            sources: vec![note.path],
            remarks,
        })
    }

    async fn summarize_topic(
        self,
        request: NoteRequest,
        vault: Vault,
        topic: String,
    ) -> Result<NoteSummary, Notice> {
        let mut remarks = Vec::new();
        self.update(&vault, &mut remarks).await?;
        let query = format!("notes about {topic}");
        let vector = self
            .query_vector(&vault, &request, &query, &mut remarks)
            .await?;
        let mut parts = self.find(&vault, &topic, vector, TOPIC_HITS, false).await?;
        let terms = SearchTerms::parse(&topic);
        parts.retain(|part| {
            [&part.body, &part.heading, &part.title]
                .into_iter()
                .any(|text| terms.occur_in(text))
        });
        parts.truncate(PARTS_MAX);
        if parts.is_empty() {
            let path = vault.root().display();
            return Err(Notice::failure(format!(
                "No note in {path} mentions \"{topic}\"."
            )));
        }
        let mut sources: Vec<PathBuf> = Vec::new();
        for part in &parts {
            let path = vault.root().join(&part.key);
            if !sources.contains(&path) {
                sources.push(path);
            }
        }
        (request.on_progress)(&format!("Summarizing {} parts of notes", parts.len()));
        let summary = self
            .complete(&request, prompts::topic_prompt(&topic, &parts))
            .await?;
        Ok(NoteSummary {
            title: topic,
            summary,
            sources,
            remarks,
        })
    }

    async fn complete(&self, request: &NoteRequest, prompt: String) -> Result<String, Notice> {
        let model = request.settings.model.as_deref().ok_or_else(|| {
            Notice::failure(
                "No model is configured that could write: mark one as active in config.json.",
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
        let completed = timeout(COMPLETION_TIMEOUT, completion)
            .await
            .map_err(|_| {
                let minutes = COMPLETION_TIMEOUT.as_secs() / 60;
                Notice::failure(format!(
                    "The model `{name}` took longer than {minutes} minutes."
                ))
            })??;
        Ok(completed.text)
    }
}

impl NoteService for Notebook {
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

/// Opens the folder, which must be or lie in a configured vault.
async fn open_vault(settings: &NotesSettings, folder: Option<String>) -> Result<Vault, Notice> {
    let vaults = settings.vaults.clone();
    let open = move || {
        let Some(first) = vaults.first() else {
            return Err(Notice::failure(
                "No notes folder is configured: set `notes.vault` in config.json, or start \
                 `humble serve` with `--vault`.",
            ));
        };
        let Some(folder) = folder else {
            return Ok(Vault::open(first)?);
        };
        // A relative path is one below the first vault.
        let folder = first.join(files::expand_home(&folder));
        let opened = Vault::open(&folder)?;
        let mut allowed = vaults.iter().filter_map(|vault| Vault::open(vault).ok());
        if allowed.any(|vault| vault.contains(&opened)) {
            return Ok(opened);
        }
        let (folder, first) = (folder.display(), first.display());
        Err(Notice::failure(format!(
            "{folder} is not in the notes folder {first}, so it may not be used."
        )))
    };
    let opened = tokio::task::spawn_blocking(open).await;
    opened.map_err(|error| Notice::failure(error.to_string()))?
}
