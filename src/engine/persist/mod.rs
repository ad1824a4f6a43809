//! Saves conversations and reports failed saves. `session_writer` writes session files,
//! `journal_writer` writes the journal of the running turn, `session_record` adds a turn to the
//! session, `unsaved_banner` keeps a banner until every conversation is saved, `unfinished` finds
//! the turns that an earlier run left unfinished, `crash_recovery` offers to resume them,
//! `last_saves` saves everything at the end of the program.

pub(super) mod crash_recovery;
mod journal_writer;
mod last_saves;
mod session_record;
pub(super) mod session_writer;
pub(super) mod unfinished;
mod unsaved_banner;

pub(super) use last_saves::LastSaves;
pub(super) use session_record::TurnToSave;

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::sessions::Conversation;
use crate::domain::{
    Advice, Banner, BannerCause, Notice, Prompt, PromptKind, Session, SessionId, TurnEnd,
    TurnEvent, Usage,
};
use crate::protocol::{Event, SavedSessionEvent};
use crate::store::{Journal, JournalRecord, Journals, SessionStore};
use jiff::Timestamp;
use journal_writer::{JournalEvent, JournalWriter};
use session_writer::{ConversationSeq, SaveOutcome, SaveSeq, SessionWriter};
use std::sync::Arc;
use unsaved_banner::UnsavedConversations;

const UNWRITABLE_JOURNAL: BannerCause = BannerCause::UnwritableJournal;

pub(super) enum PersistEvent {
    Session(SaveOutcome),
    Journal(JournalEvent),
}

pub(super) struct Persistence {
    sessions: SessionWriter,
    journal: JournalWriter,
    unsaved: UnsavedConversations,
    /// The save that contains the partial answer of the turn that is about to end.
    partial_answer_save: Option<SaveSeq>,
    is_private: bool,
    /// A fork that has no file name yet, and the title of the session it was forked from.
    pending_fork: Option<(ConversationSeq, String)>,
    /// Confirms a new title whose save has not been attempted yet.
    pending_title: Option<(ConversationSeq, SaveSeq, Event)>,
}

impl Persistence {
    pub(super) fn new(sessions: Arc<SessionStore>, journals: Journals) -> Self {
        Self {
            sessions: SessionWriter::new(sessions),
            journal: JournalWriter::new(Arc::new(journals)),
            unsaved: UnsavedConversations::default(),
            partial_answer_save: None,
            is_private: false,
            pending_fork: None,
            pending_title: None,
        }
    }

    /// Cancel-safe.
    pub(super) async fn next_event(&mut self) -> PersistEvent {
        tokio::select! {
            biased;
            outcome = self.sessions.next_saved() => PersistEvent::Session(outcome),
            event = self.journal.next_event() => PersistEvent::Journal(event),
        }
    }

    pub(super) fn is_private(&self) -> bool {
        self.is_private
    }

    fn may_save(&self, cx: &EngineCx) -> bool {
        !cx.options.no_save && !self.is_private
    }

    /// The prompt is written before any text of the answer.
    pub(super) fn begin_turn(
        &mut self,
        conversation: &Conversation,
        prompt: &Prompt,
        model: &str,
        cx: &EngineCx,
    ) {
        if !self.may_save(cx) {
            return;
        }
        let session = conversation.session();
        let started = session.started_at.unwrap_or_else(Timestamp::now);
        let message_count = session.messages.len();
        let attachments = conversation.answered_attachments(prompt);
        let turn = JournalRecord::Turn {
            attachments: JournalRecord::attachment_entries(&attachments),
            prompt: conversation.answered_prompt(prompt.kind, prompt.typed_text()),
            model: model.to_owned(),
            session: session.id.clone(),
            started: started.to_string(),
            before: match prompt.kind {
                PromptKind::Ask | PromptKind::Retry => message_count,
                PromptKind::Replace => session
                    .nth_last_prompt_index(prompt.replaced_turns)
                    .unwrap_or(message_count),
                _ => session.last_prompt_index().unwrap_or(message_count),
            },
            at: Timestamp::now().to_string(),
        };
        let store = cx.sessions.attachments();
        self.journal.save_attachments(store, attachments);
        self.journal.begin(conversation.seq(), turn);
    }

    pub(super) fn record(&mut self, event: &TurnEvent, cx: &mut EngineCx) {
        self.journal.record_event(event);
        let TurnEvent::Ended { end, .. } = event else {
            return;
        };
        let partial_answer_save = self.partial_answer_save.take();
        if !matches!(end, TurnEnd::Answered { .. }) {
            // Only turns that the user did not see end are offered at the next start.
            self.journal.end_turn(partial_answer_save);
        }
        // An answer must be on disk before it is shown as complete.
        if self.journal.is_holding_events() {
            cx.outbox.hold();
        }
    }

