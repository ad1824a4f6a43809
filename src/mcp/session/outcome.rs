//! Whether a session has ended, and why.

use crate::mcp::error::McpError;
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub struct SessionOutcome {
    ended: CancellationToken,
    error: OnceLock<McpError>,
    /// Why the session is expected to end soon, such as a rejected request.
    likely_cause: OnceLock<McpError>,
}

impl SessionOutcome {
    /// Ends the session; the first reason is kept.
    pub fn end(&self, error: McpError) {
        let error = match error {
            // `SessionClosed` does not explain why.
            McpError::SessionClosed => self
                .likely_cause
                .get()
                .cloned()
                .unwrap_or(McpError::SessionClosed),
            error => error,
        };
        let _ = self.error.set(error);
        self.ended.cancel();
    }

    /// Sets the reason to report if either side then closes the session without giving one.
    pub fn set_likely_cause(&self, error: McpError) {
        let _ = self.likely_cause.set(error);
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    pub async fn wait_for_end(&self) -> McpError {
        self.ended.cancelled().await;
        self.error().unwrap_or(McpError::SessionClosed)
    }

    /// The reason for the end, if the session has ended.
    pub fn error(&self) -> Option<McpError> {
        self.error.get().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::http::HttpError;

    #[test]
    fn a_session_closed_after_a_refusal_reports_the_refusal() {
        let refusal = McpError::from(HttpError::Unauthorized(Default::default()));
        let outcome = SessionOutcome::default();
        outcome.set_likely_cause(refusal.clone());
        outcome.end(McpError::SessionClosed);
        assert_eq!(outcome.error(), Some(refusal));
    }
}
