//! A folder of notes. Nothing outside it is read or written, even through `..` or a symbolic link.

use super::NotesError;
use super::note_file::NotePath;
use crate::files::{self, TemporaryFile};
use crate::search::DocumentFingerprint;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, statat};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Maximum number of notes of a vault. Further notes are ignored.
pub const NOTES_MAX: usize = 100_000;
/// Maximum depth of nested folders.
const DEPTH_MAX: usize = 32;
/// Larger notes are neither indexed nor read.
pub const NOTE_BYTES_MAX: u64 = 4 << 20;
/// Limits of common file systems, for a path and for one name in it.
const PATH_BYTES_MAX: usize = 4_096;
const NAME_BYTES_MAX: usize = 255;
/// Maximum characters of a path in a message.
const SHOWN_CHARS_MAX: usize = 120;
/// Maximum number of attempts to find a free name for a note.
const NAMES_MAX: usize = 1_000;
/// New notes are readable by other users, like files that editors create.
pub(super) const NOTE_MODE: u32 = 0o644;

/// An open folder. Clones share it.
#[derive(Debug, Clone)]
pub struct Vault {
    /// The path without symbolic links. Only names come from it; files are opened below `folder`.
    root: PathBuf,
    pub(super) folder: Arc<File>,
}

/// A note as listed, with the fingerprint that reveals changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    /// The path below the vault, with `/` between its parts.
    pub key: String,
    pub fingerprint: DocumentFingerprint,
}

#[derive(Debug, Default)]
pub struct Listing {
    pub notes: Vec<NoteFile>,
    /// There are more than [`NOTES_MAX`] notes.
    pub is_truncated: bool,
    /// Paths that were left out, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// There are links to folders, which are not followed.
    pub has_linked_folders: bool,
    /// A folder could not be read, so its notes are missing from the list.
    pub has_unread_folders: bool,
}

