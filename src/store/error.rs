//! Errors in accessing saved sessions, journals and prompt history.

use crate::domain::{Advice, Notice, SessionId};
use crate::files;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("`{0}` is not a session name")]
    InvalidName(SessionId),
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// The file was not changed.
    #[error("the session `{id}` cannot be read: {why}")]
    Unreadable { id: SessionId, why: String },
    #[error("the conversation did not open within 30 seconds")]
    OpenTimedOut,
    /// A bug; the log has the details.
    #[error("humble failed unexpectedly while opening the conversation")]
    OpenPanicked,
    /// The session has no file yet; the caller must use `SessionStore::create` instead.
    #[error("the conversation has no file yet")]
    NotCreated,
    /// Another program has changed the messages in the file since it was opened. The file was
    /// not changed; the conversation can be saved as a new session.
    #[error("the session `{0}` was changed by another program")]
    ChangedElsewhere(SessionId),
    #[error("{} cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
}

impl StoreError {
    /// The notice for an action that neither opens a conversation nor saves the open one. `failed`
    /// begins its message, such as `Not deleted`.
    pub fn notice_for(&self, failed: &str) -> Notice {
        let mut notice = self.notice();
        notice.what = format!("{failed}: {self}.");
        if matches!(self, Self::Unwritable { .. }) {
            notice.why = Some("Nothing was changed.".to_owned());
        }
        notice
    }

    /// The notice for opening or saving a conversation.
    pub fn notice(&self) -> Notice {
        match self {
            Self::InvalidName(_) | Self::NotFound(_) => {
                Notice::failure(format!("Not found: {self}."))
                    .with_advice("See the list of sessions.")
            }
            Self::Unreadable { why, .. }
                if why == files::IS_A_FOLDER || why == files::NOT_A_REGULAR_FILE =>
            {
                Notice::failure(format!("Not opened: {self}."))
                    .with_reason("It was not changed.")
                    .with_advice("Move it out of the sessions folder.")
            }
            Self::Unreadable { .. } => Notice::failure(format!("Not opened: {self}."))
                .with_reason("The file was not changed.")
                .with_advice("Repair the JSON in a text editor."),
            Self::OpenTimedOut => Notice::failure(format!("Not opened: {self}."))
                .with_advice("Check the drive that it is on."),
            Self::OpenPanicked => {
                Notice::failure(format!("Not opened: {self}.")).with_advice(Advice::ShowLog)
            }
            Self::NotCreated => Notice::failure(format!("Not saved: {self}.")),
            Self::ChangedElsewhere(_) => Notice::warning(format!("Not saved: {self}."))
                .with_reason("The file was not overwritten."),
            Self::Unwritable { path, why } if why == files::FILE_EXISTS => {
                let (what, path) = (format!("Not saved: {self}."), path.display());
                Notice::failure(what)
                    .with_reason("Earlier saves are intact.")
                    .with_advice(format!("Move the file {path}: a folder is needed there."))
            }
            Self::Unwritable { .. } => Notice::failure(format!("Not saved: {self}."))
                .with_reason("Earlier saves are intact.")
                .with_advice("Free disk space or change the permissions."),
        }
    }
}
