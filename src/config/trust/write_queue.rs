//! Pending edits of `trust.json`. A writer takes all of them, so that many edits need one
//! write and their order is kept.

use super::{ConfigError, Home, TrustEdit, update_trust};
use crate::sync::lock_ignoring_poison;
use std::sync::Mutex;

/// Pending edits in order.
#[derive(Debug, Default)]
pub struct TrustQueue {
    pending: Mutex<Vec<TrustEdit>>,
    /// Locked while the file is written, so that later edits cannot overtake earlier ones.
    writing: Mutex<()>,
}

impl TrustQueue {
    pub fn push(&self, edit: TrustEdit) {
        // A poisoned lock is fine: a Vec is consistent after every operation.
        let mut waiting = lock_ignoring_poison(&self.pending);
        waiting.push(edit);
    }

    /// Writes all pending edits. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, parsed or written. It is unchanged then. If the edits only
    /// record first sightings, a failure is logged instead.
    pub fn flush(&self, home: &Home) -> Result<(), ConfigError> {
        let _guard = lock_ignoring_poison(&self.writing);
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
            // The banner about the file already reports it.
            Err(fault) if edits.iter().all(is_seen) => {
                tracing::warn!("tool definitions were not saved: {fault}");
                Ok(())
            }
            written => written,
        }
    }
}