    pub(super) fn save_answer(
        &mut self,
        conversation: &mut Conversation,
        turn: &TurnToSave,
        answer: &str,
        usage: Usage,
        cx: &EngineCx,
    ) {
        let complete_answer =
            session_record::add_answered_turn(conversation.session_mut(), turn, answer, usage);
        if let Some(save) = self.save_conversation(conversation, cx) {
            let record = JournalRecord::from_answer(
                &complete_answer,
                usage,
                Timestamp::now(),
                turn.is_stopped,
            );
            self.journal.record_answer(record, save);
        }
    }

    pub(super) fn save_partial_answer(
        &mut self,
        conversation: &mut Conversation,
        turn: &TurnToSave,
        text: &str,
        cx: &EngineCx,
    ) {
        let prompt = conversation.answered_prompt(turn.kind, turn.prompt);
        session_record::add_cancelled_turn(conversation.session_mut(), turn, &prompt, text);
        self.partial_answer_save = self.save_conversation(conversation, cx);
    }

    /// Queues a save of the conversation. `None` if it must not be saved, or has no answer yet: a
    /// file is created only with the first answer, even a partial one.
    pub(super) fn save_conversation(
        &mut self,
        conversation: &Conversation,
        cx: &EngineCx,
    ) -> Option<SaveSeq> {
        let session = conversation.session();
        let seq = conversation.seq();
        (self.may_save(cx) && session.has_answer()).then(|| {
            let read = conversation.read_choices().clone();
            self.sessions.save(seq, file_version(session), read)
        })
    }

    /// `confirmation` goes out once the conversation is saved, or at once if nothing is saved.
    pub(super) fn save_new_title(
        &mut self,
        conversation: &Conversation,
        confirmation: Event,
        cx: &mut EngineCx,
    ) {
        match self.save_conversation(conversation, cx) {
            Some(save) => self.pending_title = Some((conversation.seq(), save, confirmation)),
            None => cx.outbox.push(confirmation),
        }
    }

    /// Saves a conversation to which the text of an earlier run's journal was added, and keeps
    /// that journal until the save has succeeded. Without a file, the journal continues.
    pub(super) fn save_recovered(
        &mut self,
        conversation: &Conversation,
        journal: Journal,
        cx: &EngineCx,
    ) {
        let save = self.save_conversation(conversation, cx);
        let until = save.unwrap_or_else(|| self.sessions.next_save());
        let journal = match save {
            // Otherwise two journals would have the turn if the program were killed again.
            None => self.journal.continue_journal(conversation.seq(), journal),
            Some(_) => Err(journal),
        };
        if let Err(journal) = journal {
            self.journal.adopt(conversation.seq(), until, journal);
        }
    }

    pub(super) fn handle_event(
        &mut self,
        event: PersistEvent,
        conversation: &mut Conversation,
        cx: &mut EngineCx,
    ) {
        match event {
            PersistEvent::Session(outcome) => self.handle_save(outcome, conversation, cx),
            PersistEvent::Journal(event) => self.handle_journal_event(event, cx),
        }
    }

    fn handle_save(
        &mut self,
        outcome: SaveOutcome,
        conversation: &mut Conversation,
        cx: &mut EngineCx,
    ) {
        cx.report_tightened_permissions();
        let (seq, save) = (outcome.conversation, outcome.save);
        // An earlier save, without the new title, may still be under way.
        let has_title =
            |(renamed, since, _): &mut (_, SaveSeq, _)| *renamed == seq && *since <= save;
        let new_title = self.pending_title.take_if(has_title);
        match outcome.result {
            Ok(id) => {
                self.journal.handle_session_saved(seq, save);
                prepare_home_again(cx);
                if let Some(original) = outcome.fork_of {
                    let notice = conflict_notice(&original, &id);
                    cx.outbox.push(Event::LowPriorityNoticePosted(notice));
                }
                let fork = self.pending_fork.take_if(|(forked, _)| *forked == seq);
                if let Some((_, original_title)) = fork {
                    cx.notice(fork_notice(conversation.session().title(), &original_title));
                }
                if let Some((_, _, confirmation)) = new_title {
                    cx.outbox.push(confirmation);
                }
                if seq == conversation.seq() {
                    if let Some(choices) = outcome.choices {
                        conversation.choices_saved(choices, cx);
                    }
                    conversation.session_mut().id = Some(id.clone());
                    cx.outbox.push(Event::SessionSaved(id));
                }
                self.unsaved.handle_saved(seq, cx);
            }
            Err(error) => {
                tracing::error!("a session could not be saved: {error}");
                if new_title.is_some() {
                    let notice = error.notice_for("The new title is not saved");
                    cx.notice(notice.with_reason("The save is retried automatically."));
                }
                self.unsaved.handle_failed(seq, &error, cx);
            }
        }
    }

