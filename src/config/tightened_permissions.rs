//! Notices about files in the home that were readable by other users and became private.

use super::Home;
use crate::domain::Notice;
use crate::files;

/// A notice for each file of `home` that became private, and for each folder of `home` that
/// contains such a file. Each is reported only once.
pub fn tightened_permissions_notices(home: &Home) -> Vec<Notice> {
    let paths = files::take_tightened_paths(home.root()).into_iter();
    let notice = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let message = format!("Other users of this machine could read files in {name}.");
            Notice::warning(message).with_reason("Each file becomes private when humble writes it.")
        } else {
            let message = format!("Other users of this machine could read {name}.");
            Notice::warning(message).with_reason("It is now private.")
        }
    };
    paths.map(notice).collect()
}
