//! The folder of saved conversations. A file here is never replaced by a new
//! conversation, and one that cannot be read is never written.

use super::{StoreError, format, name};
use crate::domain::session::Role;
use crate::domain::{Session, SessionId, SessionSummary};
use crate::files::{self, Lock};
use jiff::{Timestamp, Zoned};
use serde_json::Map;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Larger files are no conversations.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// One lock for the folder: a sidecar for each of ten thousand files would double
/// their number.
const LOCK: &str = ".lock";

#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
}

impl Sessions {
    /// The sessions in `folder`, which is created when the first one is.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes a file of a conversation whose first answer ended at `ended`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(&self, session: &Session, ended: &Zoned) -> Result<SessionId, StoreError> {
        let first = session
            .messages
            .iter()
            .find(|message| message.role == Role::User);
        let prompt = first.map_or("", |message| &message.content);
        let bytes = format::merged(Map::new(), session)
            .expect("the messages of an empty file begin every conversation");
        let unwritable = |path: &Path, fault: &io::Error| StoreError::Unwritable {
            path: path.to_owned(),
            why: files::words(fault),
        };
        files::create_folder(&self.folder).map_err(|fault| unwritable(&self.folder, &fault))?;
        for name in name::candidates(prompt, ended) {
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
            why: "each name for it is taken".to_owned(),
        })
    }

    /// Writes a conversation into its file, where all that is not ours stays. A
    /// file that was deleted in the meantime is made again.
    ///
    /// # Errors
    /// The session has no file yet; another program changed or broke the file; it
    /// cannot be written. It is as it was then.
    pub fn save(&self, session: &Session) -> Result<(), StoreError> {
        let id = session.id.as_ref().ok_or(StoreError::Unnamed)?;
        let path = self.path(id)?;
        let unwritable = |fault: io::Error| StoreError::Unwritable {
            path: path.clone(),
            why: files::words(&fault),
        };
        let _lock = self.lock().map_err(unwritable)?;
        let root = match read(&path, id) {
            Ok(root) => root,
            Err(StoreError::NotFound(_)) => Map::new(),
            Err(fault) => return Err(fault),
        };
        let bytes = format::merged(root, session)
            .map_err(|format::MessagesDiffer| StoreError::ChangedElsewhere(id.clone()))?;
        files::replace(&path, &bytes, files::PRIVATE).map_err(unwritable)
    }

    /// All sessions, the one that changed last first. One that cannot be opened is
    /// listed with the reason.
    pub fn list(&self) -> Vec<SessionSummary> {
        let Ok(items) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut list: Vec<SessionSummary> = items
            .flatten()
            .filter_map(|item| {
                let id = SessionId::new(item.file_name().to_str()?);
                name::is_valid(&id).then(|| summary(&item.path(), id))
            })
            .collect();
        list.sort_by(|one, other| {
            let newest = other.changed_at.cmp(&one.changed_at);
            newest.then_with(|| other.id.cmp(&one.id))
        });
        list
    }

    /// # Errors
    /// There is none of this name, or it cannot be read.
    pub fn open(&self, id: &SessionId) -> Result<Session, StoreError> {
        let root = read(&self.path(id)?, id)?;
        Ok(format::session(id, &root))
    }

    /// # Errors
    /// There is none of this name, or it cannot be removed.
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

    /// A session is a file in this very folder, whatever its name says.
    fn path(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        if name::is_valid(id) {
            Ok(self.folder.join(id.as_str()))
        } else {
            Err(StoreError::BadName(id.clone()))
        }
    }
}

fn read(path: &Path, id: &SessionId) -> Result<Map<String, serde_json::Value>, StoreError> {
    let broken = |why: String| StoreError::Broken {
        id: id.clone(),
        why,
    };
    match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => format::parse(&bytes).map_err(broken),
        Ok(None) => Err(StoreError::NotFound(id.clone())),
        Err(fault) => Err(broken(files::words(&fault))),
    }
}

fn summary(path: &Path, id: SessionId) -> SessionSummary {
    let (session, broken) = match read(path, &id) {
        Ok(root) => (format::session(&id, &root), None),
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
        messages: session.messages.len(),
        broken,
    }
}

/// The newest time that a conversation itself knows: that of the file is lost when
/// it is copied or restored.
fn last_known(id: &SessionId, session: &Session) -> Option<Timestamp> {
    let notes = &session.notes;
    let turns = notes.turns.iter().filter_map(|turn| turn.at);
    let cancelled = notes.cancelled.iter().map(|turn| turn.at);
    turns
        .chain(cancelled)
        .chain(session.started_at)
        .chain(name::time(id))
        .max()
}

fn modified(path: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    Timestamp::try_from(modified.ok()?).ok()
}
