//! Saved sessions and prompt history. All functions block on the disk, so callers must run
//! them on a blocking thread.

mod branches;
mod calls;
mod error;
mod file_name;
mod foreign_messages;
mod format;
pub mod journal;
mod lookup;
mod message_codec;
mod metadata;
mod prompt_history;
mod recover;
mod sessions;

pub use error::StoreError;
pub use file_name::session_name;
pub use journal::{Journal, JournaledTurn, Journals, OrphanedJournal, Record};
pub use lookup::NotFound;
pub use prompt_history::History;
pub use recover::{Recovered, recover, recover_words};
pub use sessions::Sessions;
