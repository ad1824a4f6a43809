//! Vectors from the embedding model. A search waits only briefly for the model. After a failure, the
//! model gets no requests for a while, and only words are compared.

use super::notebook::Notebook;
use super::vault::Vault;
use super::vault_index::UpdateLimits;
use crate::domain::{ModelConfig, Notice};
use crate::ports::NoteRequest;
use crate::sync::lock_ignoring_poison;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

/// How long a search waits for the vector of its query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(3);
/// How long to wait in the background for an answer that came too late for its search. Loading a
/// model takes a while, and the server would stop loading it if the connection were closed.
const LATE_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The pause after the first failure of a model. Each further failure doubles it.
const RETRY_DELAY: Duration = Duration::from_secs(30);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(900);
/// Chunks embedded by one request.
const BATCH: usize = 32;
/// Characters of a chunk that are embedded. Embedding models read 256 to 8,192 tokens.
const CHARS_MAX: usize = 2_000;

type Vectors = Vec<Vec<f32>>;

/// The models that failed recently, by id.
#[derive(Debug, Default)]
pub(super) struct EmbeddingHealth(Arc<Mutex<HashMap<String, ModelFailure>>>);

#[derive(Debug)]
struct ModelFailure {
    /// A sentence.
    why: String,
    /// The number of failures in a row.
    count: u32,
    retry_at: Instant,
    /// Waits for an answer that came too late for its search.
    late_answer: Option<AbortOnDropHandle<()>>,
}

enum NoVector {
    /// The model did not answer in time, but its answer is still awaited.
    Pending,
    /// A sentence.
    Failed(String),
}

impl NoVector {
    fn remark(&self, model: &str) -> String {
        match self {
            Self::Pending => format!(
                "The embedding model `{model}` has not answered yet; until it does, notes are found by \
                 their words."
            ),
            Self::Failed(why) => format!("Only words were compared. {why}"),
        }
    }
}

impl EmbeddingHealth {
    /// Why the model gets no requests now. `None` if it may get them.
    fn pause_reason(&self, model: &str) -> Option<NoVector> {
        let failures = lock_ignoring_poison(&self.0);
        let failure = failures.get(model)?;
        let late_answer = failure.late_answer.as_ref();
        let is_pending = late_answer.is_some_and(|waiting| !waiting.is_finished());
        (Instant::now() < failure.retry_at).then(|| match is_pending {
            true => NoVector::Pending,
            false => NoVector::Failed(failure.why.clone()),
        })
    }

    fn record_failure(&self, model: &str, why: String) {
        let mut failures = lock_ignoring_poison(&self.0);
        let earlier = failures.get(model).map_or(0, |failure| failure.count);
        let delay = RETRY_DELAY.saturating_mul(1 << earlier.min(10));
        let failure = ModelFailure {
            why,
            count: earlier + 1,
            retry_at: Instant::now() + delay.min(RETRY_DELAY_MAX),
            late_answer: None,
        };
        failures.insert(model.to_owned(), failure);
    }

    fn record_success(&self, model: &str) {
        lock_ignoring_poison(&self.0).remove(model);
    }

    /// Ends the pause of a model as soon as `answer` arrives.
    fn await_late_answer(&self, model: &str, answer: BoxFuture<'static, Result<Vectors, Notice>>) {
        let (failures, id) = (Arc::downgrade(&self.0), model.to_owned());
        let waiting = tokio::spawn(async move {
            let answered = timeout(LATE_ANSWER_TIMEOUT, answer).await;
            if let (Ok(Ok(_)), Some(failures)) = (answered, failures.upgrade()) {
                // This drops the handle of this same task, which has nothing left to do.
                lock_ignoring_poison(&failures).remove(&id);
            }
        });
        let mut failures = lock_ignoring_poison(&self.0);
        if let Some(failure) = failures.get_mut(model) {
            failure.late_answer = Some(AbortOnDropHandle::new(waiting));
        }
    }
}

