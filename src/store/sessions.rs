//! The folder of saved sessions. A new session never replaces a file, and a file that
//! cannot be read is never written.

use super::format::{self, MergeError};
use super::{AttachmentStore, StoreError, file_name};
use crate::domain::session::MessageRole;
use crate::domain::{Attachment, SavedMessage, Session, SessionId, SessionSummary};
use crate::files::{self, FileLock};
use jiff::{Timestamp, Zoned};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are not read; a session is never that large.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Maximum number of messages in a preview.
const PREVIEW_MESSAGES_MAX: usize = 64;
/// Maximum size of each message in a preview.
const PREVIEW_MESSAGE_BYTES_MAX: usize = 2_048;
/// One lock file for the whole folder, because one per session would double the number of
/// files.
const LOCK_FILE: &str = ".lock";
const ATTACHMENTS_FOLDER: &str = "attachments";

#[derive(Debug, Clone)]
pub struct SessionStore {
    folder: PathBuf,
}

impl SessionStore {
    /// Manages the sessions in `folder`, which is created along with the first session.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The contents of attached files.
    pub fn attachments(&self) -> AttachmentStore {
        AttachmentStore::new(self.folder.join(ATTACHMENTS_FOLDER))
    }

    /// Creates the file of a conversation. Its first answer ended at `ended_at`, which becomes
    /// part of the name.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(&self, session: &Session, ended_at: &Zoned) -> Result<SessionId, StoreError> {
        let first_prompt = session
            .messages
            .iter()
            .find(|message| message.role == MessageRole::User);
        let prompt = first_prompt.map_or("", |message| &message.content);
        let bytes = format::serialize_new(session);
        let unwritable = |path: &Path, error: &io::Error| StoreError::Unwritable {
            path: path.to_owned(),
            why: files::describe_io_error(error),
        };
        files::create_folder(&self.folder).map_err(|error| unwritable(&self.folder, &error))?;
        self.attachments().save(attachments_of(session))?;
        for name in file_name::candidates(prompt, ended_at) {
            let path = self.folder.join(&name);
            if fs::symlink_metadata(&path).is_ok() {
                continue;
            }
            match files::create_new(&path, &bytes, files::PRIVATE_MODE) {
                Ok(()) => return Ok(SessionId::new(name)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&path, &error)),
            }
        }
        Err(StoreError::Unwritable {
            path: self.folder.clone(),
            why: "no free file name was found".to_owned(),
        })
    }

    /// Merges a session into its file and preserves unknown data. Recreates a deleted file.
    ///
    /// # Errors
    /// The session has no file yet, another program changed or damaged the file, or writing
    /// failed. The file is then unchanged.
    pub fn save(&self, session: &Session) -> Result<(), StoreError> {
        let id = session.id.as_ref().ok_or(StoreError::NotCreated)?;
        let path = self.path(id)?;
        let unwritable = |error: io::Error| StoreError::Unwritable {
            path: path.clone(),
            why: files::describe_io_error(&error),
        };
        // The folder may have been removed while the program was running.
        files::create_folder(&self.folder).map_err(unwritable)?;
        self.attachments().save(attachments_of(session))?;
        let _lock = self.lock().map_err(unwritable)?;
        let bytes = match read(&path, id) {
            Ok(current_bytes) => {
                format::merge(&current_bytes, session).map_err(|error| match error {
                    MergeError::Conflict => StoreError::ChangedElsewhere(id.clone()),
                    MergeError::Invalid(why) => unreadable(id, why),
                })?
            }
            Err(StoreError::NotFound(_)) => format::serialize_new(session),
            Err(error) => return Err(error),
        };
        files::replace(&path, &bytes, files::PRIVATE_MODE).map_err(unwritable)
    }

    /// Saves a conversation that could not be saved otherwise to the folder for temporary files.
    /// Returns the path.
    ///
    /// # Errors
    /// The temporary file cannot be written either.
    pub fn save_to_temp_folder(session: &Session) -> Result<PathBuf, StoreError> {
        let folder = std::env::temp_dir();
        let bytes = format::serialize_new(session);
        let result = tempfile::Builder::new()
            .prefix("humble-unsaved-")
            .suffix(".json")
            .tempfile_in(&folder)
            .and_then(|mut file| {
                file.write_all(&bytes)?;
                file.as_file().sync_all()?;
                Ok(file.keep()?.1)
            });
        result.map_err(|error| StoreError::Unwritable {
            path: folder,
            why: files::describe_io_error(&error),
        })
    }

    /// All sessions, most recently changed first. Unreadable ones are listed with the
    /// reason.
    pub fn list(&self) -> Vec<SessionSummary> {
        let Ok(items) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut summaries: Vec<SessionSummary> = items
            .flatten()
            .filter_map(|item| {
                let id = SessionId::new(item.file_name().to_str()?);
                file_name::is_valid(&id).then(|| summarize(&item.path(), id))
            })
            .collect();
        summaries.sort_by(|a, b| {
            let newest_first = b.changed_at.cmp(&a.changed_at);
            newest_first.then_with(|| b.id.cmp(&a.id))
        });
        summaries
    }

    /// Reads a session.
    ///
    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn open(&self, id: &SessionId) -> Result<Session, StoreError> {
        let bytes = read(&self.path(id)?, id)?;
        let session = format::parse_session(id, &bytes, |_| true);
        let mut session = session.map_err(|why| unreadable(id, why))?;
        self.attachments().load_session(&mut session);
        Ok(session)
    }

    /// The first messages of a session, each truncated.
    ///
    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn preview(&self, id: &SessionId) -> Result<Session, StoreError> {
        let bytes = read(&self.path(id)?, id)?;
        let mut remaining = PREVIEW_MESSAGES_MAX;
        let keep = |message: &mut SavedMessage| {
            let end = message
                .content
                .floor_char_boundary(PREVIEW_MESSAGE_BYTES_MAX);
            if end < message.content.len() {
                message.content = message.content[..end].into();
            }
            let is_kept = remaining > 0;
            remaining = remaining.saturating_sub(1);
            is_kept
        };
        format::parse_session(id, &bytes, keep).map_err(|why| unreadable(id, why))
    }

    /// Deletes a session's file.
    ///
    /// # Errors
    /// The session does not exist or cannot be deleted.
    pub fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let path = self.path(id)?;
        let result = self.lock().and_then(|_lock| fs::remove_file(&path));
        self.attachments().mark_unused();
        result.map_err(|error| match error.kind() {
            ErrorKind::NotFound => StoreError::NotFound(id.clone()),
            _ => StoreError::Unwritable {
                path,
                why: files::describe_io_error(&error),
            },
        })
    }

    fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.folder.join(LOCK_FILE))
    }

    /// The path of a session's file. Rejects names that would lead out of the folder.
    fn path(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        if file_name::is_valid(id) {
            Ok(self.folder.join(id.as_str()))
        } else {
            Err(StoreError::InvalidName(id.clone()))
        }
    }
}

