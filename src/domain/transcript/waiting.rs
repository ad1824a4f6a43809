//! The reason why the running turn is waiting, and the activity of its note agent.

use super::Transcript;
use crate::domain::WaitReason;

impl Transcript {
    /// The reason the current round is waiting; `None` once its first data has arrived.
    pub fn wait_reason(&self) -> Option<WaitReason> {
        self.wait
    }

    /// The activity of a note agent before the first request of the running turn.
    pub fn agent_activity(&self) -> Option<&str> {
        self.agent_activity.as_deref()
    }
}