    fn handle_journal_event(&mut self, event: JournalEvent, cx: &mut EngineCx) {
        match event {
            JournalEvent::Written => cx.clear_banner(&UNWRITABLE_JOURNAL),
            JournalEvent::Slow => tracing::warn!("writing the journal is taking a long time"),
            JournalEvent::Failed(error) => {
                tracing::warn!("the journal cannot be written: {error}");
                let notice = Notice::warning(format!("The journal cannot be written: {error}."))
                    .with_reason("If humble crashes, the running turn is lost.");
                if !cx.banners.contains_key(&UNWRITABLE_JOURNAL) {
                    cx.set_banner(Banner::new(UNWRITABLE_JOURNAL, notice));
                }
            }
        }
        if !self.journal.is_holding_events() {
            cx.outbox.release();
        }
    }

    /// Returns false if nothing changed.
    pub(super) fn set_private(
        &mut self,
        is_private: bool,
        conversation: &Conversation,
        cx: &mut EngineCx,
    ) -> bool {
        if std::mem::replace(&mut self.is_private, is_private) == is_private {
            let state = if is_private {
                "already private"
            } else {
                "not private"
            };
            cx.notice(Notice::info(format!("This conversation is {state}.")));
            return false;
        }
        cx.outbox.push(Event::PrivateChanged(is_private));
        cx.notice(match (is_private, &conversation.session().id) {
            (true, Some(id)) => Notice::info("Private mode is on: nothing more is saved.")
                .with_reason(format!("Everything saved so far stays in {id}.")),
            (true, None) => Notice::info("Private mode is on: this conversation is not saved."),
            (false, _) => {
                Notice::info("Private mode is off: the next answer saves this conversation.")
                    .with_reason("The private part is saved with it.")
            }
        });
        if is_private {
            self.journal.discard();
            cx.outbox.release();
        }
        true
    }

    /// Ends private mode because another conversation opens. Returns true if it was on.
    pub(super) fn end_private(&mut self) -> bool {
        std::mem::take(&mut self.is_private)
    }

    /// If not, notifies the user.
    pub(super) fn can_fork(&self, conversation: &Conversation, cx: &mut EngineCx) -> bool {
        if self.is_private {
            let notice = Notice::warning("A private conversation is not saved.");
            cx.notice(notice.with_advice(Advice::ResumeSaving));
            return false;
        }
        let has_answer = !conversation.session().messages.is_empty();
        if !has_answer {
            cx.notice(Notice::info("Nothing to fork: there is no answer yet."));
        }
        has_answer
    }

    /// Continues the conversation in a new file under another title. A notice confirms it once the
    /// file exists.
    pub(super) fn fork(&mut self, conversation: &mut Conversation, title: &str, cx: &mut EngineCx) {
        let original_title = conversation.fork(title);
        self.pending_fork = Some((conversation.seq(), original_title));
        let title = title.to_owned();
        let forked = SavedSessionEvent::Forked { title };
        cx.outbox.push(Event::SavedSession(forked));
        self.save_conversation(conversation, cx);
    }

    /// Whether no save is running or due.
    pub(super) fn is_idle(&self) -> bool {
        self.sessions.is_idle()
    }
}

/// The session as saved in its file. If every turn was rewound, the file keeps the branch left
/// last as the active one, because a session without messages would have no title in the list.
fn file_version(session: &Session) -> Session {
    let mut session = session.clone();
    if session.messages.is_empty()
        && let Some(last_index) = session.branches.len().checked_sub(1)
    {
        session.switch_branch(last_index, Timestamp::now());
    }
    session
}

/// Prepares the home folder again if it was unwritable before: a save has succeeded since.
fn prepare_home_again(cx: &mut EngineCx) {
    if cx.banners.contains_key(&BannerCause::UnwritableHome) {
        let home = cx.home.clone();
        cx.jobs
            .spawn_blocking(move || JobResult::HomePrepared(home.prepare()));
    }
}

fn conflict_notice(original: &SessionId, id: &SessionId) -> Notice {
    Notice::warning(format!(
        "{original} was changed by another program or cannot be read."
    ))
    .with_advice(format!("This conversation continues as {id}."))
}

fn fork_notice(title: &str, original_title: &str) -> Notice {
    Notice::info(format!("Forked. You are in the copy, \"{title}\"."))
        .with_reason(format!("The original, \"{original_title}\", is unchanged."))
}
