//! What can go wrong with a saved conversation.

use crate::domain::{Notice, SessionId};
use crate::files;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("`{0}` is not the name of a session")]
    InvalidName(SessionId),
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// The file is left alone.
    #[error("the session `{id}` cannot be read: {why}")]
    Unreadable { id: SessionId, why: String },
    /// The session has no file yet; it is to be created.
    #[error("the conversation has no file yet")]
    NotCreated,
    /// Another program wrote other messages into the file since it was opened. It
    /// is left alone; what is here can be created as a session of its own.
    #[error("the session `{0}` was changed by another program")]
    ChangedElsewhere(SessionId),
    #[error("{} cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
}

impl StoreError {
    /// What happened, why, and what to do.
    pub fn notice(&self) -> Notice {
        match self {
            Self::InvalidName(_) | Self::NotFound(_) => {
                Notice::failure(format!("Not found: {self}."))
                    .with_advice("The list of sessions shows those that there are.")
            }
            Self::Unreadable { why, .. }
                if why == files::IS_A_FOLDER || why == files::NOT_A_REGULAR_FILE =>
            {
                Notice::failure(format!("Not opened: {self}."))
                    .with_reason("It is left as it is.")
                    .with_advice("Move it out of the folder of sessions.")
            }
            Self::Unreadable { .. } => Notice::failure(format!("Not opened: {self}."))
                .with_reason("The file is left as it is.")
                .with_advice("It is a JSON file: an editor can mend it."),
            Self::NotCreated => Notice::failure(format!("Not saved: {self}.")),
            Self::ChangedElsewhere(_) => Notice::warning(format!("Not saved there: {self}."))
                .with_reason("What stands in it is left as it is."),
            Self::Unwritable { path, why } if why == files::FILE_IN_THE_WAY => {
                let (what, path) = (format!("Not saved: {self}."), path.display());
                Notice::failure(what)
                    .with_reason("What was saved before is untouched.")
                    .with_advice(format!(
                        "Move the file {path} away: a folder belongs there."
                    ))
            }
            Self::Unwritable { .. } => Notice::failure(format!("Not saved: {self}."))
                .with_reason("What was saved before is untouched.")
                .with_advice("Make room or give yourself the right to write there."),
        }
    }
}
