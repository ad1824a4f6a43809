//! Commands and events about saved sessions, whether or not one of them is open.

use crate::domain::{ExportFormat, ExportPart, IndexProgress, Notice, QueryId, SessionId};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedSessionCommand {
    /// Searches the full text of all sessions; answered by [`SavedSessionEvent::Found`]. A newer
    /// search replaces one that has not started.
    Search {
        query: QueryId,
        words: String,
    },
    Rename {
        session: SessionId,
        title: String,
    },
    /// Saves a copy under another title; answered by [`SavedSessionEvent::Copied`].
    Copy(SessionId),
    Export(SessionExport),
    /// Restores the session that was deleted last, whichever program deleted it; answered by
    /// [`SavedSessionEvent::Restored`], or by a notice if the trash is empty.
    UndoDelete,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionExport {
    pub query: QueryId,
    /// `None` exports the open conversation.
    pub session: Option<SessionId>,
    pub format: ExportFormat,
    pub part: ExportPart,
    /// A file, or a folder for a file named after the title. Relative to the folder in which the
    /// program was started.
    pub path: String,
    /// Replace an existing file.
    pub replaces: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedSessionEvent {
    Found {
        query: QueryId,
        /// The sessions that contain every word, as far as they are indexed.
        sessions: Arc<HashSet<SessionId>>,
        /// The search words, case-folded, for highlighting matches.
        terms: Vec<String>,
    },
    /// The index grew, or could not be written.
    Indexed(IndexProgress),
    Renamed {
        /// `None` is the open conversation.
        session: Option<SessionId>,
        title: String,
    },
    Copied {
        original_title: String,
        session: SessionId,
        title: String,
    },
    Restored {
        session: SessionId,
        title: String,
    },
    Exported {
        query: QueryId,
        title: String,
        result: Result<PathBuf, ExportFailure>,
    },
    /// The open conversation continues in a copy with this title.
    Forked {
        title: String,
    },
}

/// Why nothing was exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportFailure {
    Exists(PathBuf),
    Failed(Notice),
}
