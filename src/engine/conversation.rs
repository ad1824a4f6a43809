//! Conversations: listing, looking into and opening those of before, and beginning
//! another.

use super::actor::{Actor, Done};
use super::saver::Epoch;
use super::turn::Input;
use super::turn_driver::ReplyTracer;
use crate::domain::{Notice, QueryId, Session, SessionId};
use crate::protocol::Event;
use std::sync::Arc;

impl Actor {
    pub(super) fn list_sessions(&mut self, query: QueryId) {
        let sessions = Arc::clone(&self.sessions);
        self.jobs.spawn_blocking(move || {
            let sessions = Arc::new(sessions.list());
            Done::Events(vec![Event::SessionsListed { query, sessions }])
        });
    }

    pub(super) fn preview(&mut self, query: QueryId, id: SessionId) {
        let sessions = Arc::clone(&self.sessions);
        self.jobs.spawn_blocking(move || {
            Done::Events(match sessions.preview(&id) {
                Ok(session) => {
                    vec![Event::SessionPreviewed {
                        query,
                        session: Arc::new(session),
                    }]
                }
                // The list says why it is broken.
                Err(_) => Vec::new(),
            })
        });
    }

    /// A conversation begins; a turn under way is stopped first.
    pub(super) fn begin_session(&mut self, session: Session) {
        if self.turn.is_some() {
            self.feed(Input::Interrupt);
            self.notice(Notice::warning(
                "The answer under way was stopped; its words are kept.",
            ));
        }
        self.epoch = Epoch(self.epoch.0 + 1);
        self.keep_quotes();
        self.forget_session();
        self.session = session;
        self.recall_quotes();
        self.trace = ReplyTracer::default();
        let was_private = std::mem::take(&mut self.private);
        if was_private {
            self.apply_log_level();
            self.outbox.push(Event::PrivateChanged(false));
        }
        self.outbox
            .push(Event::SessionOpened(Arc::new(self.session.clone())));
        if was_private {
            let notice = Notice::info("Private has ended: this conversation is saved.");
            self.notice(notice.advise("/private keeps it off the disk."));
        }
        self.empty_context();
        if !self.session.messages.is_empty() {
            self.weigh_session();
        }
    }
}
