//! Saves everything at exit, with one attempt for each conversation.

use super::journal_writer::JournalEvent;
use super::session_writer::ConversationSeq;
use super::{Persistence, conflict_notice};
use crate::domain::{Notice, Session, SessionId};
use crate::engine::job_set::JobSet;
use crate::engine::outbox::Outbox;
use crate::protocol::Event;
use crate::store::{SessionStore, StoreError};

#[derive(Default)]
pub struct LastSaves {
    /// Each saved conversation, the session that it was saved as and, if a conflict made that
    /// session a fork, the original.
    saved: Vec<(ConversationSeq, SessionId, Option<SessionId>)>,
    last_error: Option<StoreError>,
}

impl LastSaves {
    pub async fn save_all(&mut self, persistence: &mut Persistence, jobs: &mut JobSet) {
        let Persistence {
            sessions, journal, ..
        } = persistence;
        sessions.retry_now();
        journal.retry_now();
        let mut has_journal_failed = false;
        while !sessions.is_idle() || !(journal.is_idle() || has_journal_failed) || !jobs.is_empty()
        {
            tokio::select! {
                outcome = sessions.next_saved(), if !sessions.is_idle() => match outcome.result {
                    Ok(id) => {
                        journal.handle_session_saved(outcome.conversation, outcome.save);
                        self.saved.push((outcome.conversation, id, outcome.fork_of));
                    }
                    Err(error) => {
                        tracing::error!("a session could not be saved: {error}");
                        self.last_error = Some(error);
                    }
                },
                event = journal.next_event(), if !journal.is_idle() && !has_journal_failed => {
                    has_journal_failed = matches!(event, JournalEvent::Failed(_));
                }
                Some(_) = jobs.join_next() => {}
            }
        }
    }

    /// Reports the saves to the front end. `current` is the open conversation.
    pub fn report(&mut self, current: ConversationSeq, outbox: &mut Outbox) {
        for (conversation, id, fork_of) in self.saved.drain(..) {
            if let Some(original) = fork_of {
                outbox.push(Event::LowPriorityNoticePosted(conflict_notice(
                    &original, &id,
                )));
            }
            if conversation == current {
                outbox.push(Event::SessionSaved(id));
            }
        }
    }

    /// Writes unsaved conversations to the temporary folder, unless there is only one and a journal
    /// has it. Returns a notice about each.
    pub async fn into_unsaved_notices(self, persistence: Persistence) -> Vec<Notice> {
        let journal = persistence.journal;
        let unsaved = persistence.sessions.into_unsaved();
        if let [only] = unsaved.as_slice()
            && journal.contains(only.conversation, only.save)
        {
            let notice = Notice::failure("The last conversation could not be saved.");
            let notice = match self.last_error {
                Some(error) => notice.with_reason(format!("{error}.")),
                None => notice,
            };
            return vec![
                notice.with_advice("Its last turn is in the journal; the next start recovers it."),
            ];
        }
        if unsaved.is_empty() {
            return Vec::new();
        }
        let rescue_all = move || {
            let unsaved = unsaved.iter();
            unsaved
                .map(|queued| rescue_session(&queued.session))
                .collect()
        };
        let notices = tokio::task::spawn_blocking(rescue_all).await;
        notices.unwrap_or_default()
    }
}

fn rescue_session(session: &Session) -> Notice {
    let title = session.title();
    let message = format!("The conversation \"{title}\" could not be saved.");
    match SessionStore::save_to_temp_folder(session) {
        Ok(path) => Notice::failure(message).with_advice(format!(
            "A copy is in {}: move it to a safe place.",
            path.display()
        )),
        Err(error) => Notice::failure(message).with_reason(format!("{error}.")),
    }
}
