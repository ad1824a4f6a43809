//! The rows of the session list. A summary needs the whole file, so `session_index` keeps those of
//! unchanged files.

use super::sessions::{read_file, unreadable};
use super::{SessionStore, StoreError, file_name, format};
use crate::domain::session::MessageRole;
use crate::domain::{SavedMessage, Session, SessionId, SessionSummary};
use jiff::Timestamp;
use std::fs;
use std::path::Path;

impl SessionStore {
    /// All sessions, most recently changed first. Unreadable ones are listed with the
    /// reason. Reads every file.
    pub fn list(&self) -> Vec<SessionSummary> {
        let files = self.files().into_iter();
        let mut summaries: Vec<SessionSummary> = files
            .map(|id| summarize(&self.folder.join(id.as_str()), id, |_| ()).0)
            .collect();
        sort_newest_first(&mut summaries);
        summaries
    }

    /// In no particular order.
    pub(super) fn files(&self) -> Vec<SessionId> {
        let Ok(items) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let names = items.flatten().filter_map(|item| {
            let id = SessionId::new(item.file_name().to_str()?);
            file_name::is_valid(&id).then_some(id)
        });
        names.collect()
    }
}

pub(super) fn sort_newest_first(summaries: &mut [SessionSummary]) {
    summaries.sort_by(|a, b| {
        let newest_first = b.changed_at.cmp(&a.changed_at);
        newest_first.then_with(|| b.id.cmp(&a.id))
    });
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryLifetime {
    UntilFileChanges,
    /// The file could not be read, which may change without the file changing.
    Temporary,
}

/// Builds the summary of a session file, even if the file is unreadable, and passes the text of
/// each message, the thinking of each turn, and the prompts and partial answers of cancelled turns to
/// `on_text`.
pub(super) fn summarize(
    path: &Path,
    id: SessionId,
    mut on_text: impl FnMut(&str),
) -> (SessionSummary, SummaryLifetime) {
    let (mut message_count, mut has_prompt) = (0, false);
    // Only the first prompt is needed, for the title.
    let keep = |message: &mut SavedMessage| {
        on_text(&message.content);
        message_count += 1;
        let is_first = message.role == MessageRole::User && !has_prompt;
        has_prompt |= is_first;
        is_first
    };
    let bytes = read_file(path, &id);
    let lifetime = match bytes {
        Ok(_) => SummaryLifetime::UntilFileChanges,
        Err(_) => SummaryLifetime::Temporary,
    };
    let session = bytes.and_then(|bytes| {
        format::parse_session(&id, &bytes, keep).map_err(|why| unreadable(&id, why))
    });
    let (session, open_error) = match session {
        Ok(session) => (session, None),
        Err(StoreError::Unreadable { why, .. }) => (Session::new(""), Some(why)),
        Err(error) => (Session::new(""), Some(error.to_string())),
    };
    for turn in session
        .metadata
        .turns
        .iter()
        .filter(|turn| !turn.thinking.is_empty())
    {
        on_text(&turn.thinking);
    }
    for turn in session.metadata.cancelled.iter() {
        on_text(&turn.prompt);
        on_text(&turn.partial_answer);
    }
    let changed_at = last_activity(&id, &session)
        .or_else(|| modified_at(path))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    let summary = SessionSummary {
        id,
        title: session.title().to_owned(),
        model: session.model,
        started_at: session.started_at,
        changed_at,
        message_count,
        open_error,
    };
    (summary, lifetime)
}

/// The latest time recorded in the session or its name. Unlike a file's modification time, it
/// survives copying and restoring.
fn last_activity(id: &SessionId, session: &Session) -> Option<Timestamp> {
    let metadata = &session.metadata;
    let turns = metadata.turns.iter().filter_map(|turn| turn.ended_at);
    let cancelled = metadata.cancelled.iter().map(|turn| turn.cancelled_at);
    turns
        .chain(cancelled)
        .chain(session.started_at)
        .chain(file_name::time_in_name(id))
        .max()
}

fn modified_at(path: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    Timestamp::try_from(modified.ok()?).ok()
}
