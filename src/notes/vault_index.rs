//! The indexes of a notebook's vaults: bringing them up to date, computing vectors, searching.

use super::indexer::{self, IndexingReport};
use super::notebook::Notebook;
use super::vault::Vault;
use super::vault_watch::{Due, VaultWatch};
use crate::domain::Notice;
use crate::ports::NoteRequest;
use crate::search::{Hit, HybridQuery, Index, Matching, SearchError, SearchTerms};
use crate::sync::lock_ignoring_poison;
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long one update may spend on new and changed notes. Later updates do the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateLimits {
    indexing: Duration,
    /// For vectors of chunks that have none.
    pub(super) embedding: Duration,
}

impl UpdateLimits {
    /// Both together stay below the 60 s that MCP clients wait for a result.
    pub(super) const TOOL: Self = Self {
        indexing: Duration::from_secs(30),
        embedding: Duration::from_secs(20),
    };
    /// Short, because an ordinary prompt waits for its excerpts.
    pub(super) const BEFORE_PROMPT: Self = Self {
        indexing: Duration::from_secs(5),
        embedding: Duration::from_secs(3),
    };
    /// For a refresh in the background, which nothing waits for.
    pub(super) const REFRESH: Self = Self {
        indexing: Duration::from_secs(60),
        embedding: Duration::from_secs(60),
    };
}

/// Maximum number of notes that are indexed in memory if the index cannot be written.
const IN_MEMORY_NOTES_MAX: usize = 2_000;

const DAMAGED: &str = "The search index was damaged and was built again.";

/// An open index, and the changes in its vault that it does not contain yet.
pub(super) struct OpenIndex {
    index: Index,
    watch: VaultWatch,
    /// The report of the last scan, kept up to date since.
    report: IndexingReport,
    /// Remarks about the index that were not shown yet.
    remarks: Vec<String>,
}

impl OpenIndex {
    /// Brings the index up to date, until `is_out_of_time` returns true.
    fn update(
        &mut self,
        vault: &Vault,
        is_out_of_time: &dyn Fn() -> bool,
    ) -> Result<IndexingReport, SearchError> {
        let updated = match self.watch.take_due() {
            Due::Scan => indexer::update_index(vault, &mut self.index, is_out_of_time),
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

    /// Runs `work`. If the index turns out to be damaged or cannot be written, builds it again, and
    /// repeats the work once.
    fn run<T>(
        &mut self,
        vault: &Vault,
        work: &mut impl FnMut(&mut Self) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        let error = match work(self) {
            Err(error) if error.is_damage() || error.is_unwritable() => error,
            done => return done,
        };
        tracing::warn!("the index of the notes is built again: {error}");
        if error.is_damage() {
            self.index.clear()?;
            self.remarks.push(DAMAGED.to_owned());
        } else {
            self.index = in_memory_instead(vault, error, &mut self.remarks)?;
        }
        self.watch.require_scan();
        let deadline = Instant::now() + UpdateLimits::TOOL.indexing;
        self.update(vault, &|| Instant::now() > deadline)?;
        work(self)
    }
}

/// An empty index in memory in place of one that cannot be written. Returns the error for a large
/// vault, which would take too long to index in each run.
fn in_memory_instead(
    vault: &Vault,
    error: SearchError,
    remarks: &mut Vec<String>,
) -> Result<Index, SearchError> {
    if vault.list().notes.len() > IN_MEMORY_NOTES_MAX {
        return Err(error);
    }
    remarks.push(format!("The index is only kept in memory: {error}."));
    Index::in_memory()
}

impl Notebook {
    /// Opens the index when it is first needed. Blocks.
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
        let mut remarks = Vec::new();
        let index = match Index::open(&self.0.cache.join(format!("notes-{id}.sqlite"))) {
            Err(error) if error.is_unwritable() => in_memory_instead(vault, error, &mut remarks),
            opened => opened,
        }?;
        let index = Arc::new(Mutex::new(OpenIndex {
            index,
            watch: VaultWatch::new(vault),
            report: IndexingReport::default(),
            remarks,
        }));
        indexes.insert(vault.root().to_path_buf(), Arc::clone(&index));
        Ok(index)
    }

    /// Runs `work` on a blocking thread.
    pub(super) async fn with_index<T: Send + 'static>(
        &self,
        vault: &Vault,
        mut work: impl FnMut(&mut Index) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, Notice> {
        self.with_open_index(vault, move |open| work(&mut open.index))
            .await
    }

    async fn with_open_index<T: Send + 'static>(
        &self,
        vault: &Vault,
        mut work: impl FnMut(&mut OpenIndex) -> Result<T, SearchError> + Send + 'static,
    ) -> Result<T, Notice> {
        let (notebook, vault) = (self.clone(), vault.clone());
        let work = tokio::task::spawn_blocking(move || {
            let index = notebook.index(&vault)?;
            lock_ignoring_poison(&index).run(&vault, &mut work)
        });
        let result = work
            .await
            .map_err(|error| Notice::failure(error.to_string()))?;
        result.map_err(|error| {
            let message = error.to_string();
            Notice::failure(format!("Notes could not be searched: {message}."))
        })
    }

    /// Brings the index up to date and adds remarks about notes that are not indexed. Returns the
    /// number of notes.
    pub(super) async fn update(
        &self,
        vault: &Vault,
        limits: UpdateLimits,
        request: &NoteRequest,
        remarks: &mut Vec<String>,
    ) -> Result<usize, Notice> {
        (request.on_progress)("Reading notes");
        let deadline = Instant::now() + limits.indexing;
        // The blocking thread outlives this future, for example if the user stops the turn.
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        let _cancel_on_drop = cancel.drop_guard();
        let vault_to_index = vault.clone();
        let is_out_of_time = move || cancelled.is_cancelled() || Instant::now() > deadline;
        let (report, index_remarks) = self
            .with_open_index(vault, move |open| {
                let report = open.update(&vault_to_index, &is_out_of_time)?;
                Ok((report, std::mem::take(&mut open.remarks)))
            })
            .await?;
        remarks.extend(index_remarks);
        if report.notes == 0 && report.is_complete {
            let path = vault.root().display();
            let notice = Notice::failure(format!("There are no Markdown notes in {path}."));
            let reasons = report.reasons_for_no_notes().join(" ");
            return Err(match reasons.is_empty() {
                true => notice,
                false => notice.with_reason(reasons),
            });
        }
        remarks.extend(report.remarks());
        Ok(report.notes)
    }

    pub(super) async fn find(
        &self,
        vault: &Vault,
        query: &str,
        vector: Option<Vec<f32>>,
        limit: usize,
        one_per_document: bool,
        remarks: &mut Vec<String>,
    ) -> Result<Vec<Hit>, Notice> {
        let terms = SearchTerms::parse(query);
        let (hits, index_remarks) = self
            .with_open_index(vault, move |open| {
                let hits = open.index.search(&HybridQuery {
                    terms: &terms,
                    matching: Matching::Any,
                    vector: vector.as_deref(),
                    limit,
                    one_per_document,
                })?;
                Ok((hits, std::mem::take(&mut open.remarks)))
            })
            .await?;
        remarks.extend(index_remarks);
        Ok(hits)
    }
}
