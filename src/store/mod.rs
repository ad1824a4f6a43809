//! Conversations and prompts on disk. Everything here waits for the disk: whoever
//! must not wait calls it from a thread that may.

pub mod beside;
mod branches;
mod error;
mod find;
mod format;
mod history;
pub mod journal;
mod lone;
mod messages;
mod name;
mod raw;
mod recover;
mod sessions;

pub use error::StoreError;
pub use find::NotFound;
pub use history::History;
pub use journal::{Found, Journal, Journals, Record, Told};
pub use name::session_name;
pub use recover::{Recovered, recover, recover_words};
pub use sessions::Sessions;
