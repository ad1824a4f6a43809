//! A folder of notes. Nothing outside it is read or written, even through `..` or a symbolic link.

use super::NotesError;
use super::note_file::NotePath;
use crate::files;
use crate::search::DocumentFingerprint;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

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

/// A folder that exists, without symbolic links in its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vault {
    root: PathBuf,
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
        if !root.is_dir() {
            return Err(failed("it is not a folder".to_owned()));
        }
        fs::read_dir(&root).map_err(|error| failed(files::describe_io_error(&error)))?;
        Ok(Self { root })
    }

    /// Whether a file with this name is a note.
    pub fn is_note(path: &Path) -> bool {
        is_note(path)
    }

    /// Lists the note at `path`, which must be an absolute path below the vault. The listing is empty
    /// if the file is deleted, hidden or not a note.
    pub fn list_file(&self, path: &Path) -> Listing {
        let mut listing = Listing::default();
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        if is_note(path) && !is_hidden(below) {
            self.add_note(path, &mut listing);
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
        files::check_writable(&self.root).map_err(|error| NotesError::Unwritable {
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
            match files::create_new(&path, text.as_bytes(), NOTE_MODE) {
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
        let mut folders = vec![(self.root.clone(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    listing.has_unread_folders = true;
                    listing.skip(
                        &key_of(folder.strip_prefix(&self.root).unwrap_or(&folder)),
                        &error,
                    );
                    continue;
                }
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && depth < DEPTH_MAX {
                    folders.push((entry.path(), depth + 1));
                } else if is_folder {
                    let folder = entry.path();
                    let below = folder.strip_prefix(&self.root).unwrap_or(&folder);
                    let why = format!("it is more than {DEPTH_MAX} folders deep");
                    listing.skipped.push((key_of(below), why));
                } else if !is_folder && is_note(Path::new(&name)) {
                    if listing.notes.len() == NOTES_MAX {
                        listing.is_truncated = true;
                        return listing;
                    }
                    self.add_note(&entry.path(), &mut listing);
                } else if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    listing.has_linked_folders |= entry.path().is_dir();
                }
            }
        }
        listing
    }

    fn add_note(&self, path: &Path, listing: &mut Listing) {
        let Ok(below) = path.strip_prefix(&self.root) else {
            return;
        };
        let key = key_of(below);
        if below.to_str().is_none() {
            listing
                .skipped
                .push((key, "its name is not UTF-8".to_owned()));
            return;
        }
        let is_link = path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_symlink());
        let leads_outside =
            || fs::canonicalize(path).is_ok_and(|target| !target.starts_with(&self.root));
        if is_link && leads_outside() {
            let why = "it is a link to a file outside the notes folder".to_owned();
            listing.skipped.push((key, why));
            return;
        }
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                listing.has_linked_folders |= is_link && metadata.is_dir();
            }
            Ok(metadata) if metadata.len() > NOTE_BYTES_MAX => {
                let megabytes = NOTE_BYTES_MAX >> 20;
                listing
                    .skipped
                    .push((key, format!("it is larger than {megabytes} MB")));
            }
            Ok(metadata) => listing.notes.push(NoteFile {
                key,
                fingerprint: fingerprint(&metadata),
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

pub(super) fn fingerprint(metadata: &fs::Metadata) -> DocumentFingerprint {
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ns = modified.map_or(0, |time| time.as_nanos());
    DocumentFingerprint {
        size: metadata.len(),
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
