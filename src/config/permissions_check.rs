//! Warns about files with keys that other users of this machine can read. Their modes are
//! not changed, since the user may share the folder on purpose.

use super::error::file_name;
use crate::domain::model::Secret;
use crate::domain::{Banner, BannerCause, Notice};
use crate::files;
use serde_json::Value;
use std::path::{Path, PathBuf};

const BYTES_MAX: u64 = super::json_document::BYTES_MAX;

/// A banner if one of `files` is world-readable and contains one of its secrets verbatim.
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
    let message = format!("Other users of this machine can read the keys in {files}.");
    let advice = format!(
        "Make the folder private with `chmod 700 {}`.",
        folder.display()
    );
    Some(Banner::new(
        BannerCause::OpenPermissions,
        Notice::warning(message).with_advice(advice),
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
    secrets.any(|secret| {
        // A private key has several lines, which the file escapes.
        let escaped = Value::from(secret).to_string();
        !secret.is_empty() && text.contains(escaped.trim_matches('"'))
    })
}

/// Whether users other than the owner and the group can read the file.
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
