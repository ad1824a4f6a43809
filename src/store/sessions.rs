//! The folder of saved sessions. A new session never replaces a file, and a file that
//! cannot be read is never written.

use super::format::{self, Unmerged};
use super::{StoreError, file_name};
use crate::domain::session::Role;
use crate::domain::{SavedMessage, Session, SessionId, SessionSummary};
use crate::files::{self, Lock};
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
pub struct Sessions {
    folder: PathBuf,
}

impl Sessions {
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
            .find(|message| message.role == Role::User);
        let prompt = first.map_or("", |message| &message.content);
        let bytes = format::begun(session);
        let unwritable = |path: &Path, fault: &io::Error| StoreError::Unwritable {
            path: path.to_owned(),
            why: files::words(fault),
        };
        files::create_folder(&self.folder).map_err(|fault| unwritable(&self.folder, &fault))?;
        for name in file_name::candidates(prompt, ended) {
            let path = self.folder.join(&name);
            if fs::symlink_metadata(&path).is_ok() {
                continue;
            }
            match files::create_new(&path, &bytes, files::PRIVATE) {
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
        let id = session.id.as_ref().ok_or(StoreError::Unnamed)?;
        let path = self.path(id)?;
        let unwritable = |fault: io::Error| StoreError::Unwritable {
            path: path.clone(),
            why: files::words(&fault),
        };
        // The folder may have been removed while the program was running.
        files::create_folder(&self.folder).map_err(unwritable)?;
        let _lock = self.lock().map_err(unwritable)?;
        let bytes = match read(&path, id) {
            Ok(there) => format::merged(&there, session).map_err(|unmerged| match unmerged {
                Unmerged::Differs => StoreError::ChangedElsewhere(id.clone()),
                Unmerged::Broken(why) => broken(id, why),
            })?,
            Err(StoreError::NotFound(_)) => format::begun(session),
            Err(fault) => return Err(fault),
        };
        files::replace(&path, &bytes, files::PRIVATE).map_err(unwritable)
    }

    /// Saves an otherwise unsaved conversation to the folder for temporary files and
    /// returns the path.
    ///
    /// # Errors
    /// The temporary file cannot be written either.
    pub fn rescue(session: &Session) -> Result<PathBuf, StoreError> {
        let folder = std::env::temp_dir();
        let bytes = format::begun(session);
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
            why: files::words(&fault),
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
        format::session(id, &bytes, |_| true).map_err(|why| broken(id, why))
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
        format::session(id, &bytes, keep).map_err(|why| broken(id, why))
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
                why: files::words(&fault),
            },
        })
    }

    fn lock(&self) -> io::Result<Lock> {
        Lock::acquire(&self.folder.join(LOCK))
    }

    /// Rejects names that would lead out of the folder.
    fn path(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        if file_name::is_valid(id) {
            Ok(self.folder.join(id.as_str()))
        } else {
            Err(StoreError::BadName(id.clone()))
        }
    }
}

fn broken(id: &SessionId, why: String) -> StoreError {
    let id = id.clone();
    StoreError::Broken { id, why }
}

fn read(path: &Path, id: &SessionId) -> Result<Vec<u8>, StoreError> {
    match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(StoreError::NotFound(id.clone())),
        Err(fault) => Err(broken(id, files::words(&fault))),
    }
}

fn summary(path: &Path, id: SessionId) -> SessionSummary {
    let (mut messages, mut has_prompt) = (0, false);
    // Only the first prompt is needed, for the title.
    let keep = |message: &mut SavedMessage| {
        messages += 1;
        let is_first = message.role == Role::User && !has_prompt;
        has_prompt |= is_first;
        is_first
    };
    let read = read(path, &id)
        .and_then(|bytes| format::session(&id, &bytes, keep).map_err(|why| broken(&id, why)));
    let (session, broken) = match read {
        Ok(session) => (session, None),
        Err(StoreError::Broken { why, .. }) => (Session::new(""), Some(why)),
        Err(other) => (Session::new(""), Some(other.to_string())),
    };
    let changed_at = last_known(&id, &session)
        .or_else(|| modified(path))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    SessionSummary {
        id,
        title: session.title().to_owned(),
        model: session.model,
        started_at: session.started_at,
        changed_at,
        messages,
        broken,
    }
}

/// The latest time recorded in the session itself. Copying or restoring a file loses its
/// modification time.
fn last_known(id: &SessionId, session: &Session) -> Option<Timestamp> {
    let metadata = &session.metadata;
    let turns = metadata.turns.iter().filter_map(|turn| turn.at);
    let cancelled = metadata.cancelled.iter().map(|turn| turn.at);
    turns
        .chain(cancelled)
        .chain(session.started_at)
        .chain(file_name::time(id))
        .max()
}

fn modified(path: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    Timestamp::try_from(modified.ok()?).ok()
}
