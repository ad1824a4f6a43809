//! Files on disk that survive a crash, a full disk and a second instance: locked
//! sidecars, atomic replacement through symbolic links, creation that never
//! replaces, and append-only records. It knows no format and no folder of ours.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tempfile::NamedTempFile;

mod permissions;

pub use permissions::take_tightened;

/// The mode of a file that can hold a secret or a conversation.
pub const PRIVATE_MODE: u32 = 0o600;
/// How long a lock is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_POLL: Duration = Duration::from_millis(5);
/// Symbolic links followed before a chain counts as a circle.
const LINKS_MAX: usize = 40;
const TEMPORARY_PREFIX: &str = ".humble-";
const TEMPORARY_SUFFIX: &str = ".tmp";
/// The age from which a temporary file belongs to no living program.
const TEMPORARY_AGE_MAX: Duration = Duration::from_secs(3600);

/// Why something is not read: words that advice follows from.
pub const IS_A_FOLDER: &str = "it is a folder";
pub const NOT_A_REGULAR_FILE: &str = "it is not a regular file";
/// Why a folder is not made.
pub const FILE_IN_THE_WAY: &str = "a file of this name is in the way";

/// Why [`update`] left a file as it was.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError<E> {
    #[error("cannot be read: {}", describe_io_error(.0))]
    Read(io::Error),
    #[error("cannot be written: {}", describe_io_error(.0))]
    Write(io::Error),
    /// The change itself was refused.
    #[error("{0}")]
    Refused(E),
}

/// An exclusive lock between programs, released when dropped.
#[derive(Debug)]
pub struct FileLock {
    _file: Option<File>,
}

impl FileLock {
    /// Takes the lock file `path`, which stays in place: removing it would let two
    /// programs lock two different files of one name.
    ///
    /// # Errors
    /// `TimedOut` after 2 s; else what opening the file failed with.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        set_mode(&mut options, PRIVATE_MODE);
        let file = options.open(path)?;
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: Some(file) }),
                // Some network file systems know no locks. Saving without one is
                // better than never saving.
                Err(TryLockError::Error(fault)) if fault.kind() == ErrorKind::Unsupported => {
                    return Ok(Self { _file: None });
                }
                Err(TryLockError::Error(fault)) => return Err(fault),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    let why = format!("another program holds {}", path.display());
                    return Err(io::Error::new(ErrorKind::TimedOut, why));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
            }
        }
    }

    /// Takes the lock file `path` where nobody holds it. Where locks cannot be had at
    /// all it counts as taken, as in [`Lock::acquire`].
    ///
    /// # Errors
    /// What opening the file failed with.
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

    /// Takes `NAME.lock` beside what `path` leads to, so that two links to one
    /// file share a lock.
    ///
    /// # Errors
    /// As [`Lock::acquire`].
    pub fn acquire_beside(path: &Path) -> io::Result<Self> {
        let mut name = OsString::from(follow_links(path)?);
        name.push(".lock");
        Self::acquire(Path::new(&name))
    }
}

/// Reads a regular file of at most `bytes_max` bytes; `None` where there is none.
///
/// # Errors
/// A folder, a pipe or a device is refused before it could block the reader.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let metadata = match fs::metadata(path) {
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, IS_A_FOLDER));
    }
    if !metadata.is_file() {
        return Err(io::Error::other(NOT_A_REGULAR_FILE));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(bytes_max) as usize);
    File::open(path)?
        .take(bytes_max + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let why = format!("it is larger than {bytes_max} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(Some(bytes))
}

/// Puts `bytes` in the place of what `path` leads to, through symbolic links. A new file
/// gets `mode`; an old one keeps its own, without what `mode` does not grant. A crash at
/// any moment leaves the old file or the new one.
///
/// # Errors
/// What the file system said; the old file is untouched then.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let target = follow_links(path)?;
    let folder = parent_folder(&target);
    let temporary = write_temporary(folder, bytes)?;
    let was = fs::metadata(&target).ok();
    let was = was.map(|metadata| permissions::mode_bits(&metadata));
    set_file_mode(temporary.as_file(), was.map_or(mode, |was| was & mode))?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|fault| fault.error)?;
    if was.is_some_and(|was| was & !mode != 0) {
        permissions::record_tightened(path);
    }
    sync_folder(folder)
}

