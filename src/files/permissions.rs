//! Records files whose permissions were tightened by a write. The code that writes is too
//! low-level to show notices, so the paths are collected here until a caller takes them.

use crate::sync::lock_ignoring_poison;
use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

static TIGHTENED: Mutex<TightenedFiles> = Mutex::new(TightenedFiles {
    unreported: Vec::new(),
    reported: BTreeSet::new(),
});

struct TightenedFiles {
    unreported: Vec<PathBuf>,
    reported: BTreeSet<PathBuf>,
}

fn lock_state() -> MutexGuard<'static, TightenedFiles> {
    lock_ignoring_poison(&TIGHTENED)
}

/// The permission bits of a file, or [`super::PRIVATE_MODE`] on systems without them.
pub(super) fn mode_bits(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    {
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        super::PRIVATE_MODE
    }
}

/// Records that `path` was accessible to other users until now.
pub(super) fn record_tightened(path: &Path) {
    lock_state().unreported.push(path.to_owned());
}

/// The direct children of `root` that lost permissions or contain a file that did. Each
/// child is returned once per process, because a folder may contain thousands of such files.
pub fn take_tightened_paths(root: &Path) -> Vec<PathBuf> {
    let mut state = lock_state();
    let TightenedFiles {
        unreported,
        reported,
    } = &mut *state;
    let paths_below_root = unreported.extract_if(.., |path| path.starts_with(root));
    let children = paths_below_root.filter_map(|path| {
        let name = path.strip_prefix(root).ok()?.components().next()?;
        Some(root.join(name))
    });
    children
        .filter(|child| reported.insert(child.clone()))
        .collect()
}
