//! Saved sessions, journals of running turns, and prompt history. All functions block on disk
//! access, so callers must run them on a blocking thread.

mod branches;
mod call_json;
mod error;
mod file_name;
mod foreign_messages;
mod format;
pub mod journal;
mod lookup;
mod message_codec;
mod metadata;
mod notes_json;
mod prompt_history;
mod recover;
mod sessions;

pub use error::StoreError;
pub use file_name::session_file_name;
pub use journal::{Journal, JournalRecord, JournaledTurn, Journals, OrphanedJournal};
pub use lookup::LookupError;
pub use prompt_history::PromptHistory;
pub use recover::{Recovered, recover_answer, recover_partial_answer};
pub use sessions::SessionStore;
