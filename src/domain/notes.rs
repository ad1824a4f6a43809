//! Notes: Markdown files in a folder, the vault.

use super::ModelConfig;
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;

/// Which notes may be used, and by which models.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NotesSettings {
    /// Folders that may be read and written. The first is used where none is named.
    pub vaults: Vec<PathBuf>,
    /// Writes notes and summaries.
    pub model: Option<Box<ModelConfig>>,
    /// Computes vectors; without it, search compares words alone.
    pub embedding_model: Option<Box<ModelConfig>>,
}

impl NotesSettings {
    /// The folders, separated by commas.
    pub fn vault_names(&self) -> String {
        let names = self.vaults.iter().map(|vault| vault.display().to_string());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// A note that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedNote {
    /// The absolute path.
    pub path: PathBuf,
    pub title: String,
    pub text: String,
    pub written: WrittenNote,
    /// The previous text of the file, if the note replaced an earlier version.
    pub replaced_text: Option<String>,
}

/// Identifies a file that the program wrote, so that it is removed only while it is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenNote {
    /// The path below the vault.
    pub note: String,
    /// The absolute path, which tells notes of different vaults apart.
    pub path: String,
    /// The SHA-256 of the contents, in hexadecimal.
    pub sha256: String,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundNotes {
    /// The best first.
    pub notes: Vec<FoundNote>,
    /// The folder that was searched, without symbolic links in its path.
    pub vault: PathBuf,
    /// Sentences about the search for the user, such as that only words were compared.
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundNote {
    /// The absolute path.
    pub path: PathBuf,
    pub title: String,
    /// One line.
    pub snippet: String,
    /// Byte ranges of the found words in `snippet`.
    pub matches: Vec<Range<usize>>,
    /// 0..=1, higher is better.
    pub score: f32,
}

/// Notes whose paths match the typed text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotePaths {
    /// Paths below the vault, the best match first.
    pub paths: Vec<String>,
    /// More notes match than are listed.
    pub is_partial: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSummary {
    pub title: String,
    pub summary: String,
    /// The notes that the summary is made from.
    pub sources: Vec<PathBuf>,
    pub remarks: Vec<String>,
}

/// The notes to summarize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummarySource {
    /// One note, by its path below the vault or its absolute path.
    Note(String),
    /// The parts of all notes that contain a topic.
    Topic(String),
}

/// A summary to be written by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryTask {
    /// Contains text of notes, which is untrusted.
    pub prompt: String,
    pub title: String,
    /// The notes that the summary is made from.
    pub sources: Vec<PathBuf>,
    /// The folder of the notes, without symbolic links in its path.
    pub vault: PathBuf,
    pub remarks: Vec<String>,
}

/// The note that the user opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenNote {
    /// The absolute path.
    pub path: PathBuf,
    /// The path below the vault.
    pub name: String,
    pub title: String,
}

/// The indexed folder of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultStatus {
    /// Without symbolic links in its path.
    pub vault: PathBuf,
    /// The number of notes that can be found.
    pub notes: usize,
    /// Remarks for the user, for example about notes that were left out.
    pub remarks: Vec<String>,
}

/// The result of a note agent. Paths are below the vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum AgentResult {
    NoteCreated {
        note: String,
        title: String,
        /// The absolute path.
        path: String,
        /// The hash of [`WrittenNote`]; `None` if undoing the turn no longer removes the note.
        #[serde(skip)]
        sha256: Option<String>,
    },
    NotesFound {
        query: String,
        notes: Vec<String>,
        remarks: Vec<String>,
    },
    NoteSummarized {
        title: String,
        sources: Vec<String>,
        remarks: Vec<String>,
    },
    /// The prompt was sent with excerpts of these notes, the best first.
    NotesConsulted {
        sources: Vec<String>,
        remarks: Vec<String>,
    },
}

impl AgentResult {
    /// The action and its notes, without advice about the next step.
    pub fn summary(&self) -> String {
        match self {
            Self::NoteCreated { note, .. } => format!("note created  {note}"),
            Self::NotesFound { notes, remarks, .. } => {
                with_remarks(counted(notes.len(), "note found", "notes found"), remarks)
            }
            Self::NoteSummarized {
                sources, remarks, ..
            } => {
                let notes = match sources.len() {
                    1 => "note",
                    _ => "notes",
                };
                let summary = format!("{notes} summarized  {}", sources.join(", "));
                with_remarks(summary, remarks)
            }
            Self::NotesConsulted { sources, remarks } => {
                let summary = match sources.len() {
                    0 => "no notes match this prompt".to_owned(),
                    1 => format!("note consulted  {}", sources.join(", ")),
                    _ => format!("notes consulted  {}", sources.join(", ")),
                };
                with_remarks(summary, remarks)
            }
        }
    }

    /// The remarks about the result; `None` for a created note, which has none.
    pub fn remarks_mut(&mut self) -> Option<&mut Vec<String>> {
        match self {
            Self::NoteCreated { .. } => None,
            Self::NotesFound { remarks, .. }
            | Self::NoteSummarized { remarks, .. }
            | Self::NotesConsulted { remarks, .. } => Some(remarks),
        }
    }

    /// The created note, if undoing the turn removes it.
    pub fn written_note(&self) -> Option<WrittenNote> {
        match self {
            Self::NoteCreated {
                note, path, sha256, ..
            } => Some(WrittenNote {
                note: note.clone(),
                path: path.clone(),
                sha256: sha256.clone()?,
            }),
            _ => None,
        }
    }

    /// Like [`Self::written_note`]. From now on, undoing the turn leaves the note in place.
    pub fn take_written_note(&mut self) -> Option<WrittenNote> {
        let written = self.written_note();
        if let Self::NoteCreated { sha256, .. } = self {
            *sha256 = None;
        }
        written
    }
}

fn counted(count: usize, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

fn with_remarks(mut summary: String, remarks: &[String]) -> String {
    for remark in remarks {
        summary.extend(["\n", remark]);
    }
    summary
}
