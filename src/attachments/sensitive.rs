//! Recognizes files that probably hold credentials, by their paths and first lines.

use crate::text::{WordList, word_list};
use std::path::Path;

/// Names of files with credentials, in lower case.
static NAMES: WordList = word_list!("sensitive_files", "names");
static EXTENSIONS: WordList = word_list!("sensitive_files", "extensions");
/// Folders in which almost every file is a credential.
static FOLDERS: WordList = word_list!("sensitive_files", "folders");
/// Bytes at the start of a text that are searched for a private key.
const KEY_SEARCH_BYTES: usize = 4_096;

/// Whether the file probably holds credentials. `home` is this program's own folder, whose
/// settings contain keys.
pub(super) fn may_hold_secrets(path: &Path, text: Option<&str>, home: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let is_env = name == ".env"
        || name.starts_with(".env.") && !name.ends_with(".example")
        || name.ends_with(".env");
    let is_ssh_key = name.starts_with("id_") && !name.ends_with(".pub");
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    let is_in_folder = folders.any(|folder| {
        let folder = folder.as_os_str().to_string_lossy().to_lowercase();
        FOLDERS.contains(&folder.as_str())
    });
    let start = text.map(|text| &text[..text.floor_char_boundary(KEY_SEARCH_BYTES)]);
    is_env
        || is_ssh_key
        || is_in_folder
        || NAMES.contains(&name.as_str())
        || EXTENSIONS.contains(&extension)
        || path.starts_with(home) && extension == "json"
        || start.is_some_and(|start| start.contains("PRIVATE KEY-----"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_credentials_are_recognized() {
        let check = |path: &str| may_hold_secrets(Path::new(path), Some("x"), Path::new("/h"));
        for path in [
            "/p/.env",
            "/p/.ENV.local",
            "/p/prod.env",
            "/u/.ssh/config",
            "/p/id_ed25519",
            "/u/.aws/credentials",
            "/p/server.PEM",
            "/h/config.json",
            "/h/auth.json",
        ] {
            assert!(check(path), "{path}");
        }
        for path in [
            "/p/.env.example",
            "/p/environment.md",
            "/p/id_rsa.pub",
            "/p/config.json",
            "/p/keys.md",
            "/h/system_prompt.txt",
        ] {
            assert!(!check(path), "{path}");
        }
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
        assert!(may_hold_secrets(
            Path::new("/p/a.txt"),
            Some(key),
            Path::new("/h")
        ));
    }
}
