//! Saved sessions with their attachments, index and trash, journals of running turns, left tasks,
//! prompt history and recent commands. Functions that access the disk block, so callers must run
//! them on a blocking thread.

mod attachment_json;
mod attachments;
mod branches;
mod call_json;
mod error;
mod export;
mod file_name;
mod foreign_messages;
mod format;
pub mod journal;
mod left_tasks;
mod lookup;
mod message_codec;
mod metadata;
mod notes_json;
mod prompt_history;
mod recent_commands;
mod recover;
mod session_index;
mod session_list;
mod session_preview;
mod sessions;
mod trash;

pub use attachments::AttachmentStore;
pub use error::StoreError;
pub use export::{ExportError, render_session, write_export};
pub use file_name::session_file_name;
pub use journal::{Journal, JournalRecord, JournaledTurn, Journals, OrphanedJournal};
pub use left_tasks::remove_left_tasks;
pub use lookup::LookupError;
pub use prompt_history::PromptHistory;
pub use recent_commands::RecentCommandsFile;
pub use recover::{Recovered, recover_answer, recover_partial_answer};
pub use session_index::{FoundSessions, ReadLimits, SessionIndex};
pub use sessions::{SavedChoices, SessionStore};
pub use trash::{SessionTrash, TRASH_DAYS, TrashedSession};
