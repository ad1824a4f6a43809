//! What is said once a file of the home that other users could read was made private.

use super::Home;
use crate::domain::Notice;
use crate::files;

/// A notice for each file or folder of `home` that nothing was said about yet.
pub fn tightened_permissions_notices(home: &Home) -> Vec<Notice> {
    let paths = files::take_tightened(home.root()).into_iter();
    let notice = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let what = format!("Other users of this computer could read files in {name}.");
            Notice::warning(what).with_reason("Each becomes private when humble writes it.")
        } else {
            let what = format!("Other users of this computer could read {name}.");
            Notice::warning(what).with_reason("It is private now.")
        }
    };
    paths.map(notice).collect()
}