impl Notebook {
    /// Computes the vector of the query and then, within the time limit, missing vectors of chunks.
    /// Returns `None` and adds a remark if only words can be compared.
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
        let id = embedding_id(model);
        let health = &self.0.embedding_health;
        let vector = match health.pause_reason(&id) {
            Some(why) => Err(why),
            None => self.embed_query(model, request, query).await,
        };
        let vector = match vector {
            Ok(vector) => vector,
            Err(why) => {
                remarks.push(why.remark(&model.model));
                return Ok(None);
            }
        };
        let dimensions = vector.len();
        self.with_index(vault, move |index| {
            index.set_embedding_model(&id, dimensions)
        })
        .await?;
        if let Err(why) = self.embed_missing(vault, model, request, limits).await? {
            remarks.push(why);
        }
        let missing = self
            .with_index(vault, |index| index.missing_vector_count())
            .await?;
        if missing > 0 {
            let (count, have) = match missing {
                1 => ("1 excerpt".to_owned(), "has"),
                _ => (format!("{missing} excerpts"), "have"),
            };
            remarks.push(format!(
                "{count} of notes {have} no vector yet; only words were compared there."
            ));
        }
        Ok(Some(vector))
    }

    /// The vector of a query, or why there is none. If the model is slow, its answer is awaited in the
    /// background.
    async fn embed_query(
        &self,
        model: &ModelConfig,
        request: &NoteRequest,
        query: &str,
    ) -> Result<Vec<f32>, NoVector> {
        let (id, name) = (embedding_id(model), &model.model);
        let health = &self.0.embedding_health;
        (request.on_progress)(&format!("Waiting for the embedding model {name}"));
        let mut answer = self.0.embedder.embed(model, vec![query.to_owned()]);
        let Ok(answered) = timeout(QUERY_TIMEOUT, &mut answer).await else {
            let seconds = QUERY_TIMEOUT.as_secs();
            let why = format!("The embedding model `{name}` did not answer within {seconds} s.");
            health.record_failure(&id, why);
            health.await_late_answer(&id, answer);
            return Err(NoVector::Pending);
        };
        let vector = answered
            .map_err(|notice| notice.summary())
            .and_then(|vectors| only_vector(vectors, name));
        match &vector {
            Ok(_) => health.record_success(&id),
            Err(why) => health.record_failure(&id, why.clone()),
        }
        vector.map_err(NoVector::Failed)
    }

    /// Computes vectors of chunks that have none. The inner error is the reason for a failure of the model.
    async fn embed_missing(
        &self,
        vault: &Vault,
        model: &ModelConfig,
        request: &NoteRequest,
        limits: UpdateLimits,
    ) -> Result<Result<(), String>, Notice> {
        // Paused separately from queries, which are short and may still be answered in time.
        let id = format!("{} (notes)", embedding_id(model));
        let health = &self.0.embedding_health;
        if health.pause_reason(&id).is_some() {
            return Ok(Ok(()));
        }
        let deadline = Instant::now() + limits.embedding;
        let mut after = 0;
        let mut done = 0;
        loop {
            let batch = self
                .with_index(vault, move |index| index.missing_vectors(after, BATCH))
                .await?;
            let Some(last) = batch.last() else {
                return Ok(Ok(()));
            };
            after = last.chunk;
            let texts = batch.iter().map(|chunk| {
                let text = format!("{}\n{}\n{}", chunk.title, chunk.heading, chunk.body);
                text.chars().take(CHARS_MAX).collect()
            });
            let embedding = self.0.embedder.embed(model, texts.collect());
            let time_left = deadline.saturating_duration_since(Instant::now());
            let Ok(answered) = timeout(time_left, embedding).await else {
                if done == 0 {
                    let why = format!("The embedding model `{}` is slow.", model.model);
                    health.record_failure(&id, why);
                }
                // Later searches continue.
                return Ok(Ok(()));
            };
            let vectors = answered
                .map_err(|notice| notice.summary())
                .and_then(|vectors| check_vectors(vectors, batch.len(), &model.model));
            let vectors = match vectors {
                Ok(vectors) => vectors,
                Err(why) => {
                    health.record_failure(&id, why.clone());
                    return Ok(Err(why));
                }
            };
            health.record_success(&id);
            done += batch.len();
            let chunks = batch.into_iter().map(|chunk| chunk.chunk);
            let stored: Vec<_> = chunks.zip(vectors).collect();
            self.with_index(vault, move |index| index.store_vectors(&stored))
                .await?;
            (request.on_progress)(&format!("Computed vectors for {done} excerpts of notes"));
        }
    }
}

fn only_vector(vectors: Vectors, model: &str) -> Result<Vec<f32>, String> {
    let vectors = check_vectors(vectors, 1, model)?;
    vectors.into_iter().next().ok_or_else(String::new)
}

fn check_vectors(vectors: Vectors, count: usize, model: &str) -> Result<Vectors, String> {
    let model = format!("The embedding model `{model}`");
    if vectors.len() != count {
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let (found, expected) = (counted(vectors.len(), "vector"), counted(count, "text"));
        return Err(format!("{model} returned {found} for {expected}."));
    }
    let dimensions = vectors.first().map_or(0, Vec::len);
    if dimensions == 0 {
        return Err(format!("{model} returned an empty vector."));
    }
    if vectors.iter().any(|vector| vector.len() != dimensions) {
        return Err(format!("{model} returned vectors of different dimensions."));
    }
    // Any other vector would be stored as similar to nothing.
    let is_usable = |vector: &Vec<f32>| {
        vector.iter().all(|value| value.is_finite()) && vector.iter().any(|value| *value != 0.0)
    };
    if !vectors.iter().all(is_usable) {
        return Err(format!(
            "{model} returned a vector of zeros or of numbers that are too large."
        ));
    }
    Ok(vectors)
}

/// Vectors of the same model on different servers are comparable, but a server may serve another
/// model under the same name.
fn embedding_id(model: &ModelConfig) -> String {
    format!("{} {}", model.base_url, model.model)
}
