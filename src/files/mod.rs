//! File access that survives a crash, a full disk and a second instance: sidecar lock files,
//! atomic replacement that follows symbolic links, exclusive creation, append-only records, and access
//! below an open folder without following links. Independent of file formats and of the program's
//! folders.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode, fchmod, openat, statat};
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

mod below;
mod permissions;
mod temporary;

pub use below::{open_below, stat_below};
pub use permissions::take_tightened_paths;
pub use temporary::TemporaryFile;

/// The mode of files that may contain secrets or conversations.
pub const PRIVATE_MODE: u32 = 0o600;
/// The longest wait for a lock held by another program.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The number of symbolic links after which a chain counts as a cycle.
const LINKS_MAX: usize = 40;
/// A temporary file older than this belongs to no running program.
const TEMPORARY_AGE_MAX: Duration = Duration::from_secs(3600);

/// Why [`read`] rejects a folder. `StoreError` recognizes this text.
pub const IS_A_FOLDER: &str = "it is a folder";
/// Why [`read`] rejects a pipe or a device. `StoreError` recognizes this text.
pub const NOT_A_REGULAR_FILE: &str = "it is not a regular file";
/// Why a folder cannot be created. `StoreError` recognizes this text.
pub const FILE_EXISTS: &str = "a file with this name already exists";

/// Why [`update`] failed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError<E> {
    #[error("cannot be read: {}", describe_io_error(.0))]
    Read(io::Error),
    #[error("cannot be written: {}", describe_io_error(.0))]
    Write(io::Error),
    /// The caller's change function failed.
    #[error("{0}")]
    Refused(E),
}

/// An exclusive lock between processes, released on drop.
#[derive(Debug)]
pub struct FileLock {
    _file: Option<File>,
}

impl FileLock {
    /// Locks the lock file at `path`, which is never removed: two programs could otherwise hold
    /// locks on two different files of the same name. Proceeds without a lock if the file system
    /// does not support locks.
    ///
    /// # Errors
    /// `TimedOut` after 2 s, or the error from opening or locking the file.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        set_mode(&mut options, PRIVATE_MODE);
        let file = options.open(path)?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: Some(file) }),
                // Some network file systems do not support locks. Saving without a lock is
                // better than not saving.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                    return Ok(Self { _file: None });
                }
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    let message = format!("another program has locked {}", path.display());
                    return Err(io::Error::new(ErrorKind::TimedOut, message));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL_INTERVAL),
            }
        }
    }

    /// Locks the lock file at `path`; `None` if another program holds the lock. If locking fails
    /// for any other reason, such as a file system without locks, proceeds without a lock.
    ///
    /// # Errors
    /// The error from opening the file.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        set_mode(&mut options, PRIVATE_MODE);
        let file = options.open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(_)) => Ok(Some(Self { _file: None })),
        }
    }

    /// Locks `NAME.lock` next to the target of `path`, so two links to the same file share
    /// one lock.
    ///
    /// # Errors
    /// See [`FileLock::acquire`].
    pub fn acquire_for(path: &Path) -> io::Result<Self> {
        let mut name = OsString::from(follow_links(path)?);
        name.push(".lock");
        Self::acquire(Path::new(&name))
    }
}

/// Reads a regular file of at most `bytes_max` bytes; `None` if it does not exist.
///
/// # Errors
/// `FileTooLarge`, or the file-system error. Rejects folders, and also pipes and devices, which could
/// block the reader.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        result => result?,
    };
    check_regular(&metadata)?;
    read_open(&File::open(path)?, bytes_max).map(Some)
}

/// Reads an open file, as [`read`] does.
///
/// # Errors
/// As for [`read`].
pub fn read_open(file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    let mut bytes = Vec::with_capacity(metadata.len().min(bytes_max) as usize);
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("it is larger than {bytes_max} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, IS_A_FOLDER));
    }
    if !metadata.is_file() {
        return Err(io::Error::other(NOT_A_REGULAR_FILE));
    }
    Ok(())
}

/// Atomically replaces the file at `path`. Follows symbolic links. A new file gets
/// `mode`; an existing one keeps its permissions, limited to those in `mode`.
///
/// # Errors
/// The file-system error; the old file is then unchanged.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if replace_in(CWD, &follow_links(path)?, bytes, mode)? {
        permissions::record_tightened(path);
    }
    Ok(())
}

/// Like [`replace`], for a path relative to an open folder, and without following links. Returns whether
/// the old file had permissions beyond `mode`.
///
/// # Errors
/// As for [`replace`].
pub fn replace_in(
    folder: BorrowedFd<'_>,
    path: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<bool> {
    let mode = Mode::from(mode as RawMode);
    let old_file = statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).ok();
    let old_mode = old_file.map(|stat| Mode::from(stat.st_mode));
    let new_mode = old_mode.map_or(mode, |old_mode| old_mode & mode);
    write_temporary(folder, path, bytes, new_mode)?.replace(path)?;
    sync_parent(folder, path);
    Ok(old_mode.is_some_and(|old_mode| !mode.contains(old_mode)))
}

/// Locks and reads a file, lets `change` compute its new contents, and replaces it. Writes
/// nothing if the contents stay the same.
///
/// # Errors
/// See [`UpdateError`]; the file is then unchanged.
pub fn update<E>(
    path: &Path,
    mode: u32,
    bytes_max: u64,
    change: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, E>,
) -> Result<(), UpdateError<E>> {
    let _lock = FileLock::acquire_for(path).map_err(UpdateError::Write)?;
    let current = read(path, bytes_max).map_err(UpdateError::Read)?;
    let old_bytes = current.clone();
    let new_bytes = change(current).map_err(UpdateError::Refused)?;
    if old_bytes.as_deref() == Some(&new_bytes) {
        return Ok(());
    }
    replace(path, &new_bytes, mode).map_err(UpdateError::Write)
}

