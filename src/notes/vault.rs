//! A folder of notes. Nothing outside it is read or written, even through `..` or a symbolic link.

use super::NotesError;
use crate::files;
use crate::search::{DocumentFingerprint, composed};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum number of notes of a vault. Further ones are ignored.
pub const NOTES_MAX: usize = 100_000;
/// Maximum depth of nested folders.
const DEPTH_MAX: usize = 32;
/// Larger notes are not indexed.
pub const NOTE_BYTES_MAX: u64 = 4 << 20;
/// Attempts to find a free name for a note.
const NAMES_MAX: usize = 1_000;
/// New notes are readable by other users, like files that editors create.
const NOTE_MODE: u32 = 0o644;

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

/// The notes of a vault.
#[derive(Debug, Default)]
pub struct Listing {
    pub notes: Vec<NoteFile>,
    /// There are more than [`NOTES_MAX`] notes.
    pub is_truncated: bool,
    /// Paths that could not be read or are too large, each with the reason.
    pub skipped: Vec<(String, String)>,
}

impl Vault {
    /// # Errors
    /// There is no such folder, or it cannot be read.
    pub fn open(folder: &Path) -> Result<Self, NotesError> {
        let failed = |why: String| NotesError::Vault {
            path: folder.display().to_string(),
            why,
        };
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
        let is_hidden = |part: &std::ffi::OsStr| part.as_encoded_bytes().starts_with(b".");
        if is_note(path) && !below.iter().any(is_hidden) {
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

    /// Whether `other` is this folder or lies in it.
    pub fn contains(&self, other: &Self) -> bool {
        other.root.starts_with(&self.root)
    }

    /// The path of an existing note, given as a path below the vault or as an absolute path.
    ///
    /// # Errors
    /// There is no such file, it is not a note, or it lies outside the vault.
    pub fn find(&self, note: &str) -> Result<NotePath, NotesError> {
        let failed = |why: String| NotesError::Note {
            path: note.to_owned(),
            why,
        };
        let given = Path::new(note);
        let goes_up = given.components().any(|part| part == Component::ParentDir);
        if goes_up {
            return Err(failed(
                "`..` is not allowed in the path of a note".to_owned(),
            ));
        }
        // An absolute path replaces the root; the location of the file is checked below.
        let joined = self.root.join(given);
        let mut found = fs::canonicalize(&joined);
        if found.is_err() && !is_note(&joined) {
            let mut with_extension = joined.into_os_string();
            with_extension.push(".md");
            found = fs::canonicalize(PathBuf::from(with_extension));
        }
        let path = match found {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let found = self.find_other_spelling(note);
                found.ok_or_else(|| failed("there is no such note".to_owned()))?
            }
            Err(error) => return Err(failed(files::describe_io_error(&error))),
        };
        let Ok(below) = path.strip_prefix(&self.root) else {
            return Err(failed("it lies outside the notes folder".to_owned()));
        };
        if !is_note(&path) {
            return Err(failed("it is not a Markdown file (.md)".to_owned()));
        }
        Ok(NotePath {
            key: key_of(below),
            path: path.clone(),
        })
    }

    /// The note whose path reads the same but has different code points, such as the decomposed
    /// Hangul of macOS.
    fn find_other_spelling(&self, note: &str) -> Option<PathBuf> {
        let below = Path::new(note);
        let below = below.strip_prefix(&self.root).unwrap_or(below);
        let wanted = composed(&key_of(below)).into_owned();
        let with_extension = format!("{wanted}.md");
        let is_wanted = |key: &str| {
            let key = composed(key);
            key == wanted || key == with_extension
        };
        let notes = self.list().notes;
        let found = notes.into_iter().find(|file| is_wanted(&file.key))?;
        fs::canonicalize(self.root.join(found.key)).ok()
    }

    /// The text of a note. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// It cannot be read, is over 4 MB, or is not text.
    pub fn read(&self, note: &NotePath) -> Result<String, NotesError> {
        let failed = |why: String| NotesError::Note {
            path: note.key.clone(),
            why,
        };
        let bytes = files::read(&note.path, NOTE_BYTES_MAX)
            .map_err(|error| failed(files::describe_io_error(&error)))?
            .ok_or_else(|| failed("there is no such file".to_owned()))?;
        if bytes.contains(&0) {
            return Err(failed("it is not text".to_owned()));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
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
                    listing.skip(
                        &key_of(folder.strip_prefix(&self.root).unwrap_or(&folder)),
                        &error,
                    );
                    continue;
                }
            };
            for entry in entries.flatten() {
                if listing.notes.len() == NOTES_MAX {
                    listing.is_truncated = true;
                    return listing;
                }
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder && depth < DEPTH_MAX {
                    folders.push((entry.path(), depth + 1));
                } else if !is_folder && is_note(Path::new(&name)) {
                    self.add_note(&entry.path(), &mut listing);
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
            Ok(metadata) if !metadata.is_file() => {}
            Ok(metadata) if metadata.len() > NOTE_BYTES_MAX => {
                let megabytes = NOTE_BYTES_MAX >> 20;
                listing
                    .skipped
                    .push((key, format!("it is larger than {megabytes} MB")));
            }
            Ok(metadata) => {
                let modified = metadata.modified().ok();
                let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let modified_ns = modified.map_or(0, |time| time.as_nanos());
                listing.notes.push(NoteFile {
                    key,
                    fingerprint: DocumentFingerprint {
                        size: metadata.len(),
                        modified_ns: i64::try_from(modified_ns).unwrap_or(i64::MAX),
                    },
                });
            }
            // Deleted in the meantime, or a broken link.
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

/// An existing note of a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePath {
    /// The path below the vault, with `/` between its parts.
    pub key: String,
    pub path: PathBuf,
}

fn is_note(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

fn key_of(below: &Path) -> String {
    let parts = below
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
