//! Whether a session has ended, and why.

use super::error::McpError;
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub struct SessionOutcome {
    ended: CancellationToken,
    error: OnceLock<McpError>,
    /// What the server refused us for, while what else it said is still read.
    likely_cause: OnceLock<McpError>,
}

impl SessionOutcome {
    /// Ends the session; the first reason stands.
    pub fn end(&self, fault: McpError) {
        let fault = match fault {
            // That says nothing of why.
            McpError::SessionClosed => self
                .likely_cause
                .get()
                .cloned()
                .unwrap_or(McpError::SessionClosed),
            fault => fault,
        };
        let _ = self.error.set(fault);
        self.ended.cancel();
    }

    /// The session is about to end for this reason, whoever closes it first.
    pub fn set_likely_cause(&self, fault: McpError) {
        let _ = self.likely_cause.set(fault);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits for the end.
    pub async fn wait_for_end(&self) -> McpError {
        self.ended.cancelled().await;
        self.error().unwrap_or(McpError::SessionClosed)
    }

    /// Why it ended, if it did.
    pub fn error(&self) -> Option<McpError> {
        self.error.get().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::http::HttpError;
    use super::*;

    #[test]
    fn a_session_closed_after_a_refusal_reports_the_refusal() {
        let refusal = McpError::from(HttpError::Unauthorized(Default::default()));
        let outcome = SessionOutcome::default();
        outcome.set_likely_cause(refusal.clone());
        outcome.end(McpError::SessionClosed);
        assert_eq!(outcome.error(), Some(refusal));
    }
}
