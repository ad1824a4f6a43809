//! Permissions that a write took away from an old file. Writers sit below everything that
//! could show a notice, so what they did waits here until somebody asks for it.

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

/// The permission bits of a file; those of a private one where the system has none.
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

/// Others could use the file at `path` until now.
pub(super) fn record_tightened(path: &Path) {
    lock_state().unreported.push(path.to_owned());
}

/// What lies directly in `root` and lost permissions, or holds a file that did. Each is
/// reported once in the life of the process: a folder may hold thousands of old files.
pub fn take_tightened(root: &Path) -> Vec<PathBuf> {
    let mut state = lock_state();
    let TightenedFiles {
        unreported: waiting,
        reported: told,
    } = &mut *state;
    let below = waiting.extract_if(.., |path| path.starts_with(root));
    let first = below.filter_map(|path| {
        let first = path.strip_prefix(root).ok()?.components().next()?;
        Some(root.join(first))
    });
    first.filter(|path| told.insert(path.clone())).collect()
}
