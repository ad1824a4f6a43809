//! Finds and reads single notes of a vault.

use super::NotesError;
use super::vault::{
    NOTE_BYTES_MAX, Vault, check_path, display_path, fingerprint, is_hidden, key_of,
};
use crate::files;
use crate::search::composed;
use rustix::fs::fstat;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Maximum number of attempts to read a file that keeps changing.
const READS_MAX: usize = 3;

/// Maximum number of notes that an error lists.
const NAMES_SHOWN_MAX: usize = 3;

const OUTSIDE: &str = "it lies outside the notes folder";

/// An existing note of a vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePath {
    /// The path below the vault, with `/` between its parts.
    pub key: String,
    pub path: PathBuf,
}

impl Vault {
    /// The path of an existing note, given as a path below the vault or as an absolute path, perhaps
    /// without `.md`.
    ///
    /// # Errors
    /// There is no such file, it is not a note, or it lies outside the vault.
    pub fn find(&self, note: &str) -> Result<NotePath, NotesError> {
        let failed = |why: String| NotesError::UnreadableNote {
            path: display_path(note),
            why,
        };
        let given = Path::new(note);
        check_path(given).map_err(|why| failed(why.to_owned()))?;
        let goes_up = given.components().any(|part| part == Component::ParentDir);
        if goes_up {
            return Err(failed(
                "`..` is not allowed in the path of a note".to_owned(),
            ));
        }
        // An absolute path replaces the root; the location of the file is checked below.
        let joined = self.root().join(given);
        let mut found = self.resolve(&joined);
        if found.is_err() && !Self::is_note(&joined) {
            let mut with_extension = joined.into_os_string();
            with_extension.push(".md");
            found = self.resolve(Path::new(&with_extension));
        }
        let found = match found {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let found = self.find_other_spelling(note);
                Some(found.ok_or_else(|| failed("there is no such note".to_owned()))?)
            }
            Err(error) => return Err(failed(files::describe_io_error(&error))),
        };
        let below = found.ok_or_else(|| failed(OUTSIDE.to_owned()))?;
        if !Self::is_note(&below) {
            return Err(failed("it is not a Markdown file (.md)".to_owned()));
        }
        if is_hidden(&below) {
            return Err(failed("hidden files are not notes".to_owned()));
        }
        Ok(NotePath {
            key: key_of(&below),
            path: self.root().join(below),
        })
    }

    /// The note that a user names: by a path, which may begin with `~` or be in quotation marks, or by a
    /// file name in any folder, with or without its extension. Case does not matter.
    ///
    /// # Errors
    /// As for [`Self::find`], or several notes have this name.
    pub(super) fn find_named(&self, name: &str) -> Result<NotePath, NotesError> {
        let error = match self.find(name) {
            Ok(note) => return Ok(note),
            Err(error) => error,
        };
        let name = unquoted(name);
        if let Ok(note) = self.find(&files::expand_home(name).to_string_lossy()) {
            return Ok(note);
        }
        let wanted = composed(name).to_lowercase();
        let is_named = |key: &String| {
            let key = composed(key).to_lowercase();
            let file_name = key.rsplit('/').next().unwrap_or(&key);
            let names = [key.as_str(), file_name];
            let stems = names.map(|name| name.rsplit_once('.').map_or(name, |(stem, _)| stem));
            names.contains(&wanted.as_str()) || stems.contains(&wanted.as_str())
        };
        let keys = self.list().notes.into_iter().map(|note| note.key);
        let keys: Vec<String> = keys.filter(is_named).collect();
        match &keys[..] {
            [] => Err(error),
            [key] => self.find(key),
            several => {
                let shown_keys: Vec<String> = several
                    .iter()
                    .take(NAMES_SHOWN_MAX)
                    .map(|key| display_path(key))
                    .collect();
                Err(NotesError::UnreadableNote {
                    path: display_path(name),
                    why: format!(
                        "{} notes have this name: {}",
                        several.len(),
                        shown_keys.join(", ")
                    ),
                })
            }
        }
    }

    /// Whether there is a file, folder or link with this path below the vault, readable or not.
    pub(super) fn contains(&self, note: &str) -> bool {
        let mut parts = Path::new(note).components();
        let is_below = parts.all(|part| matches!(part, Component::Normal(_)));
        is_below && fs::symlink_metadata(self.root().join(note)).is_ok()
    }

    /// The note whose path reads the same but has different code points, such as the decomposed
    /// Hangul of macOS.
    fn find_other_spelling(&self, note: &str) -> Option<PathBuf> {
        let below = Path::new(note);
        let below = below.strip_prefix(self.root()).unwrap_or(below);
        let wanted = composed(&key_of(below)).into_owned();
        let with_extension = format!("{wanted}.md");
        let is_wanted = |key: &str| {
            let key = composed(key);
            key == wanted || key == with_extension
        };
        let notes = self.list().notes;
        let found = notes.into_iter().find(|file| is_wanted(&file.key))?;
        self.resolve(&self.root().join(found.key)).ok()?
    }

    /// The text of a note. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// It cannot be read, is over 4 MB, is not text, or keeps changing.
    pub fn read(&self, note: &NotePath) -> Result<String, NotesError> {
        let open = || self.open_note(&note.path);
        let bytes = read_settled(open, |file| files::read_open(file, NOTE_BYTES_MAX));
        bytes
            .and_then(|bytes| match bytes.contains(&0) {
                true => Err("it is not text".to_owned()),
                false => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            })
            .map_err(|why| NotesError::UnreadableNote {
                path: note.key.clone(),
                why,
            })
    }

    fn open_note(&self, path: &Path) -> io::Result<File> {
        let target = self.resolve(path)?;
        let below = target.ok_or_else(|| io::Error::other(OUTSIDE))?;
        files::open_below(&self.folder, &below)
    }
}

