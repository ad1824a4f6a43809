//! The reply of the engine that a command waits for.

use crate::domain::{QueryId, SessionSummary};
use crate::protocol::SessionExport;
use std::sync::Arc;

/// The reply that a command waits for.
#[derive(Debug, Default)]
pub enum PendingReply {
    #[default]
    None,
    Sessions {
        query: QueryId,
        words: String,
        /// Set once the list has arrived and the full texts are being searched.
        listed: Option<Arc<Vec<SessionSummary>>>,
    },
    Branches(String),
    Export(SessionExport),
    ServerPrompt(QueryId),
    Trace,
    ServerLog,
    /// The models of all servers.
    Models,
}
