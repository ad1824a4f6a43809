//! The file with the recent commands of the palette: a JSON array of names, most recent first.
//! Several programs may change it.

use super::StoreError;
use crate::domain::RecentCommands;
use crate::files::{self, FileLock};
use std::io;
use std::path::{Path, PathBuf};

/// A larger file is ignored.
const FILE_BYTES_MAX: u64 = 64 * 1024;

#[derive(Debug, Clone)]
pub struct RecentCommandsFile(PathBuf);

impl RecentCommandsFile {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The recent commands. A file with anything else counts as empty.
    pub fn load(&self) -> RecentCommands {
        let mut recent = RecentCommands::default();
        let bytes = files::read(&self.0, FILE_BYTES_MAX).ok().flatten();
        let names = bytes.and_then(|bytes| serde_json::from_slice::<Vec<String>>(&bytes).ok());
        recent.add_earlier(names.unwrap_or_default());
        recent
    }

    /// Puts a command first.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remember(&self, name: &str) -> Result<(), StoreError> {
        let result = self.remember_locked(name);
        result.map_err(|error| unwritable(&self.0, &error))
    }

    fn remember_locked(&self, name: &str) -> io::Result<()> {
        let _lock = FileLock::acquire_for(&self.0)?;
        let before = self.load();
        let mut recent = before.clone();
        recent.remember(name.to_owned());
        if recent == before {
            return Ok(());
        }
        let names: Vec<&str> = recent.names().collect();
        let json = serde_json::to_vec(&names)?;
        files::replace(&self.0, &json, files::PRIVATE_MODE)
    }
}

fn unwritable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unwritable {
        path: path.to_owned(),
        why: files::describe_io_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(folder: &tempfile::TempDir) -> RecentCommandsFile {
        RecentCommandsFile::new(folder.path().join("recent-commands.json"))
    }

    fn names(recent: &RecentCommands) -> Vec<&str> {
        recent.names().collect()
    }

    #[test]
    fn the_five_most_recent_commands_are_kept_most_recent_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b", "c", "d", "e", "f", "b"] {
            file(&folder).remember(name).expect("written");
        }
        assert_eq!(names(&file(&folder).load()), ["b", "f", "e", "d", "c"]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_file_of_recent_commands() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        file(&folder).remember("raw").expect("written");
        let metadata = fs::metadata(&file(&folder).0).expect("a file");
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn invalid_content_counts_as_empty_and_unusable_names_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let many = format!("[{}]", vec!["\"raw\""; 20_000].join(","));
        let long = format!("[\"{}\", \"raw\", \"\", \"raw\"]", "x".repeat(1_000));
        for (content, expected) in [
            ("{\"raw\": 1}", &[][..]),
            ("[1, 2]", &[]),
            ("not json", &[]),
            (many.as_str(), &[]),
            (long.as_str(), &["raw"]),
        ] {
            fs::write(&file(&folder).0, content).expect("written");
            assert_eq!(names(&file(&folder).load()), expected, "{content:.40}");
        }
        file(&folder).remember("fork").expect("written");
        assert_eq!(names(&file(&folder).load()), ["fork", "raw"]);
    }
}