impl Vault {
    /// Opens an existing folder as a vault.
    ///
    /// # Errors
    /// There is no such folder, or it cannot be read.
    pub fn open(folder: &Path) -> Result<Self, NotesError> {
        let failed = |why: String| NotesError::UnusableVault {
            path: display_path(&folder.display().to_string()),
            why,
        };
        check_path(folder).map_err(|why| failed(why.to_owned()))?;
        let root =
            fs::canonicalize(folder).map_err(|error| failed(files::describe_io_error(&error)))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&root, flags, Mode::empty()).map_err(io::Error::from);
        let folder = opened.map_err(|error| match error.kind() {
            ErrorKind::NotADirectory => failed("it is not a folder".to_owned()),
            _ => failed(files::describe_io_error(&error)),
        })?;
        let folder = Arc::new(folder.into());
        Ok(Self { root, folder })
    }

    /// The folder at `below`, a path without links below this folder.
    ///
    /// # Errors
    /// It cannot be opened, or another program has put a link there.
    pub fn subfolder(&self, below: &Path) -> Result<Self, NotesError> {
        let root: PathBuf = self.root.components().chain(below.components()).collect();
        match files::open_below(&self.folder, below) {
            Ok(folder) => Ok(Self {
                root,
                folder: Arc::new(folder),
            }),
            Err(error) => Err(NotesError::UnusableVault {
                path: display_path(&root.display().to_string()),
                why: files::describe_io_error(&error),
            }),
        }
    }

    /// Where `path` leads, as a path without links below the vault; `None` if it lies outside. This is
    /// only a name: what it names may change until it is opened below `folder`.
    pub(super) fn resolve(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let target = fs::canonicalize(path)?;
        Ok(target.strip_prefix(&self.root).ok().map(Path::to_owned))
    }

    /// Whether a file with this name is a note.
    pub fn is_note(path: &Path) -> bool {
        is_note(path)
    }

    /// Lists the note at `path`, which must be an absolute path below the vault. The listing is empty
    /// if the file is deleted, hidden or not a note.
    pub fn list_file(&self, path: &Path) -> Listing {
        let mut listing = Listing::default();
        if let Ok(below) = path.strip_prefix(&self.root)
            && is_note(path)
            && !is_hidden(below)
        {
            let stat = files::stat_below(&self.folder, below);
            self.add_note(below, stat, &mut listing);
        }
        listing
    }

    /// The key of a file in the index; `None` outside the vault.
    pub fn key(&self, path: &Path) -> Option<String> {
        path.strip_prefix(&self.root).ok().map(key_of)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of `other` below this folder; `None` if it lies elsewhere.
    pub fn path_below(&self, other: &Self) -> Option<PathBuf> {
        let below = other.root.strip_prefix(&self.root).ok()?;
        Some(below.to_path_buf())
    }

    /// Checks that notes can be created, without creating one.
    ///
    /// # Errors
    /// The folder is not writable.
    pub fn check_writable(&self) -> Result<(), NotesError> {
        TemporaryFile::create(self.folder.as_fd(), Path::new(""))
            .map(drop)
            .map_err(|error| NotesError::Unwritable {
                path: self.root.display().to_string(),
                why: files::describe_io_error(&error),
            })
    }

    /// Creates a note whose name begins with `slug`; `-2`, `-3` … follows if the name is taken.
    ///
    /// # Errors
    /// The folder is not writable, or too many notes have this name.
    pub fn create(&self, slug: &str, text: &str) -> Result<NotePath, NotesError> {
        for number in 1..=NAMES_MAX {
            let name = match number {
                1 => format!("{slug}.md"),
                _ => format!("{slug}-{number}.md"),
            };
            let path = self.root.join(&name);
            let folder = self.folder.as_fd();
            match files::create_new_in(folder, Path::new(&name), text.as_bytes(), NOTE_MODE) {
                Ok(()) => return Ok(NotePath { key: name, path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(NotesError::Unwritable {
                        path: path.display().to_string(),
                        why: files::describe_io_error(&error),
                    });
                }
            }
        }
        Err(NotesError::Unwritable {
            path: self.root.join(slug).display().to_string(),
            why: format!("{NAMES_MAX} notes already have this name"),
        })
    }

    /// All notes, sorted by path. Leaves out hidden files and folders, links to folders, and links to
    /// files outside the vault.
    pub fn list(&self) -> Listing {
        let mut listing = self.list_unsorted();
        // The same files give the same index on every machine.
        listing.notes.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        listing
    }

    fn list_unsorted(&self) -> Listing {
        let mut listing = Listing::default();
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((below, depth)) = folders.pop() {
            let opened = files::open_below(&self.folder, &below);
            let mut entries = match opened.and_then(|folder| Ok(Dir::new(folder)?)) {
                Ok(entries) => entries,
                Err(error) => {
                    listing.has_unread_folders = true;
                    listing.skip(&key_of(&below), &error);
                    continue;
                }
            };
            while let Some(Ok(entry)) = entries.read() {
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name.as_bytes().starts_with(b".") {
                    continue;
                }
                let path = below.join(name);
                let stat = entries
                    .fd()
                    .and_then(|folder| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW));
                let kind = stat.map_or(entry.file_type(), |stat| {
                    FileType::from_raw_mode(stat.st_mode)
                });
                if kind == FileType::Directory && depth < DEPTH_MAX {
                    folders.push((path, depth + 1));
                } else if kind == FileType::Directory {
                    let why = format!("it is more than {DEPTH_MAX} folders deep");
                    listing.skipped.push((key_of(&path), why));
                } else if is_note(&path) {
                    if listing.notes.len() == NOTES_MAX {
                        listing.is_truncated = true;
                        return listing;
                    }
                    self.add_note(&path, stat.map_err(io::Error::from), &mut listing);
                } else if kind == FileType::Symlink {
                    listing.has_linked_folders |= self.root.join(path).is_dir();
                }
            }
        }
        listing
    }

    /// Adds the file or link at `below` with this metadata.
    fn add_note(&self, below: &Path, stat: io::Result<Stat>, listing: &mut Listing) {
        let key = key_of(below);
        if below.to_str().is_none() {
            listing
                .skipped
                .push((key, "its name is not UTF-8".to_owned()));
            return;
        }
        let kind = |stat: &Stat| FileType::from_raw_mode(stat.st_mode);
        let is_link = stat
            .as_ref()
            .is_ok_and(|stat| kind(stat) == FileType::Symlink);
        let stat = match is_link.then(|| self.resolve(&self.root.join(below))) {
            None => stat,
            Some(Ok(Some(target))) => files::stat_below(&self.folder, &target),
            Some(Ok(None)) => {
                let why = "it is a link to a file outside the notes folder".to_owned();
                listing.skipped.push((key, why));
                return;
            }
            Some(Err(error)) => Err(error),
        };
        match stat {
            Ok(stat) if kind(&stat) != FileType::RegularFile => {
                listing.has_linked_folders |= is_link && kind(&stat) == FileType::Directory;
            }
            Ok(stat) if fingerprint(&stat).size > NOTE_BYTES_MAX => {
                let megabytes = NOTE_BYTES_MAX >> 20;
                listing
                    .skipped
                    .push((key, format!("it is larger than {megabytes} MB")));
            }
            Ok(stat) => listing.notes.push(NoteFile {
                key,
                fingerprint: fingerprint(&stat),
            }),
            Err(error) if is_link && error.kind() == ErrorKind::NotFound => {
                let why = "it is a link to a file that does not exist".to_owned();
                listing.skipped.push((key, why));
            }
            // Deleted in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => listing.skip(&key, &error),
        }
    }
}

