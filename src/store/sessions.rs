//! The folder of saved sessions. A new session never replaces a file, and a file that
//! cannot be read is never written.

use super::format::{self, MergeError, Merged};
use super::{AttachmentStore, StoreError, file_name};
use crate::domain::session::SessionChoices;
use crate::domain::{Attachment, Session, SessionId};
use crate::files::{self, FileLock};
use jiff::Zoned;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are not read; a session is never that large.
pub(super) const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// One lock file for the whole folder, because one per session would double the number of
/// files.
const LOCK_FILE: &str = ".lock";
const ATTACHMENTS_FOLDER: &str = "attachments";

#[derive(Debug, Clone)]
pub struct SessionStore {
    pub(super) folder: PathBuf,
}

/// The user's choices after a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedChoices {
    pub ours: SessionChoices,
    pub file: SessionChoices,
    /// The title by another program that ours replaced.
    pub replaced_title: Option<String>,
}

impl SavedChoices {
    /// Choices that no other program has touched.
    pub fn unchanged(choices: SessionChoices) -> Self {
        Self {
            file: choices.clone(),
            ours: choices,
            replaced_title: None,
        }
    }
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

    /// Creates the file of a conversation. `ended_at`, usually the end of its first answer, becomes
    /// part of the name.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(&self, session: &Session, ended_at: &Zoned) -> Result<SessionId, StoreError> {
        let prompt = session.first_prompt();
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
        self.save_merged(session, None).map(|_| ())
    }

    /// Like [`Self::save`], for a session whose file contained the choices `read` when it was read or
    /// saved last. Another program may have changed them since.
    ///
    /// # Errors
    /// As for [`Self::save`].
    pub fn save_since(
        &self,
        session: &Session,
        read: &SessionChoices,
    ) -> Result<SavedChoices, StoreError> {
        self.save_merged(session, Some(read))
    }

    fn save_merged(
        &self,
        session: &Session,
        read: Option<&SessionChoices>,
    ) -> Result<SavedChoices, StoreError> {
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
        let merged = match read_file(&path, id) {
            Ok(current_bytes) => merge(id, &current_bytes, session, read)?,
            Err(StoreError::NotFound(_)) => {
                let bytes = format::serialize_new(session);
                files::replace(&path, &bytes, files::PRIVATE_MODE).map_err(unwritable)?;
                return Ok(SavedChoices::unchanged(session.metadata.choices()));
            }
            Err(error) => return Err(error),
        };
        files::replace(&path, &merged.bytes, files::PRIVATE_MODE).map_err(unwritable)?;
        let (was, is) = (merged.former_choices.title, merged.choices.title.clone());
        let is_replaced = was != is && read.is_some_and(|read| read.title != was);
        Ok(SavedChoices {
            ours: session.metadata.choices(),
            file: merged.choices,
            replaced_title: was.filter(|_| is_replaced),
        })
    }

    /// Saves a conversation to the folder for temporary files, because it cannot be saved elsewhere.
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

    /// Reads a session.
    ///
    /// # Errors
    /// The session does not exist or cannot be read.
    pub fn open(&self, id: &SessionId) -> Result<Session, StoreError> {
        let bytes = read_file(&self.path(id)?, id)?;
        let session = format::parse_session(id, &bytes, |_| true);
        let mut session = session.map_err(|why| unreadable(id, why))?;
        self.attachments().load_session(&mut session);
        Ok(session)
    }

    /// Preserves unknown data. On failure, the file is unchanged.
    pub(super) fn change(
        &self,
        id: &SessionId,
        change: impl FnOnce(&mut Session),
    ) -> Result<(), StoreError> {
        let path = self.path(id)?;
        let unwritable = |error: io::Error| StoreError::Unwritable {
            path: path.clone(),
            why: files::describe_io_error(&error),
        };
        let _lock = self.lock().map_err(unwritable)?;
        let current_bytes = read_file(&path, id)?;
        let session = format::parse_session(id, &current_bytes, |_| true);
        let mut session = session.map_err(|why| unreadable(id, why))?;
        change(&mut session);
        let merged = merge(id, &current_bytes, &session, None)?;
        files::replace(&path, &merged.bytes, files::PRIVATE_MODE).map_err(unwritable)
    }

    /// Sets the title of a session.
    ///
    /// # Errors
    /// As for [`Self::open`], or the file cannot be written.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), StoreError> {
        self.change(id, |session| {
            session.metadata.title = Some(title.to_owned());
        })
    }

    /// Saves a copy of a session under another title, without its branches.
    ///
    /// # Errors
    /// As for [`Self::open`], or the copy cannot be written.
    pub fn copy(
        &self,
        id: &SessionId,
        title: &str,
        copied_at: &Zoned,
    ) -> Result<SessionId, StoreError> {
        let mut copy = self.open(id)?.fork();
        copy.metadata.title = Some(title.to_owned());
        self.create(&copy, copied_at)
    }

    pub(super) fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.folder.join(LOCK_FILE))
    }

    /// Rejects names that would lead out of the folder.
    pub(super) fn path(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        if file_name::is_valid(id) {
            Ok(self.folder.join(id.as_str()))
        } else {
            Err(StoreError::InvalidName(id.clone()))
        }
    }
}

/// Includes those of its branches and cancelled turns.
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

pub(super) fn unreadable(id: &SessionId, why: String) -> StoreError {
    let id = id.clone();
    StoreError::Unreadable { id, why }
}

fn merge(
    id: &SessionId,
    current_bytes: &[u8],
    session: &Session,
    read: Option<&SessionChoices>,
) -> Result<Merged, StoreError> {
    format::merge(current_bytes, session, read).map_err(|error| match error {
        MergeError::Conflict => StoreError::ChangedElsewhere(id.clone()),
        MergeError::Invalid(why) => unreadable(id, why),
    })
}

pub(super) fn read_file(path: &Path, id: &SessionId) -> Result<Vec<u8>, StoreError> {
    match files::read(path, BYTES_MAX) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(StoreError::NotFound(id.clone())),
        Err(error) => Err(unreadable(id, files::describe_io_error(&error))),
    }
}