/// The attachments of all branches and cancelled turns.
fn attachments_of(session: &Session) -> impl Iterator<Item = &Arc<Attachment>> {
    let branches = session.branches.iter();
    let messages = session
        .messages
        .iter()
        .chain(branches.clone().flat_map(|branch| &branch.messages));
    let cancelled = std::iter::once(&session.metadata.cancelled)
        .chain(branches.map(|branch| &branch.cancelled))
        .flat_map(|records| records.iter());
    let cancelled = cancelled.flat_map(|turn| &turn.attachments);
    messages
        .flat_map(|message| &message.attachments)
        .chain(cancelled)
}

fn unreadable(id: &SessionId, why: String) -> StoreError {
    let id = id.clone();
    StoreError::Unreadable { id, why }
}

fn read(path: &Path, id: &SessionId) -> Result<Vec<u8>, StoreError> {
    match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(StoreError::NotFound(id.clone())),
        Err(error) => Err(unreadable(id, files::describe_io_error(&error))),
    }
}

/// Builds the summary of a session file, even if the file is unreadable.
fn summarize(path: &Path, id: SessionId) -> SessionSummary {
    let (mut message_count, mut has_prompt) = (0, false);
    // Only the first prompt is needed, for the title.
    let keep = |message: &mut SavedMessage| {
        message_count += 1;
        let is_first = message.role == MessageRole::User && !has_prompt;
        has_prompt |= is_first;
        is_first
    };
    let session = read(path, &id).and_then(|bytes| {
        format::parse_session(&id, &bytes, keep).map_err(|why| unreadable(&id, why))
    });
    let (session, open_error) = match session {
        Ok(session) => (session, None),
        Err(StoreError::Unreadable { why, .. }) => (Session::new(""), Some(why)),
        Err(error) => (Session::new(""), Some(error.to_string())),
    };
    let changed_at = last_activity(&id, &session)
        .or_else(|| modified_at(path))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    SessionSummary {
        id,
        title: session.title().to_owned(),
        model: session.model,
        started_at: session.started_at,
        changed_at,
        message_count,
        open_error,
    }
}

/// The latest time recorded in the session or its name. Unlike a file's modification time, it
/// survives copying and restoring.
fn last_activity(id: &SessionId, session: &Session) -> Option<Timestamp> {
    let metadata = &session.metadata;
    let turns = metadata.turns.iter().filter_map(|turn| turn.ended_at);
    let cancelled = metadata.cancelled.iter().map(|turn| turn.cancelled_at);
    turns
        .chain(cancelled)
        .chain(session.started_at)
        .chain(file_name::time_in_name(id))
        .max()
}

fn modified_at(path: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    Timestamp::try_from(modified.ok()?).ok()
}