fn unquoted(text: &str) -> &str {
    let quotes = ['"', '\''].into_iter();
    let mut inner = quotes.filter_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inner.next().unwrap_or(text)
}

/// Opens and reads a file, and starts over if it changes in the meantime, for example because an editor
/// is saving it.
fn read_settled(
    open: impl Fn() -> io::Result<File>,
    mut read: impl FnMut(&File) -> io::Result<Vec<u8>>,
) -> Result<Vec<u8>, String> {
    let state = |file: &File| fstat(file).ok().map(|stat| fingerprint(&stat));
    for _ in 0..READS_MAX {
        let why = |error: io::Error| match error.kind() {
            ErrorKind::FileTooLarge => format!("it is larger than {} MB", NOTE_BYTES_MAX >> 20),
            ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => files::describe_io_error(&error),
        };
        let file = open().map_err(why)?;
        let before = state(&file);
        let bytes = read(&file).map_err(why)?;
        if state(&file) == before {
            return Ok(bytes);
        }
    }
    Err("another program is changing it, so try again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_may_name_a_note_by_its_file_name_in_upper_or_lower_case() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        for name in [
            "home/Router.md",
            "tea.md",
            "old/tea.md",
            "a/plan.md",
            "b/plan.md",
        ] {
            let path = vault.root().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, "# A").expect("written");
        }
        let found = |name: &str| match vault.find_named(name) {
            Ok(note) => note.key,
            Err(error) => error.to_string(),
        };
        for name in [
            "router",
            "rOUTER.md",
            "HOME/router",
            "\"home/Router.md\"",
            "'router'",
        ] {
            assert_eq!(found(name), "home/Router.md", "{name}");
        }
        assert_eq!(found("tea"), "tea.md", "a path comes first");
        let several = "The note plan cannot be read: 2 notes have this name: a/plan.md, b/plan.md.";
        assert_eq!(found("plan"), several);
        assert!(found("pla").ends_with("there is no such note."));
        assert!(found("../home/Router.md").contains("`..` is not allowed"));
    }

    #[test]
    fn a_note_that_changes_while_it_is_read_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.md");
        fs::write(&path, "half").expect("written");
        let open = || File::open(&path);
        let mut reads = 0;
        let settled = read_settled(open, |file| {
            reads += 1;
            let bytes = files::read_open(file, NOTE_BYTES_MAX);
            if reads == 1 {
                fs::write(&path, "half and the rest").expect("written");
            }
            bytes
        });
        assert_eq!(settled, Ok(b"half and the rest".to_vec()));
        let changing = read_settled(open, |file| {
            let bytes = files::read_open(file, NOTE_BYTES_MAX)?;
            fs::write(&path, [&bytes[..], b"x"].concat()).expect("written");
            Ok(bytes)
        });
        let why = "another program is changing it, so try again";
        assert_eq!(changing, Err(why.to_owned()));
        fs::remove_file(&path).expect("removed");
        let deleted = read_settled(open, |file| files::read_open(file, NOTE_BYTES_MAX));
        assert_eq!(deleted, Err("there is no such file".to_owned()));
    }
}
