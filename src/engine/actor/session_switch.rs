//! Switches to another session and updates everything that depends on the conversation.

use super::Actor;
use crate::domain::{Advice, Notice, Prompt, QuoteSource, Session, SessionId};
use crate::engine::jobs::SessionsResult;
use crate::engine::persist::session_writer::ConversationSeq;
use crate::engine::persist::unfinished::ResumedConversation;
use crate::engine::sessions;
use crate::engine::sessions::saved::SavedSessions;
use crate::engine::turn::TurnInput;
use crate::engine::turn_driver::ReplyTracer;
use crate::protocol::{Event, SavedSessionCommand, SavedSessionEvent};
use crate::store::StoreError;
use std::sync::Arc;

impl Actor {
    /// Replaces the conversation; a running turn is stopped first.
    pub(super) fn begin_session(&mut self, session: Session) {
        self.stop_opening();
        if self.turn.is_some() {
            self.feed(TurnInput::Interrupt);
            self.cx.notice(Notice::warning(
                "The running answer was stopped. Its text so far is saved, unless the conversation \
                 is private.",
            ));
        }
        self.guards.leave_session(self.conversation.session());
        self.conversation.replace(session);
        self.agents.leave_conversation();
        self.server_requests.begin_conversation();
        self.hub.unfollow_all_resources();
        self.end_session_grants();
        let session = self.conversation.session();
        self.guards.enter_session(session);
        self.last_trace = ReplyTracer::default();
        let was_private = self.persist.end_private();
        if was_private {
            self.apply_log_level();
            self.cx.outbox.push(Event::PrivateChanged(false));
        }
        let session = Arc::new(session.clone());
        self.cx.outbox.push(Event::SessionOpened(session));
        if was_private {
            let notice = Notice::info("Private mode is off: this conversation is saved.");
            self.cx.notice(notice.with_advice(Advice::MakePrivate));
        }
        self.announce_consulting();
        self.tool_offer.reset();
        self.list_held_back_tools();
        let meter = self.models.context.reset();
        self.cx.outbox.push(Event::ContextMeasured(meter));
        if !self.conversation.session().messages.is_empty() {
            self.estimate_session();
        }
    }

    /// Session grants end with the conversation.
    fn end_session_grants(&mut self) {
        if self.trust.clear_session_grants() {
            self.feed_approval();
            self.trust.publish_trust(&self.hub.servers(), &mut self.cx);
        }
    }

    pub(super) fn open_session(&mut self, session: Session) {
        let personas = self.settings.personas_mut();
        personas.restore(session.metadata.persona.as_deref(), &mut self.cx);
        self.begin_session(session);
        self.check_persona_tools();
    }

    pub(super) fn begin_empty_session(&mut self) {
        self.begin_session(Session::new(self.models.current_name()));
    }

    pub(super) fn handle_session_result(&mut self, result: SessionsResult) {
        match result {
            SessionsResult::Opened(Ok(session)) => self.open_session(*session),
            SessionsResult::Opened(Err(error)) => self.cx.notice(error.notice()),
            SessionsResult::Deleted {
                result: Err(error), ..
            } => self.cx.notice(error.notice_for("Not deleted")),
            SessionsResult::InitialOpened(result) => self.handle_initial_session(result),
            SessionsResult::Deleted {
                id,
                title,
                result: Ok(trashed),
            } => {
                // Saving the next answer would recreate the deleted file.
                if self.is_open(&id) {
                    self.begin_empty_session();
                    self.saved.record_deleted_open(id, self.conversation.seq());
                }
                let session = trashed.id;
                let deleted = Event::SessionDeleted { session, title };
                self.cx.outbox.push(deleted);
            }
            SessionsResult::Restored { id, title } => self.handle_restored(id, title),
            SessionsResult::Listed(listed, progress) => {
                self.saved.handle_listed(*listed, progress, &mut self.cx);
            }
            SessionsResult::Indexed(progress) => self.saved.handle_indexed(progress, &mut self.cx),
            SessionsResult::Searched(found) => self.saved.handle_searched(*found, &mut self.cx),
            SessionsResult::CopyTitled(seq, title) => self.fork(seq, &title),
        }
    }

    /// Opens the restored conversation if it was open when it was deleted and nothing was said
    /// since.
    fn handle_restored(&mut self, id: SessionId, title: String) {
        let restored = SavedSessionEvent::Restored {
            session: id.clone(),
            title,
        };
        self.cx.outbox.push(Event::SavedSession(restored));
        let was_open = self.saved.take_deleted_open(&id, self.conversation.seq());
        let is_unused = self.turn.is_none()
            && self.conversation.session().messages.is_empty()
            && !self.persist.is_private();
        if was_open && is_unused {
            sessions::open(id, &mut self.cx);
        }
    }

