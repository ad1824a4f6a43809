//! What the running turn is waiting for.

use super::Transcript;
use crate::domain::WaitReason;

impl Transcript {
    /// The reason the current round is waiting; `None` once its first data has arrived.
    pub fn wait(&self) -> Option<WaitReason> {
        self.wait
    }

    /// What a note agent is doing before the first request of the running turn.
    pub fn agent_activity(&self) -> Option<&str> {
        self.agent_activity.as_deref()
    }
}
