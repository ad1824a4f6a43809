//! How far the handshake of a session has come, and the time that is left for it.

use super::http::HttpError;
use crate::sync::lock_ignoring_poison;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct Startup {
    stage: Mutex<HandshakeStage>,
    /// When the session has to be open.
    deadline: OnceLock<Instant>,
    /// Why the server wants to be asked later, while that is waited for.
    retry_reason: Mutex<Option<HttpError>>,
}

/// How far the handshake has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HandshakeStage {
    #[default]
    NotStarted,
    /// `server/discover` is sent: the server may not know it.
    Discovering,
    /// `initialize` is sent.
    Initializing,
    Open,
}

impl Startup {
    /// Begins the time that the session has to open.
    pub fn set_deadline(&self, time: Duration) {
        let _ = self.deadline.set(Instant::now() + time);
    }

    /// Can a server be given this pause? Not where its session would come too late.
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