    fn is_open(&self, id: &SessionId) -> bool {
        self.conversation.session().id.as_ref() == Some(id)
    }

    /// Continues the conversation in a copy, unless it changed while the title was chosen.
    fn fork(&mut self, seq: ConversationSeq, title: &str) {
        if self.turn.is_some() || seq != self.conversation.seq() {
            let notice = Notice::warning("Not forked: the conversation has changed.");
            return self.cx.notice(notice.with_advice("Try again."));
        }
        self.end_session_grants();
        self.persist
            .fork(&mut self.conversation, title, &mut self.cx);
    }

    /// Deletes a session, unless it is open and about to be written again.
    pub(super) fn delete_session(&mut self, id: SessionId) {
        let is_open = self.is_open(&id);
        if is_open && (self.turn.is_some() || !self.persist.is_idle()) {
            let notice = Notice::info("The conversation is still being answered or saved.");
            return self.cx.notice(notice.with_advice("Delete it afterwards."));
        }
        SavedSessions::delete(id, &mut self.cx);
    }

    pub(super) fn route_saved_session_command(&mut self, command: SavedSessionCommand) {
        if let SavedSessionCommand::Rename { session, title } = &command
            && self.is_open(session)
        {
            return self.rename(title);
        }
        let Self { saved, cx, .. } = self;
        match command {
            SavedSessionCommand::Search { query, words } => saved.search(query, words, cx),
            SavedSessionCommand::Rename { session, title } => {
                SavedSessions::rename(session, &title, cx);
            }
            SavedSessionCommand::Copy(session) => SavedSessions::copy(session, cx),
            SavedSessionCommand::Export(export) => {
                SavedSessions::export(export, self.conversation.session(), cx);
            }
            SavedSessionCommand::UndoDelete => SavedSessions::undo_delete(cx),
        }
    }

    pub(super) fn rename(&mut self, title: &str) {
        if let Some(confirmation) = self.conversation.rename(title, &mut self.cx) {
            self.persist
                .save_new_title(&self.conversation, confirmation, &mut self.cx);
        }
    }

    /// Opens the session of an unfinished turn. Resumes the turn if tasks of its calls can be waited
    /// for; otherwise offers its prompt again.
    pub(super) fn resume(&mut self, resumed: ResumedConversation) {
        // A conversation without an answer has no file, and so no persona.
        match resumed.session.id.is_some() {
            true => self.open_session(resumed.session),
            false => self.begin_session(resumed.session),
        }
        self.persist
            .save_recovered(&self.conversation, resumed.journal, &self.cx);
        // It may have contained piped input.
        let guard = self.guards.current();
        guard.keep_of_message(QuoteSource::Earlier, &resumed.prompt);
        let prompt = Prompt::new(resumed.prompt).with_attachments(resumed.attachments);
        if !resumed.calls.is_empty() {
            // The other unfinished turns are offered at the next start.
            resumed
                .notice
                .into_iter()
                .for_each(|notice| self.cx.notice(notice));
            self.recovery
                .keep_calls(self.conversation.seq(), resumed.calls);
            return self.cx.outbox.push(Event::TurnResumed(prompt));
        }
        let notice = resumed.notice;
        let offered = Event::PromptOffered { prompt, notice };
        self.cx.outbox.push(offered);
        self.recovery.offer_next(&mut self.cx);
    }

    pub(super) fn handle_not_resumed(&mut self, why: &StoreError) {
        let notice = why.notice();
        self.cx
            .notice(notice.with_advice("The next start offers the turn again."));
        self.cx.outbox.push(Event::SessionNotOpened);
        self.recovery.offer_next(&mut self.cx);
    }

    /// For a change of the conversation other than a new answer.
    pub(super) fn save_and_estimate(&mut self) {
        self.persist.save_conversation(&self.conversation, &self.cx);
        self.estimate_session();
    }

    pub(super) fn set_private(&mut self, private: bool) {
        if self
            .persist
            .set_private(private, &self.conversation, &mut self.cx)
        {
            self.apply_log_level();
        }
    }

    /// At most `info` in private mode, because the log contains the conversation at `debug`.
    pub(super) fn apply_log_level(&self) {
        if let Some(log) = &self.cx.log {
            let level = self.cx.settings.log_level;
            log.set_level(if self.persist.is_private() {
                level.min(tracing::Level::INFO)
            } else {
                level
            });
        }
    }
}