impl Listing {
    fn skip(&mut self, key: &str, error: &std::io::Error) {
        self.skipped
            .push((key.to_owned(), files::describe_io_error(error)));
    }
}

pub(super) fn fingerprint(stat: &Stat) -> DocumentFingerprint {
    // The types of these fields differ between systems.
    let (seconds, nanoseconds) = (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
    let modified_ns = (seconds * 1_000_000_000 + nanoseconds).max(0);
    DocumentFingerprint {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: i64::try_from(modified_ns).unwrap_or(i64::MAX),
    }
}

/// Rejects paths for which the error of the operating system would be obscure.
pub(super) fn check_path(path: &Path) -> Result<(), &'static str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) {
        return Err("the path contains a NUL character");
    }
    let is_too_long = |part: Component<'_>| part.as_os_str().len() > NAME_BYTES_MAX;
    if bytes.len() > PATH_BYTES_MAX || path.components().any(is_too_long) {
        return Err("the path is too long");
    }
    Ok(())
}

/// A path from outside, shortened for a message and without control characters.
pub(super) fn display_path(path: &str) -> String {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = path.chars().take(SHOWN_CHARS_MAX).map(visible).collect();
    if path.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Whether a part of a path below the vault is hidden.
pub(super) fn is_hidden(below: &Path) -> bool {
    let is_hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
    below.iter().any(is_hidden)
}

fn is_note(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

pub(super) fn key_of(below: &Path) -> String {
    let parts = below
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn an_open_vault_stays_the_same_folder_when_a_link_takes_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("vault/inner")).expect("created");
        fs::create_dir(path("outside")).expect("created");
        fs::write(path("vault/inner/a.md"), "words").expect("written");
        fs::write(path("outside/b.md"), "secret").expect("written");
        let vault = Vault::open(&path("vault")).expect("a vault");
        let inner = vault.subfolder(Path::new("inner")).expect("a folder");
        let note = vault.find("inner/a.md").expect("a note");
        fs::rename(path("vault/inner"), path("vault/moved")).expect("renamed");
        symlink(path("outside"), path("vault/inner")).expect("linked");
        let keys = |vault: &Vault| {
            let notes = vault.list().notes.into_iter().map(|note| note.key);
            notes.collect::<Vec<_>>()
        };
        assert_eq!(keys(&inner), ["a.md"]);
        assert_eq!(keys(&vault), ["moved/a.md"]);
        vault.read(&note).expect_err("refused");
        vault.subfolder(Path::new("inner")).expect_err("refused");
        inner.create("tea", "# Tea").expect("created");
        assert!(path("vault/moved/tea.md").exists() && !path("outside/tea.md").exists());
    }

    #[test]
    fn links_that_stay_in_the_vault_are_notes() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        fs::create_dir(vault.root().join("old")).expect("created");
        fs::write(vault.root().join("old/a.md"), "words").expect("written");
        symlink("old/a.md", vault.root().join("relative.md")).expect("linked");
        symlink(
            vault.root().join("old/a.md"),
            vault.root().join("absolute.md"),
        )
        .expect("linked");
        symlink("old", vault.root().join("new")).expect("linked");
        let listing = vault.list();
        let keys: Vec<_> = listing.notes.iter().map(|note| &*note.key).collect();
        assert_eq!(keys, ["absolute.md", "old/a.md", "relative.md"]);
        for name in ["absolute", "relative.md", "new/a.md", "old/a.md"] {
            let note = vault.find(name).expect("a note");
            assert_eq!(note.key, "old/a.md", "{name}");
            assert_eq!(vault.read(&note), Ok("words".to_owned()), "{name}");
        }
        let listed = NotePath {
            key: String::new(),
            path: vault.root().join("relative.md"),
        };
        assert_eq!(
            vault.read(&listed),
            Ok("words".to_owned()),
            "as it is listed"
        );
    }
}