/// Locks, reads again, changes and replaces. A change that leaves the bytes as
/// they are writes nothing.
///
/// # Errors
/// See [`UpdateError`]; the file is as it was then.
pub fn update<E>(
    path: &Path,
    mode: u32,
    bytes_max: u64,
    change: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, E>,
) -> Result<(), UpdateError<E>> {
    let _lock = FileLock::acquire_beside(path).map_err(UpdateError::Write)?;
    let current = read(path, bytes_max).map_err(UpdateError::Read)?;
    let before = current.clone();
    let after = change(current).map_err(UpdateError::Refused)?;
    if before.as_deref() == Some(&after) {
        return Ok(());
    }
    replace(path, &after, mode).map_err(UpdateError::Write)
}

/// Creates a file that holds all of `bytes` from the moment on at which it has
/// its name.
///
/// # Errors
/// `AlreadyExists` where the name is taken, also by a dangling link; the taken
/// name is never touched.
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = parent_folder(path);
    let temporary = write_temporary(folder, bytes)?;
    set_file_mode(temporary.as_file(), mode)?;
    temporary.as_file().sync_all()?;
    temporary
        .persist_noclobber(path)
        .map_err(|fault| fault.error)?;
    sync_folder(folder)
}

/// Appends one record in one write. A record that a crash tore is ended first, so
/// that it spoils no other.
///
/// # Errors
/// `InvalidInput` where the record holds a line end.
pub fn append_line(path: &Path, line: &str, mode: u32) -> io::Result<()> {
    if line.contains('\n') {
        let why = "a record is one line";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    let mut file = open_append(path, mode)?;
    let ends_mid_line = ends_mid_line(&mut file)?;
    let record = format!("{}{line}\n", if ends_mid_line { "\n" } else { "" });
    file.write_all(record.as_bytes())
}

/// Opens a file for appending, creating it with `mode` where there is none. What `mode`
/// does not grant is taken from an old one.
///
/// # Errors
/// What the file system said.
pub fn open_append(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    set_mode(&mut options, mode);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    let was = permissions::mode_bits(&metadata);
    // A file of somebody else's cannot be changed; it is written all the same.
    if metadata.is_file() && was & !mode != 0 && set_file_mode(&file, was & mode).is_ok() {
        permissions::record_tightened(path);
    }
    Ok(file)
}

/// Creates `folder` and what is missing above it, readable by the person alone.
///
/// # Errors
/// What the file system said.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Can files be created in `folder`?
///
/// # Errors
/// Why they cannot.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    create_temporary(folder).map(drop)
}

/// Removes temporary files that a crash left in `folder` more than an hour ago.
/// What cannot be removed stays: it harms nobody.
pub fn remove_stale_temporaries(folder: &Path) {
    let Ok(items) = fs::read_dir(folder) else {
        return;
    };
    for item in items.flatten() {
        let name = item.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX);
        if ours && is_stale_temporary(&item) {
            let _ = fs::remove_file(item.path());
        }
    }
}

fn is_stale_temporary(item: &fs::DirEntry) -> bool {
    let changed = item.metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|at| {
        SystemTime::now()
            .duration_since(at)
            .is_ok_and(|age| age > TEMPORARY_AGE_MAX)
    })
}

/// Is `file` still what `path` leads to? Another program may have removed it between
/// the look at its name and the lock.
pub fn is_same_file(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (held.dev(), held.ino()) == (named.dev(), named.ino())
    }
    #[cfg(not(unix))]
    {
        held.len() == named.len()
    }
}

/// An error of the file system in the words of a person.
pub fn describe_io_error(fault: &io::Error) -> String {
    match fault.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "the quota of this disk is used up".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::AlreadyExists => FILE_IN_THE_WAY.to_owned(),
        ErrorKind::NotFound => "its folder does not exist".to_owned(),
        ErrorKind::NotADirectory => "what should be its folder is a file".to_owned(),
        _ => fault.to_string(),
    }
}

/// Where a chain of symbolic links ends; what is there need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            Ok(next) => target = parent_folder(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links form a circle"))
}

fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file in `folder` without a name of its own yet, readable by the person alone.
/// The name says nothing of the file it becomes: a long name would not fit.
///
/// # Errors
/// What the file system said.
pub fn create_temporary(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .tempfile_in(folder)
}

fn write_temporary(folder: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut temporary = create_temporary(folder)?;
    temporary.write_all(bytes)?;
    Ok(temporary)
}

/// A rename is on the disk only once its folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn ends_mid_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
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
