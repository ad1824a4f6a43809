//! Waits for a notes folder that is missing, such as one on a drive that is not connected yet.

use crate::config::NotesSection;
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// Time between two checks. A folder that does not exist cannot be watched.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Checks for the folder until it can be used. Dropping it stops the checks.
pub(super) struct AwaitedVault {
    check: AbortOnDropHandle<()>,
}

impl AwaitedVault {
    /// Must be called within a tokio runtime.
    pub(super) fn new(notes: NotesSection) -> Self {
        let check = async move {
            let mut is_missing = true;
            while is_missing {
                tokio::time::sleep(CHECK_INTERVAL).await;
                let notes = notes.clone();
                // A network drive may block.
                let checked = tokio::task::spawn_blocking(move || notes.vault_problem().is_some());
                is_missing = checked.await.unwrap_or(false);
            }
        };
        Self {
            check: AbortOnDropHandle::new(tokio::spawn(check)),
        }
    }

    /// Waits until the folder can be used. Cancel-safe.
    pub(super) async fn appeared(&mut self) {
        // An error means that the runtime is shutting down.
        let _ = (&mut self.check).await;
    }
}
