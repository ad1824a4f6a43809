//! Renames, copies, exports, deletes and restores saved sessions.

use super::SavedSessions;
use crate::domain::session_export::{copy_title, export_file_name};
use crate::domain::{Notice, SecretRegistry, Session, SessionId};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, SessionsResult};
use crate::engine::persist::session_writer::ConversationSeq;
use crate::engine::sessions::branches::bounded_title;
use crate::protocol::{Event, ExportFailure, SavedSessionEvent, SessionExport};
use crate::store::{self, ExportError, ReadLimits, SessionIndex, StoreError};
use jiff::Zoned;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

impl SavedSessions {
    /// Renames a session that is not open.
    pub(in crate::engine) fn rename(id: SessionId, title: &str, cx: &mut EngineCx) {
        let title = bounded_title(title.trim()).to_owned();
        if title.is_empty() {
            return cx.notice(Notice::info("The title is missing."));
        }
        let sessions = Arc::clone(&cx.sessions);
        cx.jobs.spawn_blocking(move || {
            let renamed = sessions.rename(&id, &title);
            let renamed = renamed.map(|()| SavedSessionEvent::Renamed {
                session: Some(id),
                title,
            });
            event_or_notice(renamed, "Not renamed")
        });
    }

    pub(in crate::engine) fn copy(id: SessionId, cx: &mut EngineCx) {
        let (sessions, index) = (Arc::clone(&cx.sessions), Arc::clone(&cx.session_index));
        cx.jobs.spawn_blocking(move || {
            let copied = index.title(&id).and_then(|original_title| {
                let title = free_title(&original_title, &index);
                let session = sessions.copy(&id, &title, &Zoned::now())?;
                Ok(SavedSessionEvent::Copied {
                    original_title,
                    session,
                    title,
                })
            });
            event_or_notice(copied, "Not forked")
        });
    }

    pub(in crate::engine) fn find_copy_title(
        seq: ConversationSeq,
        title: String,
        cx: &mut EngineCx,
    ) {
        let index = Arc::clone(&cx.session_index);
        cx.jobs.spawn_blocking(move || {
            let title = free_title(&title, &index);
            JobResult::Sessions(SessionsResult::CopyTitled(seq, title))
        });
    }

    /// Exports a saved session, or `open` if the export names none.
    pub(in crate::engine) fn export(export: SessionExport, open: &Session, cx: &mut EngineCx) {
        // Messages share their text, so this copy is small.
        let open = open.clone();
        let sessions = Arc::clone(&cx.sessions);
        let secrets = cx.secrets.clone();
        cx.jobs.spawn_blocking(move || {
            let session = match &export.session {
                Some(id) => sessions.open(id),
                None => Ok(open),
            };
            let (title, result) = match session {
                Ok(session) => (
                    session.title().to_owned(),
                    write(&export, &session, &secrets),
                ),
                Err(error) => {
                    let notice = error.notice_for("Not exported");
                    (String::new(), Err(ExportFailure::Failed(notice)))
                }
            };
            JobResult::Events(vec![Event::SavedSession(SavedSessionEvent::Exported {
                query: export.query,
                title,
                result,
            })])
        });
    }

    pub(in crate::engine) fn delete(id: SessionId, cx: &mut EngineCx) {
        let (sessions, index) = (Arc::clone(&cx.sessions), Arc::clone(&cx.session_index));
        let trash = cx.trash.clone();
        cx.jobs.spawn_blocking(move || {
            let title = index.title(&id).unwrap_or_else(|_| id.to_string());
            let result = trash.delete(&sessions, &id, &Zoned::now());
            JobResult::Sessions(SessionsResult::Deleted { id, title, result })
        });
    }

    /// Restores the session that was deleted last, in this run or before it.
    pub(in crate::engine) fn undo_delete(cx: &mut EngineCx) {
        let (sessions, trash) = (Arc::clone(&cx.sessions), cx.trash.clone());
        cx.jobs.spawn_blocking(move || {
            let notice = match trash.restore_newest(&sessions) {
                Ok(Some((id, title))) => {
                    return JobResult::Sessions(SessionsResult::Restored { id, title });
                }
                Ok(None) => Notice::info("Nothing to restore: the trash is empty."),
                Err(error) => error.notice_for("Not restored"),
            };
            JobResult::Events(vec![Event::NoticePosted(notice)])
        });
    }
}

/// `failed` begins the notice of a failure, such as `Not renamed`.
fn event_or_notice(result: Result<SavedSessionEvent, StoreError>, failed: &str) -> JobResult {
    JobResult::Events(vec![match result {
        Ok(event) => Event::SavedSession(event),
        Err(error) => Event::NoticePosted(error.notice_for(failed)),
    }])
}

fn free_title(title: &str, index: &SessionIndex) -> String {
    let (summaries, _) = index.list(ReadLimits::INSTANT);
    let titles: HashSet<&str> = summaries.iter().map(|summary| &*summary.title).collect();
    copy_title(title, |candidate| titles.contains(candidate))
}

fn write(
    export: &SessionExport,
    session: &Session,
    secrets: &SecretRegistry,
) -> Result<PathBuf, ExportFailure> {
    if session.messages.is_empty() {
        let notice = Notice::info("Nothing to export: there is no answer yet.");
        return Err(ExportFailure::Failed(notice));
    }
    let text = store::render_session(session, export.format, export.part, secrets);
    let name = export_file_name(session.title(), export.format);
    let written = store::write_export(&export.path, &name, &text, export.replaces);
    written.map_err(|error| match error {
        ExportError::Exists(path) => ExportFailure::Exists(path),
        error => ExportFailure::Failed(
            Notice::failure(format!("Not exported: {error}.")).with_advice("Choose another path."),
        ),
    })
}
