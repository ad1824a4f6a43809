//! The folder of saved sessions. A new session never replaces a file, and a file that
//! cannot be read is never written.

use super::format::{self, MergeError};
use super::{StoreError, file_name};
use crate::domain::session::MessageRole;
use crate::domain::{SavedMessage, Session, SessionId, SessionSummary};
use crate::files::{self, FileLock};
use jiff::{Timestamp, Zoned};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Larger files are not sessions.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Limits of a preview: number of messages, and bytes of each.
const PREVIEW_MESSAGES_MAX: usize = 64;
const PREVIEW_BYTES_MAX: usize = 2_048;
/// A single lock for the folder, since a sidecar per session would double the number of
/// files.
const LOCK: &str = ".lock";

#[derive(Debug, Clone)]
pub struct SessionStore {
    folder: PathBuf,
}

impl SessionStore {
    /// Manages the sessions in `folder`, which is created with the first session.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Creates the file of a conversation with its first answer at `ended`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(&self, session: &Session, ended: &Zoned) -> Result<SessionId, StoreError> {
        let first = session
            .messages
            .iter()
            .find(|message| message.role == MessageRole::User);
        let prompt = first.map_or("", |message| &message.content);
        let bytes = format::serialize_new(session);
        let unwritable = |path: &Path, fault: &io::Error| StoreError::Unwritable {
            path: path.to_owned(),
            why: files::describe_io_error(fault),
        };
        files::create_folder(&self.folder).map_err(|fault| unwritable(&self.folder, &fault))?;
        for name in file_name::candidates(prompt, ended) {
            let path = self.folder.join(&name);
            if fs::symlink_metadata(&path).is_ok() {
                continue;
            }
            match files::create_new(&path, &bytes, files::PRIVATE_MODE) {
                Ok(()) => return Ok(SessionId::new(name)),
                Err(fault) if fault.kind() == ErrorKind::AlreadyExists => {}
                Err(fault) => return Err(unwritable(&path, &fault)),
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
        let unwritable = |fault: io::Error| StoreError::Unwritable {
            path: path.clone(),
            why: files::describe_io_error(&fault),
        };
        // The folder may have been removed while the program was running.
        files::create_folder(&self.folder).map_err(unwritable)?;
        let _lock = self.lock().map_err(unwritable)?;
        let bytes = match read(&path, id) {
            Ok(there) => format::merge(&there, session).map_err(|unmerged| match unmerged {
                MergeError::Conflict => StoreError::ChangedElsewhere(id.clone()),
                MergeError::Invalid(why) => unreadable(id, why),
            })?,
            Err(StoreError::NotFound(_)) => format::serialize_new(session),
            Err(fault) => return Err(fault),
        };
        files::replace(&path, &bytes, files::PRIVATE_MODE).map_err(unwritable)
    }

    /// Saves an otherwise unsaved conversation to the folder for temporary files and
    /// returns the path.
    ///
    /// # Errors
    /// The temporary file cannot be written either.
    pub fn save_to_temp_folder(session: &Session) -> Result<PathBuf, StoreError> {
        let folder = std::env::temp_dir();
        let bytes = format::serialize_new(session);
        let written = tempfile::Builder::new()
            .prefix("humble-unsaved-")
            .suffix(".json")
            .tempfile_in(&folder)
            .and_then(|mut file| {
                file.write_all(&bytes)?;
                file.as_file().sync_all()?;
                Ok(file.keep()?.1)
            });
        written.map_err(|fault| StoreError::Unwritable {
            path: folder,
            why: files::describe_io_error(&fault),
        })
    }

    /// All sessions, most recently changed first. Unreadable ones are listed with the
    /// reason.
    pub fn list(&self) -> Vec<SessionSummary> {
        let Ok(items) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut list: Vec<SessionSummary> = items
            .flatten()
            .filter_map(|item| {
                let id = SessionId::new(item.file_name().to_str()?);
                file_name::is_valid(&id).then(|| summary(&item.path(), id))
            })
            .collect();
        list.sort_by(|one, other| {
            let newest = other.changed_at.cmp(&one.changed_at);
            newest.then_with(|| other.id.cmp(&one.id))
        });
        list
    }

    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn open(&self, id: &SessionId) -> Result<Session, StoreError> {
        let bytes = read(&self.path(id)?, id)?;
        format::parse_session(id, &bytes, |_| true).map_err(|why| unreadable(id, why))
    }

    /// The first messages of a session, each truncated.
    ///
    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn preview(&self, id: &SessionId) -> Result<Session, StoreError> {
        let bytes = read(&self.path(id)?, id)?;
        let mut left = PREVIEW_MESSAGES_MAX;
        let keep = |message: &mut SavedMessage| {
            let end = message.content.floor_char_boundary(PREVIEW_BYTES_MAX);
            if end < message.content.len() {
                message.content = message.content[..end].into();
            }
            let is_kept = left > 0;
            left = left.saturating_sub(1);
            is_kept
        };
        format::parse_session(id, &bytes, keep).map_err(|why| unreadable(id, why))
    }

    /// # Errors
    /// The session does not exist or cannot be removed.
    pub fn delete(&self, id: &SessionId) -> Result<(), StoreError> {
        let path = self.path(id)?;
        let removed = self.lock().and_then(|_lock| fs::remove_file(&path));
        removed.map_err(|fault| match fault.kind() {
            ErrorKind::NotFound => StoreError::NotFound(id.clone()),
            _ => StoreError::Unwritable {
                path,
                why: files::describe_io_error(&fault),
            },
        })
    }

    fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.folder.join(LOCK))
    }

    /// Rejects names that would lead out of the folder.
    fn path(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        if file_name::is_valid(id) {
            Ok(self.folder.join(id.as_str()))
        } else {
            Err(StoreError::InvalidName(id.clone()))
        }
    }
}

fn unreadable(id: &SessionId, why: String) -> StoreError {
    let id = id.clone();
    StoreError::Unreadable { id, why }
}

fn read(path: &Path, id: &SessionId) -> Result<Vec<u8>, StoreError> {
    match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(StoreError::NotFound(id.clone())),
        Err(fault) => Err(unreadable(id, files::describe_io_error(&fault))),
    }
}

fn summary(path: &Path, id: SessionId) -> SessionSummary {
    let (mut messages, mut has_prompt) = (0, false);
    // Only the first prompt is needed, for the title.
    let keep = |message: &mut SavedMessage| {
        messages += 1;
        let is_first = message.role == MessageRole::User && !has_prompt;
        has_prompt |= is_first;
        is_first
    };
    let read = read(path, &id).and_then(|bytes| {
        format::parse_session(&id, &bytes, keep).map_err(|why| unreadable(&id, why))
    });
    let (session, broken) = match read {
        Ok(session) => (session, None),
        Err(StoreError::Unreadable { why, .. }) => (Session::new(""), Some(why)),
        Err(other) => (Session::new(""), Some(other.to_string())),
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
        message_count: messages,
        open_error: broken,
    }
}

/// The latest time recorded in the session itself. Copying or restoring a file loses its
/// modification time.
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
