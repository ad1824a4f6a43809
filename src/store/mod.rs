//! Conversations and prompts on disk. Everything here waits for the disk: whoever
//! must not wait calls it from a thread that may.

pub mod beside;
mod error;
mod format;
mod history;
mod messages;
mod name;
mod sessions;

pub use error::StoreError;
pub use history::History;
pub use name::session_name;
pub use sessions::Sessions;
