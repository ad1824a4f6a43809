//! The browser of earlier conversations, as data: what was listed, what is typed to
//! narrow it down, and which conversation is looked at.

use crate::domain::{QueryId, Session, SessionId, SessionSummary};
use crate::tui::widgets::editor::Editor;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct Sessions {
    pub query: Option<QueryId>,
    pub all: Option<Arc<Vec<SessionSummary>>>,
    pub filter: Editor,
    pub chosen: usize,
    pub in_list: bool,
    pub preview_query: Option<QueryId>,
    pub preview: Option<Arc<Session>>,
    /// Asked whether to delete this one.
    pub deleting: Option<SessionId>,
}

impl Sessions {
    /// The summaries that the filter lets through.
    pub fn hits(&self) -> Vec<&SessionSummary> {
        let wanted = self.filter.text().to_lowercase();
        self.all
            .iter()
            .flat_map(|all| all.iter())
            .filter(|session| session.title.to_lowercase().contains(wanted.trim()))
            .collect()
    }
}
