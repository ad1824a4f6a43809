//! Creates, finds and summarizes notes. File access and searches run on blocking threads.

use super::prompts::{self, PARTS_MAX};
use super::slug::slug;
use super::vault::Vault;
use super::{indexer, note};
use crate::domain::{
    CreatedNote, FoundNote, FoundNotes, ModelConfig, NoteSummary, NotesSettings, Notice,
    SummarySource,
};
use crate::files;
use crate::ports::{Completion, CompletionRequest, Embedder, NoteRequest, NoteService};
use crate::search::{Hit, HybridQuery, Index, Matching, SearchError, SearchTerms, snippet};
use crate::sync::lock_ignoring_poison;
use futures::future::BoxFuture;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The longest time that a search spends on new and changed notes. Later searches continue.
const INDEXING_BUDGET: Duration = Duration::from_secs(30);
/// The longest time that a search spends on vectors of new and changed notes.
const EMBEDDING_BUDGET: Duration = Duration::from_secs(60);
/// Time limit of one request for vectors. Loading the model takes a while.
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(60);
/// Chunks embedded by one request.
const EMBEDDING_BATCH: usize = 32;
/// Characters of a chunk that are embedded. Embedding models read 256 to 8,192 tokens.
const EMBEDDED_CHARS_MAX: usize = 2_000;
/// Time limit of a note or summary. Local models on small machines are slow.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(900);
const SNIPPET_CHARS: usize = 160;
/// Hits of which those with the topic are summarized.
const TOPIC_HITS: usize = 60;

/// Works on vaults. Cheap to clone; clones share the open indexes.
#[derive(Clone)]
pub struct Notebook(Arc<Shared>);

struct Shared {
    /// Where the indexes are.
    cache: PathBuf,
    completion: Arc<dyn Completion>,
    embedder: Arc<dyn Embedder>,
    /// The open indexes by vault.
    indexes: Mutex<HashMap<PathBuf, Arc<Mutex<Index>>>>,
}

impl Notebook {
    pub fn new(
        cache: PathBuf,
        completion: Arc<dyn Completion>,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        Self(Arc::new(Shared {
            cache,
            completion,
            embedder,
            indexes: Mutex::default(),
        }))
    }

    /// The index of a vault, opened when it is first needed. Blocks.
    fn index(&self, vault: &Vault) -> Result<Arc<Mutex<Index>>, SearchError> {
        let mut indexes = lock_ignoring_poison(&self.0.indexes);
        if let Some(index) = indexes.get(vault.root()) {
            return Ok(Arc::clone(index));
        }
        let digest = Sha256::digest(vault.root().as_os_str().as_encoded_bytes());
        let id: String = digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let index = Index::open(&self.0.cache.join(format!("notes-{id}.sqlite")))?;
        let index = Arc::new(Mutex::new(index));
        indexes.insert(vault.root().to_path_buf(), Arc::clone(&index));
        Ok(index)
    }

    /// Runs `work` with the index of a vault on a blocking thread.
    async fn with_index<T: Send + 'static>(
        &self,
        vault: &Vault,
        work: impl FnOnce(&mut Index) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, Notice> {
        let (notebook, vault) = (self.clone(), vault.clone());
        let work = tokio::task::spawn_blocking(move || {
            let index = notebook.index(&vault)?;
            work(&mut lock_ignoring_poison(&index))
        });
        let result = work
            .await
            .map_err(|error| Notice::failure(error.to_string()))?;
        result.map_err(|error| {
            let message = error.to_string();
            Notice::failure(format!("Notes could not be searched: {message}."))
        })
    }

    /// Brings the index up to date and adds remarks on what is missing.
    async fn update(&self, vault: &Vault, remarks: &mut Vec<String>) -> Result<(), Notice> {
        let deadline = Instant::now() + INDEXING_BUDGET;
        let indexed = vault.clone();
        let report = self
            .with_index(vault, move |index| {
                indexer::update_index(&indexed, index, &|| Instant::now() > deadline)
            })
            .await?;
        if report.notes == 0 && report.is_complete {
            let path = vault.root().display();
            return Err(Notice::failure(format!(
                "There are no Markdown notes in {path}."
            )));
        }
        remarks.extend(report.remarks());
        Ok(())
    }

