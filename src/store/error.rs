//! Errors of saved sessions.

use crate::domain::{Notice, SessionId};
use crate::files;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("`{0}` is not a session name")]
    BadName(SessionId),
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// The file is not touched.
    #[error("the session `{id}` cannot be read: {why}")]
    Broken { id: SessionId, why: String },
    /// The session has no file yet; call `create` instead.
    #[error("the conversation has no file yet")]
    Unnamed,
    /// Another program changed the messages in the file since it was opened. The file is
    /// not touched; the conversation can be saved as a new session.
    #[error("the session `{0}` was changed by another program")]
    ChangedElsewhere(SessionId),
    #[error("{} cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
}

impl StoreError {
    pub fn notice(&self) -> Notice {
        match self {
            Self::BadName(_) | Self::NotFound(_) => {
                Notice::failure(format!("Not found: {self}.")).advise("See the list of sessions.")
            }
            Self::Broken { why, .. } if why == files::FOLDER || why == files::NO_FILE => {
                Notice::failure(format!("Not opened: {self}."))
                    .because("It was not changed.")
                    .advise("Move it out of the sessions folder.")
            }
            Self::Broken { .. } => Notice::failure(format!("Not opened: {self}."))
                .because("The file was not changed.")
                .advise("Repair the JSON in a text editor."),
            Self::Unnamed => Notice::failure(format!("Not saved: {self}.")),
            Self::ChangedElsewhere(_) => {
                Notice::warning(format!("Not saved: {self}.")).because("That file was not changed.")
            }
            Self::Unwritable { path, why } if why == files::IN_THE_WAY => {
                let (what, path) = (format!("Not saved: {self}."), path.display());
                Notice::failure(what)
                    .because("Earlier saves are intact.")
                    .advise(format!("Move the file {path}: a folder is needed there."))
            }
            Self::Unwritable { .. } => Notice::failure(format!("Not saved: {self}."))
                .because("Earlier saves are intact.")
                .advise("Free disk space or change the permissions."),
        }
    }
}
