//! Notes: Markdown files in a folder, the vault.

use super::ModelConfig;
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

/// A note that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedNote {
    /// The whole path.
    pub path: PathBuf,
    pub title: String,
    pub text: String,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundNotes {
    /// The best first.
    pub notes: Vec<FoundNote>,
    /// What the user should know about the search, such as that words alone were compared.
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundNote {
    /// The whole path.
    pub path: PathBuf,
    pub title: String,
    /// One line.
    pub snippet: String,
    /// Byte ranges of the found words in `snippet`.
    pub matches: Vec<Range<usize>>,
    /// 0..=1, higher is better.
    pub score: f32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSummary {
    pub title: String,
    pub summary: String,
    /// The notes that the summary is made from.
    pub sources: Vec<PathBuf>,
    pub remarks: Vec<String>,
}

/// What to summarize.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummarySource {
    /// One note, by its path below the vault or its whole path.
    Note(String),
    /// The parts of all notes that contain a topic.
    Topic(String),
}
