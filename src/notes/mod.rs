//! A folder of Markdown notes, the vault: creating, finding and summarizing notes.

mod embedding;
mod excerpts;
mod indexer;
mod intent;
mod note;
mod note_file;
mod notebook;
mod path_completion;
mod prompts;
mod slug;
mod steps;
mod vault;
mod vault_index;
mod vault_watch;
mod written_note;

pub use indexer::{IndexingReport, update_index};
pub use intent::NoteIntent;
pub use notebook::Notebook;
pub use vault::Vault;

use crate::domain::Notice;

/// Why notes cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotesError {
    #[error("The notes folder {path} cannot be used: {why}.")]
    UnusableVault { path: String, why: String },
    #[error("The note {path} cannot be read: {why}.")]
    UnreadableNote { path: String, why: String },
    #[error("{path} cannot be written: {why}.")]
    Unwritable { path: String, why: String },
    #[error("The note {path} was not removed: {why}.")]
    Unremovable { path: String, why: String },
}

impl NotesError {
    /// The reason alone, without the path.
    pub fn reason(self) -> String {
        match self {
            Self::UnusableVault { why, .. }
            | Self::UnreadableNote { why, .. }
            | Self::Unwritable { why, .. }
            | Self::Unremovable { why, .. } => why,
        }
    }
}

impl From<NotesError> for Notice {
    fn from(error: NotesError) -> Self {
        Self::failure(error.to_string())
    }
}
