//! The progress of a session's handshake, and its deadline.

use crate::mcp::http::HttpError;
use crate::sync::lock_ignoring_poison;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Maximum time to wait for the response to `server/discover` before `initialize` is sent, too. A
/// server that supports `server/discover` responds as soon as it has started. After 10 s, rmcp would
/// send `initialize` itself and take the late response to `server/discover` for that to `initialize`.
const DISCOVER_TIMEOUT: Duration = Duration::from_secs(9);

/// A third of the time for a handshake, or [`DISCOVER_TIMEOUT`] if that is shorter.
pub fn discover_timeout(handshake_timeout: Duration) -> Duration {
    DISCOVER_TIMEOUT.min(handshake_timeout / 3)
}

#[derive(Debug, Default)]
pub struct Startup {
    stage: Mutex<HandshakeStage>,
    /// Deadline for opening the session.
    deadline: OnceLock<Instant>,
    /// The error that asked us to retry later; set only while we wait.
    retry_reason: Mutex<Option<HttpError>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HandshakeStage {
    #[default]
    NotStarted,
    /// `server/discover` was sent; the server may not support it.
    Discovering,
    Initializing,
    Open,
}

impl Startup {
    /// Limits the time for opening the session, from now on.
    pub fn set_deadline(&self, timeout: Duration) {
        let _ = self.deadline.set(Instant::now() + timeout);
    }

    /// Whether a request can wait this long and still meet the deadline. Always true once the
    /// session is open.
    pub fn has_time_for(&self, delay: Duration) -> bool {
        let deadline = self
            .deadline
            .get()
            .filter(|_| self.stage() != HandshakeStage::Open);
        deadline.is_none_or(|deadline| Instant::now() + delay < *deadline)
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
