//! Whether a session has ended, and why.

use super::error::McpError;
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub struct SessionOutcome {
    ended: CancellationToken,
    fault: OnceLock<McpError>,
    /// What the server refused us for, while what else it said is still read.
    blamed: OnceLock<McpError>,
}

impl SessionOutcome {
    /// Ends the session; the first reason stands.
    pub fn end(&self, fault: McpError) {
        let fault = match fault {
            // That says nothing of why.
            McpError::Dropped => self.blamed.get().cloned().unwrap_or(McpError::Dropped),
            fault => fault,
        };
        let _ = self.fault.set(fault);
        self.ended.cancel();
    }

    /// The session is about to end for this reason, whoever closes it first.
    pub fn blame(&self, fault: McpError) {
        let _ = self.blamed.set(fault);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits for the end.
    pub async fn ended(&self) -> McpError {
        self.ended.cancelled().await;
        self.fault().unwrap_or(McpError::Dropped)
    }

    /// Why it ended, if it did.
    pub fn fault(&self) -> Option<McpError> {
        self.fault.get().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::http::HttpError;
    use super::*;

    #[test]
    fn a_session_that_is_closed_while_a_refusal_is_told_ended_for_the_refusal() {
        let refusal = McpError::from(HttpError::Unauthorized(Default::default()));
        let outcome = SessionOutcome::default();
        outcome.blame(refusal.clone());
        outcome.end(McpError::Dropped);
        assert_eq!(outcome.fault(), Some(refusal));
    }
}
