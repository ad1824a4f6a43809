//! Files with keys that other people of this machine can read. Nothing is changed
//! about them: the folder may be one that the person shares on purpose.

use super::error::file_name;
use crate::domain::model::Secret;
use crate::domain::{Banner, BannerCause, Notice};
use crate::files;
use std::path::{Path, PathBuf};

const BYTES_MAX: u64 = super::json_document::BYTES_MAX;

/// A banner where one of `files` holds one of its secrets in so many words and anybody
/// on this machine can read it.
pub(super) fn readable_secrets_banner(
    folder: &Path,
    files: &[(PathBuf, Vec<Secret>)],
) -> Option<Banner> {
    let exposed = files
        .iter()
        .filter(|(path, secrets)| is_exposed(path, secrets));
    let names: Vec<String> = exposed.map(|(path, _)| file_name(path)).collect();
    if names.is_empty() {
        return None;
    }
    let files = names.join(" and ");
    let what = format!("Others on this machine can read the keys in {files}.");
    let advice = format!(
        "`chmod 700 {}` closes the folder to them.",
        folder.display()
    );
    Some(Banner::new(
        BannerCause::OpenPermissions,
        Notice::warning(what).with_advice(advice),
    ))
}

fn is_exposed(path: &Path, secrets: &[Secret]) -> bool {
    if secrets.is_empty() || !others_can_read(path) {
        return false;
    }
    let Ok(Some(bytes)) = files::read(path, BYTES_MAX) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut secrets = secrets.iter().map(Secret::expose);
    secrets.any(|secret| !secret.is_empty() && text.contains(secret))
}

/// Can somebody who is neither the owner nor of the group get at the file?
#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const READ: u32 = 0o004;
    const TRAVERSE: u32 = 0o001;
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    path.ancestors().enumerate().all(|(height, part)| {
        let needed = if height == 0 { READ } else { TRAVERSE };
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
