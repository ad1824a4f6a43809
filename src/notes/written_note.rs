//! Notes that the program wrote. They are replaced or removed only while the file is still the one
//! that was written: a regular file at the same path with the same contents.

use super::NotesError;
use super::note_file::NotePath;
use super::vault::{NOTE_BYTES_MAX, NOTE_MODE, Vault, display_path};
use crate::domain::WrittenNote;
use crate::files;
use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};

pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Vault {
    /// Removes a written note.
    ///
    /// # Errors
    /// The file is missing, changed or not in the vault, or cannot be removed.
    pub(super) fn remove_written(&self, note: &WrittenNote) -> Result<(), NotesError> {
        self.read_written(note)
            .and_then(|_| {
                let advice =
                    |error: Errno| format!("{}; delete the file yourself", describe(&error.into()));
                unlinkat(&self.folder, &note.note, AtFlags::empty()).map_err(advice)
            })
            .map_err(|why| unremovable(note, why))
    }

    /// Replaces the text of a written note. Returns the note and its old text; `None` if the note is
    /// missing, has changed since it was written, or is not in the vault.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn replace_written(
        &self,
        note: &WrittenNote,
        text: &str,
    ) -> Result<Option<(NotePath, String)>, NotesError> {
        let Ok((path, old_text)) = self.read_written(note) else {
            return Ok(None);
        };
        match self.replace(note, text) {
            Ok(()) => {
                let key = note.note.clone();
                Ok(Some((NotePath { key, path }, old_text)))
            }
            Err(error) => Err(NotesError::Unwritable {
                path: note.note.clone(),
                why: files::describe_io_error(&error),
            }),
        }
    }

    /// Puts back the text that a written note replaced.
    ///
    /// # Errors
    /// The note is missing or has changed since it was written, or the file cannot be written.
    pub(super) fn restore_written(
        &self,
        note: &WrittenNote,
        old_text: &str,
    ) -> Result<(), NotesError> {
        self.read_written(note)
            .and_then(|_| {
                let written = self.replace(note, old_text);
                written.map_err(|error| files::describe_io_error(&error))
            })
            .map_err(|why| NotesError::Unwritable {
                path: note.note.clone(),
                why,
            })
    }

    fn replace(&self, note: &WrittenNote, text: &str) -> io::Result<()> {
        let name = Path::new(&note.note);
        files::replace_in(self.folder.as_fd(), name, text.as_bytes(), NOTE_MODE).map(drop)
    }

    /// The path and the text of a written note that has not changed, or why it must not be touched.
    fn read_written(&self, note: &WrittenNote) -> Result<(PathBuf, String), String> {
        // The name may come from a session file that another program has edited.
        let name = Path::new(&note.note);
        let mut parts = name.components();
        let is_file_name = matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        );
        if !is_file_name || super::vault::is_hidden(name) || !Self::is_note(name) {
            return Err("it is not a note in the notes folder".to_owned());
        }
        let path = self.root().join(name);
        if path.display().to_string() != note.path {
            // The user has chosen another vault, where a note may have the same name.
            let folder = Path::new(&note.path).parent().unwrap_or(Path::new(""));
            let folder = display_path(&folder.display().to_string());
            return Err(format!("it was created in another folder, {folder}"));
        }
        let text = self
            .read_regular_file(name)
            .map_err(|error| describe(&error))?;
        match text.filter(|bytes| sha256(bytes) == note.sha256) {
            Some(bytes) => Ok((path, String::from_utf8_lossy(&bytes).into_owned())),
            None => Err("it has changed since it was created".to_owned()),
        }
    }

    /// Reads a file; `None` if it is not a regular file, is too large for a note, or was replaced
    /// meanwhile.
    fn read_regular_file(&self, name: &Path) -> io::Result<Option<Vec<u8>>> {
        let path = self.root().join(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Ok(None);
        }
        let file = files::open_below(&self.folder, name)?;
        let mut bytes = Vec::new();
        (&file).take(NOTE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        // Another program may have replaced the file since.
        let is_whole = bytes.len() as u64 <= NOTE_BYTES_MAX && files::is_same_file(&file, &path);
        Ok(is_whole.then_some(bytes))
    }
}

fn describe(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "it no longer exists".to_owned(),
        _ => files::describe_io_error(error),
    }
}

fn unremovable(note: &WrittenNote, why: String) -> NotesError {
    NotesError::Unremovable {
        path: note.note.clone(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(vault: &Vault, note: &str, text: &str) -> WrittenNote {
        WrittenNote {
            note: note.to_owned(),
            path: vault.root().join(note).display().to_string(),
            sha256: sha256(text.as_bytes()),
        }
    }

    #[test]
    fn only_the_regular_file_that_was_written_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        let path = vault.root().join("tea.md");
        let note = written(&vault, "tea.md", "# Tea");
        let refused = |note: &WrittenNote| {
            let error = vault.remove_written(note).expect_err("refused");
            error.to_string()
        };
        assert_eq!(
            refused(&note),
            "The note tea.md was not removed: it no longer exists."
        );
        fs::write(&path, "# Tea and more").expect("written");
        let changed = "The note tea.md was not removed: it has changed since it was created.";
        assert_eq!(refused(&note), changed);
        #[cfg(unix)]
        {
            let copy = vault.root().join("copy.md");
            fs::write(&copy, "# Tea").expect("written");
            fs::remove_file(&path).expect("removed");
            std::os::unix::fs::symlink("copy.md", &path).expect("linked");
            assert_eq!(refused(&note), changed, "a link to the same contents");
            fs::remove_file(&path).expect("removed");
            assert!(copy.exists());
        }
        fs::write(&path, "# Tea").expect("written");
        assert_eq!(vault.remove_written(&note), Ok(()));
        assert!(!path.exists());
    }

    #[test]
    fn names_from_an_edited_session_file_remove_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("vault");
        fs::create_dir_all(root.join(".hidden")).expect("created");
        let vault = Vault::open(&root).expect("a vault");
        let outside = folder.path().join("secret.md");
        let absolute = outside.display().to_string();
        let names = [
            "../secret.md",
            &absolute,
            ".hidden/a.md",
            ".a.md",
            "a.txt",
            "",
            "..",
        ];
        for (name, path) in [
            ("../secret.md", outside.clone()),
            (".hidden/a.md", root.join(".hidden/a.md")),
            (".a.md", root.join(".a.md")),
            ("a.txt", root.join("a.txt")),
        ] {
            fs::write(&path, "text").unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        for name in names {
            let error = vault.remove_written(&written(&vault, name, "text"));
            let why = error.expect_err("refused").reason();
            assert_eq!(why, "it is not a note in the notes folder", "{name}");
        }
        assert!(outside.exists() && root.join(".hidden/a.md").exists());
    }

    #[test]
    fn only_an_unchanged_note_is_replaced_and_its_old_text_is_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        let path = vault.root().join("tea.md");
        fs::write(&path, "old").expect("written");
        let replaced = vault.replace_written(&written(&vault, "tea.md", "old"), "new");
        let (note, old_text) = replaced.expect("written").expect("unchanged");
        assert_eq!((note.path, old_text.as_str()), (path.clone(), "old"));
        let again = vault.replace_written(&written(&vault, "tea.md", "old"), "newer");
        assert_eq!(again, Ok(None));
        assert_eq!(fs::read_to_string(path).expect("a file"), "new");
    }
}