/// Creates a file atomically: it appears at `path` only once its contents are complete.
///
/// # Errors
/// `AlreadyExists` if the name is taken, even by a dangling link, or the file-system error. An
/// existing file is never changed.
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    create_new_in(CWD, path, bytes, mode)
}

/// Like [`create_new`], for a path relative to an open folder.
///
/// # Errors
/// As for [`create_new`].
pub fn create_new_in(
    folder: BorrowedFd<'_>,
    path: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let mode = Mode::from(mode as RawMode);
    write_temporary(folder, path, bytes, mode)?.rename_new(path)?;
    sync_parent(folder, path);
    Ok(())
}

/// Appends one record in a single write. If a crash left a partial record, ends that line
/// first.
///
/// # Errors
/// `InvalidInput` if the record contains a line break, or the file-system error.
pub fn append_line(path: &Path, line: &str, mode: u32) -> io::Result<()> {
    if line.contains('\n') {
        let message = "a record must be a single line";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    let mut file = open_append(path, mode)?;
    let ends_mid_line = ends_mid_line(&mut file)?;
    let record = format!("{}{line}\n", if ends_mid_line { "\n" } else { "" });
    file.write_all(record.as_bytes())
}

/// Opens a file for appending and creates it with `mode` if needed. Removes permissions
/// beyond `mode` from an existing file.
///
/// # Errors
/// The file-system error.
pub fn open_append(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    set_mode(&mut options, mode);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    let old_mode = permissions::mode_bits(&metadata);
    // The mode of another user's file cannot be changed; write to the file anyway.
    if metadata.is_file() && old_mode & !mode != 0 && set_file_mode(&file, old_mode & mode).is_ok()
    {
        permissions::record_tightened(path);
    }
    Ok(file)
}

/// Replaces `~` at the start with the user's home folder, as shells do.
pub fn expand_home(path: &str) -> PathBuf {
    let below = path.strip_prefix('~');
    let below = below.filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']));
    match (below, directories::UserDirs::new()) {
        (Some(rest), Some(user)) => user.home_dir().join(rest.trim_start_matches(['/', '\\'])),
        _ => PathBuf::from(path),
    }
}

/// Creates `folder` and its missing parents, on Unix accessible only to the user.
///
/// # Errors
/// The file-system error.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Checks that files can be created in `folder`.
///
/// # Errors
/// The error from creating a file.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    TemporaryFile::create(CWD, folder).map(drop)
}

/// Removes temporary files that a crash left in `folder` over an hour ago. Failures are
/// ignored; such files do no harm.
pub fn remove_stale_temporaries(folder: &Path) {
    let Ok(items) = fs::read_dir(folder) else {
        return;
    };
    for item in items.flatten() {
        let file_name = item.file_name();
        let name = file_name.to_string_lossy();
        let is_temporary = name.starts_with(temporary::PREFIX) && name.ends_with(temporary::SUFFIX);
        if is_temporary && is_stale_temporary(&item) {
            let _ = fs::remove_file(item.path());
        }
    }
}

fn is_stale_temporary(item: &fs::DirEntry) -> bool {
    let modified_at = item.metadata().and_then(|metadata| metadata.modified());
    modified_at.is_ok_and(|time| {
        SystemTime::now()
            .duration_since(time)
            .is_ok_and(|age| age > TEMPORARY_AGE_MAX)
    })
}

/// Whether `path` still refers to `file`. Another program may have removed the file after it
/// was opened and before it was locked. Compares only the sizes on systems other than Unix.
pub fn is_same_file(file: &File, path: &Path) -> bool {
    let (Ok(file_metadata), Ok(path_metadata)) = (file.metadata(), fs::symlink_metadata(path))
    else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (file_metadata.dev(), file_metadata.ino()) == (path_metadata.dev(), path_metadata.ino())
    }
    #[cfg(not(unix))]
    {
        file_metadata.len() == path_metadata.len()
    }
}

/// Describes an I/O error for the user.
pub fn describe_io_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::AlreadyExists => FILE_EXISTS.to_owned(),
        ErrorKind::NotFound => "the folder does not exist".to_owned(),
        ErrorKind::InvalidFilename => "the path is too long".to_owned(),
        ErrorKind::NotADirectory => "part of the path is a file, not a folder".to_owned(),
        _ => error.to_string(),
    }
}

/// Follows a chain of symbolic links to its target, which need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            Ok(next) => target = parent_folder(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links form a cycle"))
}

fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn write_temporary<'a>(
    folder: BorrowedFd<'a>,
    path: &Path,
    bytes: &[u8],
    mode: Mode,
) -> io::Result<TemporaryFile<'a>> {
    let temporary = TemporaryFile::create(folder, parent_folder(path))?;
    let mut file = temporary.file();
    file.write_all(bytes)?;
    fchmod(file, mode)?;
    file.sync_all()?;
    Ok(temporary)
}

/// A rename is durable only after its folder is synced. A failure is only logged: the file has
/// already been written, and some file systems cannot sync folders at all.
fn sync_parent(folder: BorrowedFd<'_>, path: &Path) {
    let parent = parent_folder(path);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = openat(folder, parent, flags, Mode::empty());
    if let Err(error) = opened
        .map_err(io::Error::from)
        .and_then(|parent| File::from(parent).sync_all())
    {
        tracing::warn!("{} could not be synced: {error}", parent.display());
    }
}

fn ends_mid_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last_byte = [0];
    file.read_exact(&mut last_byte)?;
    Ok(last_byte != [b'\n'])
}

fn set_mode(options: &mut OpenOptions, mode: u32) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, mode);
    #[cfg(not(unix))]
    let _ = (options, mode);
}

fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}
