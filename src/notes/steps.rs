//! The steps before and after the model's answer: building its prompt from the vault, and saving the
//! answer. The tools run both around one request to the model; the note agents run them before and
//! after a turn.

use super::NotesError;
use super::note;
use super::notebook::{Notebook, open_vault};
use super::prompts::{self, CHUNKS_MAX};
use super::slug::slug;
use super::vault::{NOTE_BYTES_MAX, NotePath, Vault};
use super::vault_index::UpdateLimits;
use crate::domain::{CreatedNote, Notice, OpenNote, SummarySource, SummaryTask};
use crate::files;
use crate::ports::NoteRequest;
use crate::search::SearchTerms;
use std::path::{Path, PathBuf};

/// Maximum number of hits that are checked for the topic.
const TOPIC_HITS: usize = 60;

impl Notebook {
    /// The prompt for a note. Fails early if the vault is not writable.
    pub(super) async fn note_prompt(
        &self,
        request: &NoteRequest,
        topic: &str,
    ) -> Result<String, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        on_blocking_thread(move || vault.check_writable()).await?;
        Ok(prompts::note_prompt(topic))
    }

    /// Saves the model's answer as a new note.
    pub(super) async fn save_note(
        &self,
        request: &NoteRequest,
        topic: String,
        answer: String,
    ) -> Result<CreatedNote, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        let text = prompts::clean_note(&answer, &topic);
        let name = slug(&topic);
        let title = note::parse(&text, &name).title;
        let written = text.clone();
        let created = on_blocking_thread(move || vault.create(&name, &written)).await?;
        Ok(CreatedNote {
            path: created.path,
            title,
            text,
        })
    }

    pub(super) async fn summary_task(
        &self,
        request: &NoteRequest,
        source: SummarySource,
    ) -> Result<SummaryTask, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        match source {
            SummarySource::Note(note) => task_for_note(vault, note).await,
            SummarySource::Topic(topic) => self.task_for_topic(request, vault, topic).await,
        }
    }

    /// Asks for a summary of the chunks that mention a topic.
    async fn task_for_topic(
        &self,
        request: &NoteRequest,
        vault: Vault,
        topic: String,
    ) -> Result<SummaryTask, Notice> {
        let mut remarks = Vec::new();
        let limits = UpdateLimits::TOOL;
        self.update(&vault, limits, &mut remarks).await?;
        let query = format!("notes about {topic}");
        let vector = self
            .query_vector(&vault, request, &query, limits, &mut remarks)
            .await?;
        let mut chunks = self.find(&vault, &topic, vector, TOPIC_HITS, false).await?;
        let terms = SearchTerms::parse(&topic);
        chunks.retain(|chunk| {
            [&chunk.body, &chunk.heading, &chunk.title]
                .into_iter()
                .any(|text| terms.any_in(text))
        });
        chunks.truncate(CHUNKS_MAX);
        if chunks.is_empty() {
            let path = vault.root().display();
            return Err(Notice::failure(format!(
                "No note in {path} mentions \"{topic}\"."
            )));
        }
        let mut sources: Vec<PathBuf> = Vec::new();
        for chunk in &chunks {
            let path = vault.root().join(&chunk.key);
            if !sources.contains(&path) {
                sources.push(path);
            }
        }
        Ok(SummaryTask {
            prompt: prompts::topic_prompt(&topic, &chunks),
            title: topic,
            sources,
            vault: vault.root().to_path_buf(),
            remarks,
        })
    }
}

async fn task_for_note(vault: Vault, note: String) -> Result<SummaryTask, Notice> {
    let root = vault.root().to_path_buf();
    let (note, text) = read_note(vault, note).await?;
    if text.trim().is_empty() {
        let key = &note.key;
        return Err(Notice::failure(format!("The note {key} is empty.")));
    }
    let mut remarks = Vec::new();
    if prompts::is_too_long(&text) {
        remarks.push("The note is long; only its beginning was summarized.".to_owned());
    }
    Ok(SummaryTask {
        prompt: prompts::single_note_prompt(&text),
        title: title_of(&note, &text),
        sources: vec![note.path],
        vault: root,
        remarks,
    })
}

/// Finds a note and its title.
pub(super) async fn open_note(request: NoteRequest, note: String) -> Result<OpenNote, Notice> {
    let vault = open_vault(&request.settings, request.vault.clone()).await?;
    let (note, text) = read_note(vault, note).await?;
    Ok(OpenNote {
        title: title_of(&note, &text),
        path: note.path,
        name: note.key,
    })
}

/// Removes a note that was just created, unless it has been changed since.
pub(super) async fn remove_note(note: CreatedNote) -> Result<(), Notice> {
    on_blocking_thread(move || {
        let failed = |why: String| NotesError::Unremovable {
            path: note.path.display().to_string(),
            why,
        };
        let described = |error: std::io::Error| failed(files::describe_io_error(&error));
        match files::read(&note.path, NOTE_BYTES_MAX).map_err(described)? {
            None => Err(failed("it no longer exists".to_owned())),
            Some(bytes) if bytes != note.text.as_bytes() => {
                Err(failed("it was changed since it was created".to_owned()))
            }
            Some(_) => std::fs::remove_file(&note.path).map_err(described),
        }
    })
    .await
}

async fn read_note(vault: Vault, note: String) -> Result<(NotePath, String), Notice> {
    on_blocking_thread(move || {
        let path = vault.find(&note)?;
        let text = vault.read(&path)?;
        Ok((path, text))
    })
    .await
}

fn title_of(note: &NotePath, text: &str) -> String {
    let stem = Path::new(&note.key).file_stem().unwrap_or_default();
    note::parse(text, &stem.to_string_lossy()).title
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, NotesError> + Send + 'static,
) -> Result<T, Notice> {
    let result = tokio::task::spawn_blocking(work).await;
    let result = result.map_err(|error| Notice::failure(error.to_string()))?;
    Ok(result?)
}
