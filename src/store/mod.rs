//! Conversations and prompts on disk. Everything here waits for the disk: whoever
//! must not wait calls it from a thread that may.

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
