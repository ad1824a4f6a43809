//! The interrupt that was sent to the engine.

use std::time::Duration;

/// How long the engine may take to acknowledge a Ctrl+C before the next Ctrl+C quits.
const INTERRUPT_ACK_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct InterruptState {
    /// Whether the running turn was asked to stop.
    pub is_stopping: bool,
    /// When the interrupt was sent, until the engine acknowledges it.
    pub sent_at: Option<Duration>,
}

impl InterruptState {
    pub fn ack_deadline(&self) -> Option<Duration> {
        self.sent_at.map(|sent_at| sent_at + INTERRUPT_ACK_TIMEOUT)
    }

    /// Whether the engine left a Ctrl+C unacknowledged for too long.
    pub fn is_stuck(&self, now: Duration) -> bool {
        self.ack_deadline().is_some_and(|due| now >= due)
    }
}
