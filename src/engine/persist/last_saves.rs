//! The last tries to save, when the program ends: until nothing is left to be written, or
//! the disk refuses.

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
        let mut refused = false;
        while !sessions.is_idle() || !(journal.is_idle() || refused) || !jobs.is_empty() {
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
                step = journal.next_event(), if !journal.is_idle() && !refused => {
                    refused = matches!(step, JournalEvent::Failed(_));
                }
                Some(_) = jobs.join_next() => {}
            }
        }
    }

    pub fn report(&mut self, present: ConversationSeq, outbox: &mut Outbox) {
        for (epoch, id, fork_of) in self.done.drain(..) {
            if let Some(original) = fork_of {
                outbox.push(Event::LowPriorityNoticePosted(conflict_notice(
                    &original, &id,
                )));
            }
            if epoch == present {
                outbox.push(Event::SessionSaved(id));
            }
        }
    }

    /// The last try is over: what is not saved, in a sentence that names where it is now.
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
                notice.with_advice("Its last turn is in the journal: the next start saves it."),
            ];
        }
        let rescue = move || unsaved.iter().map(rescue_session).collect();
        let rescued = tokio::task::spawn_blocking(rescue).await;
        rescued.unwrap_or_default()
    }
}

fn rescue_session(session: &Session) -> Notice {
    let title = session.title();
    let what = format!("The conversation \"{title}\" could not be saved.");
    match SessionStore::save_to_temp_folder(session) {
        Ok(path) => Notice::failure(what).with_advice(format!(
            "All of it is in {}: move it from there.",
            path.display()
        )),
        Err(fault) => Notice::failure(what).with_reason(format!("{fault}.")),
    }
}
