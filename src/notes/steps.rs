//! The steps before and after the model's answer: building its prompt from the vault, and saving the
//! answer. The tools run both around one request to the model; the note agents run them before and
//! after a turn.

use super::NotesError;
use super::note;
use super::note_file::NotePath;
use super::notebook::{Notebook, open_vault};
use super::path_completion::best_matches;
use super::prompts::{self, SUMMARY_SIZES, SummarySize};
use super::slug::slug;
use super::vault::Vault;
use super::vault_index::UpdateLimits;
use super::written_note;
use crate::domain::{
    CreatedNote, NotePaths, Notice, OpenNote, SummarySource, SummaryTask, WrittenNote,
};
use crate::ports::{NoteAnswer, NoteRequest};
use crate::search::{SearchTerms, composed};
use std::path::{Path, PathBuf};

/// Maximum number of hits that are checked for the topic.
const TOPIC_HITS_MAX: usize = 60;

impl Notebook {
    /// Fails early if the vault is not writable.
    pub(super) async fn note_prompt(
        &self,
        request: &NoteRequest,
        topic: &str,
        style: &str,
    ) -> Result<String, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        on_blocking_thread(move || vault.check_writable()).await?;
        Ok(prompts::note_prompt(topic, style))
    }

    /// Saves the model's answer as a note: in the file of the earlier version that it replaces, or
    /// else in a new one.
    pub(super) async fn save_note(
        &self,
        request: &NoteRequest,
        answer: NoteAnswer,
    ) -> Result<CreatedNote, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        let text = prompts::clean_note(&answer.text, &answer.topic);
        let name = slug(&answer.topic);
        let title = note::parse(&text, &name).title;
        let replaces = answer.replaces.filter(|old| is_name_for(&old.note, &name));
        let written_text = text.clone();
        let (note, replaced_text) = on_blocking_thread(move || {
            let replaced = replaces.map(|old| vault.replace_written(&old, &written_text));
            match replaced.transpose()?.flatten() {
                Some((note, old_text)) => Ok((note, Some(old_text))),
                None => Ok((vault.create(&name, &written_text)?, None)),
            }
        })
        .await?;
        let written = WrittenNote {
            note: note.key,
            path: note.path.display().to_string(),
            sha256: written_note::sha256(text.as_bytes()),
        };
        Ok(CreatedNote {
            path: note.path,
            title,
            text,
            written,
            replaced_text,
        })
    }

    pub(super) async fn summary_task(
        &self,
        request: &NoteRequest,
        source: SummarySource,
        style: &str,
    ) -> Result<SummaryTask, Notice> {
        let vault = open_vault(&request.settings, request.vault.clone()).await?;
        match source {
            SummarySource::Note(note) => self.task_for_note(request, vault, note, style).await,
            SummarySource::Topic(topic) => self.task_for_topic(request, vault, topic, style).await,
        }
    }

    /// The task of summarizing the chunks that mention a topic or, if the topic is a file name, that note.
    async fn task_for_topic(
        &self,
        request: &NoteRequest,
        vault: Vault,
        topic: String,
        style: &str,
    ) -> Result<SummaryTask, Notice> {
        if Vault::is_note(Path::new(&topic)) {
            let named = find_by_name(vault.clone(), topic.clone()).await?;
            if let Some(note) = named {
                return self.task_for_note(request, vault, note, style).await;
            }
        }
        let mut remarks = Vec::new();
        let limits = UpdateLimits::TOOL;
        self.update(&vault, limits, request, &mut remarks).await?;
        let query = format!("notes about {topic}");
        let vector = self
            .query_vector(&vault, request, &query, limits, &mut remarks)
            .await?;
        let mut chunks = self
            .find(&vault, &topic, vector, TOPIC_HITS_MAX, false, &mut remarks)
            .await?;
        let terms = SearchTerms::parse(&topic);
        chunks.retain(|chunk| {
            [&chunk.body, &chunk.heading, &chunk.title]
                .into_iter()
                .any(|text| terms.any_in(text))
        });
        chunks.truncate(SUMMARY_SIZES[0].chunks_max);
        if chunks.is_empty() {
            let path = vault.root().display();
            return Err(Notice::failure(format!(
                "No note in {path} mentions \"{topic}\"."
            )));
        }
        let prompt_of = |size| prompts::topic_prompt(&topic, style, &chunks, size);
        let (prompt, size) = self.largest_fitting(request, prompt_of).await;
        if prompt != prompt_of(SUMMARY_SIZES[0]) {
            remarks.push(
                "Only parts of the notes were summarized, to fit the model's context.".to_owned(),
            );
        }
        let mut sources: Vec<PathBuf> = Vec::new();
        for chunk in chunks.iter().take(size.chunks_max) {
            let path = vault.root().join(&chunk.key);
            if !sources.contains(&path) {
                sources.push(path);
            }
        }
        Ok(SummaryTask {
            prompt,
            title: topic,
            sources,
            vault: vault.root().to_path_buf(),
            remarks,
        })
    }

    async fn task_for_note(
        &self,
        request: &NoteRequest,
        vault: Vault,
        note: String,
        style: &str,
    ) -> Result<SummaryTask, Notice> {
        let root = vault.root().to_path_buf();
        let (note, text) = read_note(vault, note).await?;
        if text.trim().is_empty() {
            let key = &note.key;
            return Err(Notice::failure(format!("The note {key} is empty.")));
        }
        let prompt_of = |size| prompts::single_note_prompt(&text, style, size);
        let (prompt, size) = self.largest_fitting(request, prompt_of).await;
        let mut remarks = Vec::new();
        if prompts::is_too_long(&text, size) {
            remarks.push("The note is long; only its beginning was summarized.".to_owned());
        }
        Ok(SummaryTask {
            prompt,
            title: title_of(&note, &text),
            sources: vec![note.path],
            vault: root,
            remarks,
        })
    }

    /// The prompt of the largest size that fits into the model's context, or else the smallest one.
    async fn largest_fitting(
        &self,
        request: &NoteRequest,
        prompt_of: impl Fn(SummarySize) -> String,
    ) -> (String, SummarySize) {
        let [sizes @ .., smallest] = SUMMARY_SIZES;
        if let Some(model) = request.settings.model.as_deref() {
            for size in sizes {
                let prompt = prompt_of(size);
                let completion = &self.0.completion;
                if completion.fits(model.clone(), prompt.clone()).await {
                    return (prompt, size);
                }
            }
            return (prompt_of(smallest), smallest);
        }
        (prompt_of(sizes[0]), sizes[0])
    }
}

