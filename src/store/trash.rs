//! Deleted sessions are kept in the trash for some days, so that a deletion can be undone. Each
//! day of deletion has its own folder.

use super::session_list::summarize;
use super::sessions::BYTES_MAX;
use super::{SessionStore, StoreError, file_name};
use crate::domain::SessionId;
use crate::files;
use jiff::civil::Date;
use jiff::{ToSpan, Zoned};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Days after which a deleted session is removed for good.
pub const TRASH_DAYS: i32 = 3;

const NAME_ATTEMPTS_MAX: u32 = 99_999;

/// The folder of deleted sessions.
#[derive(Debug, Clone)]
pub struct SessionTrash {
    folder: PathBuf,
}

/// A deleted session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedSession {
    pub id: SessionId,
    path: PathBuf,
}

impl TrashedSession {
    /// The file in the trash.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl SessionTrash {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Moves a session to the trash, and removes those that have been there for too long.
    ///
    /// # Errors
    /// The session does not exist or cannot be moved.
    pub fn delete(
        &self,
        sessions: &SessionStore,
        id: &SessionId,
        now: &Zoned,
    ) -> Result<TrashedSession, StoreError> {
        let path = sessions.path(id)?;
        let day = self.folder.join(now.date().to_string());
        let moved = files::create_folder(&day).and_then(|()| {
            let _lock = sessions.lock()?;
            move_to_free_name(&path, &day, id.as_str())
        });
        self.remove_expired(sessions, now.date());
        match moved {
            Ok(path) => Ok(TrashedSession {
                id: id.clone(),
                path,
            }),
            Err(error) if !path.exists() && error.kind() == ErrorKind::NotFound => {
                Err(StoreError::NotFound(id.clone()))
            }
            Err(error) => Err(StoreError::Unwritable {
                path,
                why: files::describe_io_error(&error),
            }),
        }
    }

    /// Moves the most recently deleted session back, whichever program deleted it. Returns its id and
    /// title; `None` if the trash is empty.
    ///
    /// # Errors
    /// The session cannot be moved.
    pub fn restore_newest(
        &self,
        sessions: &SessionStore,
    ) -> Result<Option<(SessionId, String)>, StoreError> {
        files::create_folder(&sessions.folder)
            .map_err(|error| unwritable(&sessions.folder, &error))?;
        // Two programs must not restore the same session.
        let _lock = sessions
            .lock()
            .map_err(|error| unwritable(&sessions.folder, &error))?;
        let Some(newest) = self.newest() else {
            return Ok(None);
        };
        let restored = self.restore(sessions, &newest)?;
        let path = sessions.folder.join(restored.as_str());
        let (summary, _) = summarize(&path, restored.clone(), |_| ());
        let title = match summary.title.is_empty() {
            true => restored.to_string(),
            false => summary.title,
        };
        Ok(Some((restored, title)))
    }

    /// The most recently deleted session.
    fn newest(&self) -> Option<TrashedSession> {
        let mut days: Vec<(Date, PathBuf)> = self.days().collect();
        days.sort_by(|a, b| b.cmp(a));
        days.iter().find_map(|(_, day)| newest_in(day))
    }

    /// Moves a session back from the trash. Its name changes if another session has taken it.
    ///
    /// # Errors
    /// The session is no longer in the trash, or cannot be moved.
    pub fn restore(
        &self,
        sessions: &SessionStore,
        trashed: &TrashedSession,
    ) -> Result<SessionId, StoreError> {
        if !trashed.path.exists() {
            return Err(StoreError::NotFound(trashed.id.clone()));
        }
        let folder = &sessions.folder;
        files::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
        let moved = move_to_free_name(&trashed.path, folder, trashed.id.as_str());
        let restored = moved.map_err(|error| unwritable(folder, &error))?;
        let name = restored.file_name().unwrap_or_default();
        Ok(SessionId::new(name.to_string_lossy()))
    }

    /// Removes the sessions deleted more than [`TRASH_DAYS`] days before `today`. Failures are
    /// ignored; the next start or deletion tries again.
    pub fn remove_expired(&self, sessions: &SessionStore, today: Date) {
        let Ok(oldest_kept) = today.checked_sub(TRASH_DAYS.days()) else {
            return;
        };
        for (date, folder) in self.days() {
            if date < oldest_kept {
                let _ = fs::remove_dir_all(folder);
                sessions.attachments().mark_unused();
            }
        }
    }

    /// The folders of deleted sessions, whose attachments are still needed.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.days().map(|(_, folder)| folder).collect()
    }

    fn days(&self) -> impl Iterator<Item = (Date, PathBuf)> {
        let items = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        items.filter_map(|item| {
            let date = item.file_name().to_str()?.parse::<Date>().ok()?;
            Some((date, item.path()))
        })
    }
}

fn unwritable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unwritable {
        path: path.to_owned(),
        why: files::describe_io_error(error),
    }
}

/// The session most recently moved into this folder.
fn newest_in(day: &Path) -> Option<TrashedSession> {
    let items = fs::read_dir(day).into_iter().flatten().flatten();
    let sessions = items.filter_map(|item| {
        let id = SessionId::new(item.file_name().to_str()?);
        let moved_at = moved_at(&item.metadata().ok()?);
        let path = item.path();
        file_name::is_valid(&id).then_some((moved_at, TrashedSession { id, path }))
    });
    let newest = sessions.max_by(|(at, a), (other_at, b)| (at, &a.id).cmp(&(other_at, &b.id)));
    newest.map(|(_, session)| session)
}

/// The time at which a file was moved, in seconds and nanoseconds: moving keeps the modification time
/// of a file, but sets its status change time (`ctime`).
#[cfg(unix)]
fn moved_at(metadata: &fs::Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn moved_at(metadata: &fs::Metadata) -> (i64, i64) {
    let since = metadata.modified().ok();
    let since = since.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or((0, 0), |since| {
        (since.as_secs().cast_signed(), since.subsec_nanos().into())
    })
}

/// Moves a file into `folder` as `NAME.json`, `NAME_2.json` …: the first name that is free.
fn move_to_free_name(from: &Path, folder: &Path, name: &str) -> io::Result<PathBuf> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "json"));
    for number in 1..=NAME_ATTEMPTS_MAX {
        let target = folder.join(match number {
            1 => name.to_owned(),
            _ => format!("{stem}_{number}.{extension}"),
        });
        match move_without_replacing(from, &target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            moved => return moved.map(|()| target),
        }
    }
    Err(io::Error::other("no free file name was found"))
}

/// Unlike renaming, this never replaces a file.
fn move_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
            return Err(error);
        }
        Err(_) => {
            // The folders are on different file systems, or on one without links.
            let bytes = files::read(from, BYTES_MAX)?;
            let bytes = bytes.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
            files::create_new(to, &bytes, files::PRIVATE_MODE)?;
        }
        Ok(()) => {}
    }
    fs::remove_file(from).inspect_err(|_| {
        // Nothing was moved, so no copy must remain.
        let _ = fs::remove_file(to);
    })
}
