//! Writes an exported conversation to a file. An existing file is replaced only on request.

use crate::files;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    #[error("{} cannot be written: {why}", path.display())]
    Unwritable { path: PathBuf, why: String },
}

/// Writes `text` to `path`, or to `default_name` in it if it is a folder. `~` and relative paths are
/// resolved. Returns the whole path.
///
/// # Errors
/// The file exists and `replaces` is false, or it cannot be written.
pub fn write_export(
    path: &str,
    default_name: &str,
    text: &str,
    replaces: bool,
) -> Result<PathBuf, ExportError> {
    let path = resolve(path, default_name);
    let unwritable = |why: String| ExportError::Unwritable {
        path: path.clone(),
        why,
    };
    let existing = fs::metadata(&path);
    if let Ok(metadata) = &existing
        && !metadata.is_file()
    {
        return Err(unwritable(files::NOT_A_REGULAR_FILE.to_owned()));
    }
    let written = match existing.is_ok() && replaces {
        // Keeps the permissions that the user gave the file.
        true => files::replace(&path, text.as_bytes(), 0o777),
        false => files::create_new(&path, text.as_bytes(), files::PRIVATE_MODE),
    };
    match written {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(ExportError::Exists(path)),
        Err(error) => Err(unwritable(files::describe_io_error(&error))),
    }
}

fn resolve(path: &str, default_name: &str) -> PathBuf {
    let path = files::expand_home(path.trim());
    let path = match path.is_dir() || path.as_os_str().is_empty() {
        true => path.join(default_name),
        false => path,
    };
    let absolute = std::path::absolute(&path).unwrap_or(path);
    with_real_folder(&absolute)
}

/// Resolves `..` and links in the folder, so that the path that is shown is the real one.
fn with_real_folder(path: &Path) -> PathBuf {
    let Some(name) = path.file_name() else {
        return path.to_owned();
    };
    let folder = path.parent().unwrap_or(path);
    match fs::canonicalize(folder) {
        Ok(folder) => folder.join(name),
        Err(_) => path.to_owned(),
    }
}
