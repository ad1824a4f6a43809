//! The last saves, when the program ends: continues until everything is written or the disk
//! refuses.

use super::journal_writer::JournalEvent;
use super::session_writer::ConversationSeq;
use super::{Persistence, conflict_notice};
use crate::domain::{Notice, Session, SessionId};
use crate::engine::jobs::JobResult;
use crate::engine::outbox::Outbox;
use crate::protocol::Event;
use crate::store::{SessionStore, StoreError};
use tokio::task::JoinSet;

#[derive(Default)]
pub struct LastSaves {
    done: Vec<(ConversationSeq, SessionId, Option<SessionId>)>,
    fault: Option<StoreError>,
}

impl LastSaves {
    pub async fn save_all(&mut self, persistence: &mut Persistence, jobs: &mut JoinSet<JobResult>) {
        let Persistence {
            sessions, journal, ..
        } = persistence;
        sessions.retry_now();
        let mut has_journal_failed = false;
        while !sessions.is_idle() || !(journal.is_idle() || has_journal_failed) || !jobs.is_empty()
        {
            tokio::select! {
                saved = sessions.next_saved(), if !sessions.is_idle() => match saved.result {
                    Ok(id) => {
                        journal.session_saved(saved.conversation, saved.save);
                        self.done.push((saved.conversation, id, saved.fork_of));
                    }
                    Err(fault) => {
                        tracing::error!("a session could not be saved: {fault}");
                        self.fault = Some(fault);
                    }
                },
                event = journal.next_event(), if !journal.is_idle() && !has_journal_failed => {
                    has_journal_failed = matches!(event, JournalEvent::Failed(_));
                }
                Some(_) = jobs.join_next() => {}
            }
        }
    }

    pub fn report(&mut self, current: ConversationSeq, outbox: &mut Outbox) {
        for (conversation, id, fork_of) in self.done.drain(..) {
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

    /// Notices about unsaved conversations, with the place where each is now.
    pub async fn into_unsaved_notices(self, persistence: Persistence) -> Vec<Notice> {
        let in_journal = persistence.journal.has_all_answers_on_disk();
        let unsaved = persistence.sessions.into_unsaved();
        if unsaved.is_empty() {
            return Vec::new();
        }
        if in_journal && unsaved.len() == 1 {
            let notice = Notice::failure("The last conversation could not be saved.");
            let notice = match self.fault {
                Some(fault) => notice.with_reason(format!("{fault}.")),
                None => notice,
            };
            return vec![
                notice.with_advice("Its last turn is in the journal; the next start recovers it."),
            ];
        }
        let rescue = move || unsaved.iter().map(rescue_session).collect();
        let rescued = tokio::task::spawn_blocking(rescue).await;
        rescued.unwrap_or_default()
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
        Err(fault) => Notice::failure(message).with_reason(format!("{fault}.")),
    }
}
