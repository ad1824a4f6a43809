//! The indexes of a notebook's vaults: bringing them up to date, computing vectors, searching.

use super::indexer::{self, IndexingReport};
use super::notebook::Notebook;
use super::vault::Vault;
use super::vault_watch::{Due, VaultWatch};
use crate::domain::{ModelConfig, Notice};
use crate::ports::NoteRequest;
use crate::search::{Hit, HybridQuery, Index, Matching, SearchError, SearchTerms};
use crate::sync::lock_ignoring_poison;
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a search may spend on new and changed notes. Later searches continue.
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateLimits {
    indexing: Duration,
    embedding: Duration,
    /// Time limit of one request for vectors. Loading the model takes a while.
    embedding_request: Duration,
}

impl UpdateLimits {
    pub(super) const TOOL: Self = Self {
        indexing: Duration::from_secs(30),
        embedding: Duration::from_secs(60),
        embedding_request: Duration::from_secs(60),
    };
    /// Short, because an ordinary prompt waits for its excerpts.
    pub(super) const BEFORE_PROMPT: Self = Self {
        indexing: Duration::from_secs(5),
        embedding: Duration::from_secs(10),
        embedding_request: Duration::from_secs(10),
    };
}

/// Chunks embedded by one request.
const EMBEDDING_BATCH: usize = 32;
/// Characters of a chunk that are embedded. Embedding models read 256 to 8,192 tokens.
const EMBEDDED_CHARS_MAX: usize = 2_000;

/// An open index, and the changes in its vault that it does not contain yet.
pub(super) struct OpenIndex {
    index: Index,
    watch: VaultWatch,
    /// The report of the last scan, kept up to date since.
    report: IndexingReport,
}

impl OpenIndex {
    /// Brings the index up to date, until `deadline`.
    fn update(&mut self, vault: &Vault, deadline: Instant) -> Result<IndexingReport, SearchError> {
        let updated = match self.watch.take_due() {
            Due::Scan => {
                indexer::update_index(vault, &mut self.index, &|| Instant::now() > deadline)
            }
            Due::Files(files) if files.is_empty() => return Ok(self.report.clone()),
            Due::Files(files) => {
                let updated = indexer::update_files(vault, &mut self.index, &files, &self.report);
                if updated.is_err() {
                    self.watch.require_scan();
                }
                self.report = updated?;
                return Ok(self.report.clone());
            }
        };
        self.report = updated?;
        if self.report.is_complete {
            self.watch.record_scan(self.report.notes);
        }
        Ok(self.report.clone())
    }
}

impl Notebook {
    /// The index of a vault, opened when it is first needed. Blocks.
    fn index(&self, vault: &Vault) -> Result<Arc<Mutex<OpenIndex>>, SearchError> {
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
        let index = Arc::new(Mutex::new(OpenIndex {
            index,
            watch: VaultWatch::new(vault),
            report: IndexingReport::default(),
        }));
        indexes.insert(vault.root().to_path_buf(), Arc::clone(&index));
        Ok(index)
    }

    /// Runs `work` with the index of a vault on a blocking thread.
    async fn with_index<T: Send + 'static>(
        &self,
        vault: &Vault,
        work: impl FnOnce(&mut Index) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, Notice> {
        self.with_open_index(vault, |open| work(&mut open.index))
            .await
    }

    async fn with_open_index<T: Send + 'static>(
        &self,
        vault: &Vault,
        work: impl FnOnce(&mut OpenIndex) -> Result<T, SearchError> + Send + 'static,
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

    /// Brings the index up to date and adds remarks on what is missing. Returns the number of
    /// notes.
    pub(super) async fn update(
        &self,
        vault: &Vault,
        limits: UpdateLimits,
        remarks: &mut Vec<String>,
    ) -> Result<usize, Notice> {
        let deadline = Instant::now() + limits.indexing;
        let vault_to_index = vault.clone();
        let report = self
            .with_open_index(vault, move |open| open.update(&vault_to_index, deadline))
            .await?;
        if report.notes == 0 && report.is_complete {
            let path = vault.root().display();
            return Err(Notice::failure(format!(
                "There are no Markdown notes in {path}."
            )));
        }
        remarks.extend(report.remarks());
        Ok(report.notes)
    }

    /// Computes missing vectors within the time limit, then the vector of the query. Returns `None`
    /// and adds a remark if only words can be compared.
    pub(super) async fn query_vector(
        &self,
        vault: &Vault,
        request: &NoteRequest,
        query: &str,
        limits: UpdateLimits,
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
            self.embed_missing(vault, model, request, limits).await?;
            self.embed(model, vec![query.to_owned()], limits).await
        };
        match embedded.await {
            Ok(vectors) => {
                let missing = self
                    .with_index(vault, |index| index.missing_vector_count())
                    .await?;
                if missing > 0 {
                    remarks.push(format!(
                        "{missing} parts of notes have no vector yet; only their words were compared."
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
        limits: UpdateLimits,
    ) -> Result<(), Notice> {
        let deadline = Instant::now() + limits.embedding;
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
            let vectors = self.embed(model, texts.collect(), limits).await?;
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
        limits: UpdateLimits,
    ) -> Result<Vec<Vec<f32>>, Notice> {
        let time_limit = limits.embedding_request;
        let count = texts.len();
        let embedded = timeout(time_limit, self.0.embedder.embed(model, texts)).await;
        let vectors = embedded.map_err(|_| {
            let (name, seconds) = (&model.model, time_limit.as_secs());
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

    pub(super) async fn find(
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
}

/// Vectors of the same model on different servers are comparable, but a server may serve another
/// model under the same name.
fn embedding_id(model: &ModelConfig) -> String {
    format!("{} {}", model.base_url, model.model)
}
