//! Progress of a session's handshake, and the time left for it.

use super::http::HttpError;
use crate::sync::lock_ignoring_poison;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct Startup {
    stage: Mutex<HandshakeStage>,
    /// Deadline for opening the session.
    deadline: OnceLock<Instant>,
    /// Why the server asked us to retry later, while we wait.
    retry_reason: Mutex<Option<HttpError>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HandshakeStage {
    #[default]
    NotStarted,
    /// `server/discover` was sent; the server may not support it.
    Discovering,
    /// `initialize` was sent.
    Initializing,
    Open,
}

impl Startup {
    /// Starts the time limit for opening the session.
    pub fn set_deadline(&self, time: Duration) {
        let _ = self.deadline.set(Instant::now() + time);
    }

    /// Whether there is time for this delay before the session must be open.
    pub fn has_time_for(&self, pause: Duration) -> bool {
        let deadline = self
            .deadline
            .get()
            .filter(|_| self.stage() != HandshakeStage::Open);
        deadline.is_none_or(|deadline| Instant::now() + pause < *deadline)
    }

    pub fn set_retry_reason(&self, why: Option<HttpError>) {
        *lock_ignoring_poison(&self.retry_reason) = why;
    }

    pub fn retry_reason(&self) -> Option<HttpError> {
        lock_ignoring_poison(&self.retry_reason).clone()
    }

    pub fn set_stage(&self, stage: HandshakeStage) {
        *lock_ignoring_poison(&self.stage) = stage;
    }

    pub fn stage(&self) -> HandshakeStage {
        *lock_ignoring_poison(&self.stage)
    }
}
