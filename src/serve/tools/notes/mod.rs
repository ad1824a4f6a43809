//! The tools for notes, and their shared argument `vault_path`.

mod create_note;
mod search_notes;
mod summarize_notes;

pub(super) use create_note::CreateNote;
pub(super) use search_notes::SearchNotes;
pub(super) use summarize_notes::SummarizeNotes;

use super::arguments::text;
use super::tool::ToolInvocation;
use crate::domain::NotesSettings;
use crate::ports::NoteRequest;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const PATH_CHARS_MAX: usize = 4_096;
const TOPIC_CHARS_MAX: usize = 500;

fn vault_path_schema() -> Value {
    json!({
        "type": "string",
        "description": "The folder of notes: the configured one, or a folder in it",
    })
}

fn required<'a>(
    call: &ToolInvocation<'a>,
    key: &str,
    example: &str,
    chars_max: usize,
) -> Result<&'a str, String> {
    let value = text(call.arguments, key, example, chars_max)?;
    value.ok_or_else(|| format!("Missing required parameter: {key}"))
}

/// `vault_path` is required.
async fn note_request(call: &ToolInvocation<'_>) -> Result<NoteRequest, String> {
    let settings = call.settings.notes.clone();
    let vault = text(
        call.arguments,
        "vault_path",
        "/home/me/notes",
        PATH_CHARS_MAX,
    )?;
    let Some(vault) = vault else {
        let hint = name_vaults(settings).await;
        return Err(format!("Missing required parameter: vault_path{hint}"));
    };
    if settings.vaults.is_empty() {
        return Err(
            "No notes folder is configured: set `notes.vault` in config.json, or start \
             `humble serve` with `--vault`."
                .to_owned(),
        );
    }
    let (progress, reports) = (call.progress.clone(), AtomicU32::new(0));
    Ok(NoteRequest {
        vault: Some(vault.to_owned()),
        settings,
        on_progress: Arc::new(move |message| {
            // Progress must grow with each report.
            let count = reports.fetch_add(1, Ordering::Relaxed);
            progress.report(f64::from(count), None, message);
        }),
    })
}

/// The end of an error message, which names the folders that exist now; empty if none does.
async fn name_vaults(mut settings: NotesSettings) -> String {
    // A network drive may block.
    let named = tokio::task::spawn_blocking(move || {
        settings.vaults.retain(|vault| vault.is_dir());
        let vaults = settings.vault_names();
        match settings.vaults.len() {
            0 => String::new(),
            1 => format!(". The notes folder is {vaults}"),
            _ => format!(". The notes folders are {vaults}"),
        }
    });
    named.await.unwrap_or_default()
}
