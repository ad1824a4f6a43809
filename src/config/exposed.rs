//! Files with keys that other people of this machine can read. Nothing is changed
//! about them: the folder may be one that the person shares on purpose.

use super::error::file_name;
use crate::domain::model::Secret;
use crate::domain::{Banner, Notice};
use crate::files;
use std::path::Path;

const BYTES_MAX: u64 = super::document::BYTES_MAX;

/// A banner where `path` holds one of `secrets` in so many words and anybody on this
/// machine can read it.
pub(super) fn warning(path: &Path, secrets: &[Secret]) -> Option<Banner> {
    if secrets.is_empty() || !others_can_read(path) {
        return None;
    }
    let bytes = files::read(path, BYTES_MAX).ok().flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    secrets
        .iter()
        .find(|secret| !secret.expose().is_empty() && text.contains(secret.expose()))?;
    let folder = path.parent().unwrap_or(path).display().to_string();
    let what = format!("{} holds keys, and others can read it.", path.display());
    let notice = Notice::warning(what)
        .because("Its mode, and that of the folders above it, lets everybody on this machine in.")
        .advise(format!("`chmod 700 {folder}` closes the whole folder."));
    Some(Banner::new(format!("{}: mode", file_name(path)), notice))
}

/// Can somebody who is neither the owner nor of the group get at the file?
#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const READ: u32 = 0o004;
    const PASS: u32 = 0o001;
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    path.ancestors().enumerate().all(|(height, part)| {
        let needed = if height == 0 { READ } else { PASS };
        let mode = part
            .metadata()
            .map(|metadata| metadata.permissions().mode());
        mode.is_ok_and(|mode| mode & needed != 0)
    })
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}