/// The key of the file with this path or, in any folder of the vault, this file name. It may be
/// unreadable.
async fn find_by_name(vault: Vault, name: String) -> Result<Option<String>, Notice> {
    on_blocking_thread(move || {
        let note = vault.find(&name).ok().filter(|note| note.path.is_file());
        if let Some(note) = note {
            return Ok(Some(note.key));
        }
        let wanted = composed(&name).to_lowercase();
        let is_wanted = |key: &String| {
            let file_name = key.rsplit('/').next().unwrap_or(key);
            composed(file_name).to_lowercase() == wanted
        };
        let listing = vault.list();
        let notes = listing.notes.into_iter().map(|note| note.key);
        let left_out = listing.skipped.into_iter().map(|(key, _)| key);
        let found = notes.chain(left_out).find(is_wanted);
        Ok(found.or_else(|| vault.contains(&name).then_some(name)))
    })
    .await
}

pub(super) async fn find_file(
    request: NoteRequest,
    name: String,
) -> Result<Option<String>, Notice> {
    let vault = open_vault(&request.settings, request.vault.clone()).await?;
    find_by_name(vault, name).await
}

pub(super) async fn complete_path(
    request: NoteRequest,
    fragment: String,
) -> Result<NotePaths, Notice> {
    let vault = open_vault(&request.settings, request.vault.clone()).await?;
    on_blocking_thread(move || Ok(best_matches(&vault, &fragment))).await
}

pub(super) async fn open_note(request: NoteRequest, note: String) -> Result<OpenNote, Notice> {
    let vault = open_vault(&request.settings, request.vault.clone()).await?;
    let (note, text) = on_blocking_thread(move || {
        let path = vault.find_named(&note)?;
        let text = vault.read(&path)?;
        Ok((path, text))
    })
    .await?;
    Ok(OpenNote {
        title: title_of(&note, &text),
        path: note.path,
        name: note.key,
    })
}

/// Removes a written note, unless it has been changed since.
pub(super) async fn remove_note(request: NoteRequest, note: WrittenNote) -> Result<(), Notice> {
    let vault = open_vault(&request.settings, request.vault.clone()).await;
    let vault = vault.map_err(|reason| {
        let name = &note.note;
        Notice::failure(format!("The note {name} was not removed.")).with_reason(reason.summary())
    })?;
    on_blocking_thread(move || vault.remove_written(&note)).await
}

/// Removes a note that was just saved, or restores the text that it replaced.
pub(super) async fn discard_note(request: NoteRequest, note: CreatedNote) -> Result<(), Notice> {
    let vault = open_vault(&request.settings, request.vault.clone()).await?;
    on_blocking_thread(move || match note.replaced_text {
        None => vault.remove_written(&note.written),
        Some(old_text) => vault.restore_written(&note.written, &old_text),
    })
    .await
}

/// Whether a file name was made from this slug, perhaps with a number.
fn is_name_for(note: &str, slug: &str) -> bool {
    let stem = note.strip_suffix(".md").unwrap_or(note);
    let number = stem.strip_prefix(slug).map(|rest| rest.strip_prefix('-'));
    match number {
        Some(Some(number)) => number.parse::<u32>().is_ok(),
        Some(None) => stem == slug,
        None => false,
    }
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
