//! Pending edits to `trust.json`. A writer takes all of them at once, so that many edits need
//! only one write and stay in order.

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
        let mut pending = lock_ignoring_poison(&self.pending);
        pending.push(edit);
    }

    /// Writes all pending edits. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, parsed or written. In that case, it is unchanged. If the edits only
    /// record first sightings, a failure is logged instead.
    pub fn flush(&self, home: &Home) -> Result<(), ConfigError> {
        let _guard = lock_ignoring_poison(&self.writing);
        let edits = {
            let mut pending = lock_ignoring_poison(&self.pending);
            std::mem::take(&mut *pending)
        };
        if edits.is_empty() {
            return Ok(());
        }
        let result = update_trust(home, &edits);
        let is_first_sighting = |edit: &TrustEdit| matches!(edit, TrustEdit::RecordFirstSeen(_));
        match result {
            // The banner about the file already reports it.
            Err(error) if edits.iter().all(is_first_sighting) => {
                tracing::warn!("tool definitions were not saved: {error}");
                Ok(())
            }
            result => result,
        }
    }
}