    /// Computes missing vectors for a while, and the vector of the query. `None` with a remark if
    /// words alone must do.
    async fn query_vector(
        &self,
        vault: &Vault,
        request: &NoteRequest,
        query: &str,
        remarks: &mut Vec<String>,
    ) -> Result<Option<Vec<f32>>, Notice> {
        let Some(model) = request.settings.embedding_model.as_deref() else {
            remarks
                .push("Only words were compared: no `notes.embedModel` is configured.".to_owned());
            return Ok(None);
        };
        let name = embedding_id(model);
        self.with_index(vault, move |index| index.set_embedding_model(&name))
            .await?;
        let embedded = async {
            self.embed_missing(vault, model, request).await?;
            self.embed(model, vec![query.to_owned()]).await
        };
        match embedded.await {
            Ok(vectors) => {
                let missing = self
                    .with_index(vault, |index| index.missing_vector_count())
                    .await?;
                if missing > 0 {
                    remarks.push(format!(
                        "{missing} parts of notes have no vector yet; they were found by words alone."
                    ));
                }
                Ok(vectors.into_iter().next())
            }
            Err(notice) => {
                let why = notice.summary();
                remarks.push(format!("Only words were compared. {why}"));
                Ok(None)
            }
        }
    }

    async fn embed_missing(
        &self,
        vault: &Vault,
        model: &ModelConfig,
        request: &NoteRequest,
    ) -> Result<(), Notice> {
        let deadline = Instant::now() + EMBEDDING_BUDGET;
        let mut after = 0;
        let mut done = 0;
        while Instant::now() < deadline {
            let batch = self
                .with_index(vault, move |index| {
                    index.missing_vectors(after, EMBEDDING_BATCH)
                })
                .await?;
            let Some(last) = batch.last() else {
                break;
            };
            after = last.chunk;
            let texts = batch.iter().map(|chunk| {
                let text = format!("{}\n{}\n{}", chunk.title, chunk.heading, chunk.body);
                text.chars().take(EMBEDDED_CHARS_MAX).collect()
            });
            let vectors = self.embed(model, texts.collect()).await?;
            let chunks: Vec<i64> = batch.iter().map(|chunk| chunk.chunk).collect();
            done += chunks.len();
            let stored: Vec<_> = chunks.into_iter().zip(vectors).collect();
            self.with_index(vault, move |index| index.store_vectors(&stored))
                .await?;
            (request.on_progress)(&format!("Computed vectors for {done} parts of notes"));
        }
        Ok(())
    }

    async fn embed(
        &self,
        model: &ModelConfig,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, Notice> {
        let count = texts.len();
        let embedded = timeout(EMBEDDING_TIMEOUT, self.0.embedder.embed(model, texts)).await;
        let vectors = embedded.map_err(|_| {
            let (name, seconds) = (&model.model, EMBEDDING_TIMEOUT.as_secs());
            Notice::failure(format!(
                "The embedding model `{name}` took longer than {seconds} s."
            ))
        })??;
        if vectors.len() != count {
            let name = &model.model;
            return Err(Notice::failure(format!(
                "The embedding model `{name}` returned {} vectors for {count} texts.",
                vectors.len()
            )));
        }
        Ok(vectors)
    }

    async fn find(
        &self,
        vault: &Vault,
        query: &str,
        vector: Option<Vec<f32>>,
        limit: usize,
        one_per_document: bool,
    ) -> Result<Vec<Hit>, Notice> {
        let terms = SearchTerms::parse(query);
        self.with_index(vault, move |index| {
            index.search(&HybridQuery {
                terms: &terms,
                matching: Matching::Any,
                vector: vector.as_deref(),
                limit,
                one_per_document,
            })
        })
        .await
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

/// Vectors of the same model on different servers are comparable, but a server may serve another
/// model under the same name.
fn embedding_id(model: &ModelConfig) -> String {
    format!("{} {}", model.base_url, model.model)
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
