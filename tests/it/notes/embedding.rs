//! Searches while the embedding model hangs, is slow or fails. The clock is paused.

use crate::support::fixtures;
use futures::future::{BoxFuture, pending};
use humble::domain::{ModelConfig, NotesSettings, Notice, ProviderKind};
use humble::notes::Notebook;
use humble::ports::{
    CompletedText, Completion, CompletionRequest, Embedder, NoteRequest, NoteService,
};
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, advance, sleep};

fn model() -> ModelConfig {
    fixtures::model_config(ProviderKind::Ollama, "http://localhost").with_model("mini")
}

#[derive(Clone, Copy)]
enum Answer {
    After(Duration),
    Fail,
    Never,
}

/// Answers the first requests as scripted, and the rest at once, always with the same vector.
#[derive(Default)]
struct ScriptedEmbedder {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Vec<String>>>,
}

impl Embedder for ScriptedEmbedder {
    fn embed(
        &self,
        _model: &ModelConfig,
        texts: Vec<String>,
    ) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Notice>> {
        let answer = self.answers.lock().expect("unpoisoned").pop_front();
        let vectors = vec![vec![1.0, 0.0]; texts.len()];
        self.requests.lock().expect("unpoisoned").push(texts);
        Box::pin(async move {
            match answer.unwrap_or(Answer::After(Duration::ZERO)) {
                Answer::After(delay) => {
                    sleep(delay).await;
                    Ok(vectors)
                }
                Answer::Fail => Err(Notice::failure("No model `mini`.")),
                Answer::Never => pending().await,
            }
        })
    }
}

struct NoCompletion;

impl Completion for NoCompletion {
    fn complete(
        &self,
        _request: CompletionRequest,
    ) -> BoxFuture<'static, Result<CompletedText, Notice>> {
        Box::pin(pending())
    }
}

struct SearchFixture {
    _folder: TempDir,
    vault: PathBuf,
    notebook: Notebook,
    embedder: Arc<ScriptedEmbedder>,
    progress: Arc<Mutex<Vec<String>>>,
}

impl SearchFixture {
    fn new(answers: &[Answer]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = folder.path().join("vault");
        fs::create_dir(&vault).expect("created");
        fs::write(vault.join("tea.md"), "tea").expect("written");
        fs::write(vault.join("coffee.md"), "coffee").expect("written");
        let embedder = Arc::new(ScriptedEmbedder::default());
        embedder.answers.lock().expect("unpoisoned").extend(answers);
        let cache = folder.path().join("cache");
        let notebook = Notebook::new(cache, Arc::new(NoCompletion), embedder.clone());
        Self {
            _folder: folder,
            vault,
            notebook,
            embedder,
            progress: Arc::default(),
        }
    }

    fn request(&self) -> NoteRequest {
        let progress = Arc::clone(&self.progress);
        NoteRequest {
            settings: NotesSettings {
                vaults: vec![self.vault.clone()],
                model: None,
                embedding_model: Some(Box::new(model())),
            },
            vault: None,
            on_progress: Arc::new(move |text| {
                progress.lock().expect("unpoisoned").push(text.to_owned());
            }),
        }
    }

    /// Searches for tea. Returns the number of hits, the first remark and the elapsed time.
    async fn search(&self) -> (usize, String, Duration) {
        let start = Instant::now();
        let found = self.notebook.search(self.request(), "tea".to_owned(), 10);
        let found = found.await.expect("found");
        let remark = found.remarks.into_iter().next().unwrap_or_default();
        (found.notes.len(), remark, start.elapsed())
    }

    fn request_count(&self) -> usize {
        self.embedder.requests.lock().expect("unpoisoned").len()
    }
}

const SLOW: &str = "The embedding model `mini` has not answered yet; until it does, notes are found by their \
                    words.";
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_hanging_model_delays_one_search_and_then_gets_no_requests_for_a_while() {
    let fixture = SearchFixture::new(&[Answer::Never, Answer::Never]);
    assert_eq!(fixture.search().await, (1, SLOW.to_owned(), 3 * SECOND));
    let progress = fixture.progress.lock().expect("unpoisoned").clone();
    let expected = ["Reading notes", "Waiting for the embedding model mini"];
    assert_eq!(progress, expected);
    assert_eq!(fixture.search().await, (1, SLOW.to_owned(), Duration::ZERO));
    assert_eq!(fixture.request_count(), 1);
    advance(30 * SECOND).await;
    assert_eq!(fixture.search().await, (1, SLOW.to_owned(), 3 * SECOND));
    assert_eq!(fixture.request_count(), 2);
    // The second pause is twice as long.
    advance(59 * SECOND).await;
    assert_eq!(fixture.search().await.2, Duration::ZERO);
    advance(SECOND).await;
    assert_eq!(
        fixture.search().await,
        (2, String::new(), Duration::ZERO),
        "the model answers now, and both notes match"
    );
    assert_eq!(fixture.request_count(), 4, "the query and the notes");
}

#[tokio::test(start_paused = true)]
async fn a_model_is_reported_as_failed_only_after_its_answer_is_no_longer_awaited() {
    let fixture = SearchFixture::new(&[Answer::Never; 4]);
    for pause in [30, 60, 120, 0] {
        assert_eq!(fixture.search().await, (1, SLOW.to_owned(), 3 * SECOND));
        advance(pause * SECOND).await;
    }
    sleep(130 * SECOND).await;
    let given_up =
        "Only words were compared. The embedding model `mini` did not answer within 3 s.";
    assert_eq!(
        fixture.search().await,
        (1, given_up.to_owned(), Duration::ZERO)
    );
    assert_eq!(fixture.request_count(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_was_still_loading_is_used_as_soon_as_it_answers() {
    let fixture = SearchFixture::new(&[Answer::After(10 * SECOND)]);
    assert_eq!(fixture.search().await, (1, SLOW.to_owned(), 3 * SECOND));
    assert_eq!(fixture.search().await.2, Duration::ZERO);
    sleep(8 * SECOND).await;
    assert_eq!(fixture.search().await, (2, String::new(), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn excerpts_for_a_prompt_do_not_wait_for_a_failing_model() {
    let fixture = SearchFixture::new(&[Answer::Fail]);
    for _ in 0..2 {
        let excerpts = fixture
            .notebook
            .excerpts(fixture.request(), "tea".to_owned());
        let found = excerpts.await.expect("found");
        assert_eq!(found.excerpts.len(), 1);
        let remark = "Only words were compared. No model `mini`.";
        assert_eq!(found.remarks, [remark]);
    }
    assert_eq!(fixture.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn slow_vectors_of_notes_are_awaited_for_a_limited_time() {
    let answers = [Answer::After(Duration::ZERO), Answer::Never];
    let fixture = SearchFixture::new(&answers);
    let remark = "2 excerpts of notes have no vector yet; only words were compared there.";
    assert_eq!(fixture.search().await, (1, remark.to_owned(), 20 * SECOND));
    // The query is still compared by meaning, without another attempt to embed the notes.
    assert_eq!(
        fixture.search().await,
        (1, remark.to_owned(), Duration::ZERO)
    );
    assert_eq!(fixture.request_count(), 3);
    let fixture = SearchFixture::new(&answers);
    let start = Instant::now();
    let excerpts = fixture
        .notebook
        .excerpts(fixture.request(), "tea".to_owned());
    assert_eq!(excerpts.await.expect("found").excerpts.len(), 1);
    assert_eq!(start.elapsed(), 3 * SECOND);
}
