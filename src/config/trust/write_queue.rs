//! Changes of `trust.json` that wait to be written. Whoever writes takes all of them, so
//! that many changes are one write and none overtakes another.

use super::{ConfigError, Home, TrustEdit, update_trust};
use crate::sync::lock_ignoring_poison;
use std::sync::Mutex;

/// Changes that wait to be written, in their order: whoever writes takes all of them.
#[derive(Debug, Default)]
pub struct TrustQueue {
    pending: Mutex<Vec<TrustEdit>>,
    /// Held while the file is written, so that no later change overtakes an earlier one.
    writing: Mutex<()>,
}

impl TrustQueue {
    pub fn push(&self, edit: TrustEdit) {
        // A list is whole between any two of its operations.
        let mut waiting = lock_ignoring_poison(&self.pending);
        waiting.push(edit);
    }

    /// Writes what waits. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, understood or written; it is as it was then. Where the
    /// person decided nothing of it, that is no error.
    pub fn flush(&self, home: &Home) -> Result<(), ConfigError> {
        let _one = lock_ignoring_poison(&self.writing);
        let edits = {
            let mut waiting = lock_ignoring_poison(&self.pending);
            std::mem::take(&mut *waiting)
        };
        if edits.is_empty() {
            return Ok(());
        }
        let written = update_trust(home, &edits);
        let is_seen = |edit: &TrustEdit| matches!(edit, TrustEdit::RecordFirstSeen(_));
        match written {
            // The banner of the file says it already.
            Err(fault) if edits.iter().all(is_seen) => {
                tracing::warn!("what tools are was not remembered: {fault}");
                Ok(())
            }
            written => written,
        }
    }
}
