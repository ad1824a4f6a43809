//! Saves conversations and reports saves that fail: `session_writer` writes session files,
//! `journal_writer` the journal of the running turn, `session_record` adds a turn to the
//! session, `crash_recovery` offers turns that an earlier run left `unfinished`, `last_saves`
//! handles the end of the program.

pub(super) mod crash_recovery;
mod journal_writer;
mod last_saves;
mod session_record;
pub(super) mod session_writer;
pub(super) mod unfinished;

pub(super) use last_saves::LastSaves;
pub(super) use session_record::TurnToSave;

use super::cx::EngineCx;
use super::jobs::JobResult;
use super::sessions::Conversation;
use crate::domain::{
    Advice, Banner, BannerCause, Notice, Prompt, PromptKind, Session, SessionId, TurnEnd,
    TurnEvent, Usage,
};
use crate::protocol::Event;
use crate::store::{Journal, JournalRecord, Journals, SessionStore};
use jiff::Timestamp;
use journal_writer::{JournalEvent, JournalWriter};
use session_writer::{ConversationSeq, SaveOutcome, SaveSeq, SessionWriter};
use std::sync::Arc;

const JOURNAL: BannerCause = BannerCause::UnwritableJournal;
const UNSAVED: BannerCause = BannerCause::UnsavedSession;

/// The result of a write in the background.
pub(super) enum PersistEvent {
    Session(SaveOutcome),
    Journal(JournalEvent),
}

pub(super) struct Persistence {
    sessions: SessionWriter,
    journal: JournalWriter,
    /// The save that contains the partial answer of the turn that is ending.
    partial_answer_save: Option<SaveSeq>,
    /// This conversation is not saved.
    is_private: bool,
    /// A fork without a file name yet, and the session it was forked from.
    pending_fork: Option<(ConversationSeq, Option<SessionId>)>,
}

impl Persistence {
    pub(super) fn new(sessions: Arc<SessionStore>, journals: Journals) -> Self {
        Self {
            sessions: SessionWriter::new(sessions),
            journal: JournalWriter::new(Arc::new(journals)),
            partial_answer_save: None,
            is_private: false,
            pending_fork: None,
        }
    }

    /// Waits for the next write to finish. Cancel-safe.
    pub(super) async fn next(&mut self) -> PersistEvent {
        tokio::select! {
            biased;
            saved = self.sessions.next_saved() => PersistEvent::Session(saved),
            event = self.journal.next_event() => PersistEvent::Journal(event),
        }
    }

    pub(super) fn is_private(&self) -> bool {
        self.is_private
    }

    fn is_saving(&self, cx: &EngineCx) -> bool {
        !cx.options.no_save && !self.is_private
    }

    /// Starts the journal of a turn. The prompt is written before any text of the answer.
    pub(super) fn begin_turn(
        &mut self,
        conversation: &Conversation,
        prompt: &Prompt,
        model: &str,
        cx: &EngineCx,
    ) {
        if !self.is_saving(cx) {
            return;
        }
        let session = conversation.session();
        let started = session.started_at.unwrap_or_else(Timestamp::now);
        let count = session.messages.len();
        let turn = JournalRecord::Turn {
            prompt: conversation.answered_prompt(prompt.kind, prompt.typed_text()),
            model: model.to_owned(),
            session: session.id.clone(),
            started: started.to_string(),
            before: match prompt.kind {
                PromptKind::Ask => count,
                _ => session.last_prompt_index().unwrap_or(count),
            },
            at: Timestamp::now().to_string(),
        };
        self.journal.begin(conversation.seq(), turn);
    }

    /// Records an event of the turn in the journal.
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
        // An answer shown as complete must be on the disk first.
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
        let whole =
            session_record::add_answered_turn(conversation.session_mut(), turn, answer, usage);
        if let Some(save) = self.save_conversation(conversation, cx) {
            let record = JournalRecord::from_answer(&whole, usage, Timestamp::now());
            self.journal.record_answer(record, save);
        }
    }

    /// Saves the partial answer of a turn that ended without an answer.
    pub(super) fn save_partial_answer(
        &mut self,
        conversation: &mut Conversation,
        turn: &TurnToSave,
        words: &str,
        cx: &EngineCx,
    ) {
        let prompt = conversation.answered_prompt(turn.kind, turn.prompt);
        session_record::add_cancelled_turn(conversation.session_mut(), turn.kind, &prompt, words);
        self.partial_answer_save = self.save_conversation(conversation, cx);
    }

    /// Queues a save of the conversation. None if it must not be saved or has no answer yet:
    /// the first answer creates the file.
    pub(super) fn save_conversation(
        &mut self,
        conversation: &Conversation,
        cx: &EngineCx,
    ) -> Option<SaveSeq> {
        let session = conversation.session();
        let has_answer = !session.messages.is_empty() || !session.branches.is_empty();
        let seq = conversation.seq();
        (self.is_saving(cx) && has_answer).then(|| self.sessions.save(seq, file_version(session)))
    }

    /// Saves a conversation with the text of an earlier run's journal, and keeps that journal
    /// until the save has succeeded.
    pub(super) fn save_recovered(
        &mut self,
        conversation: &Conversation,
        journal: Journal,
        cx: &EngineCx,
    ) {
        let written = self.save_conversation(conversation, cx);
        let until = written.unwrap_or_else(|| self.sessions.next_save());
        self.journal.adopt(conversation.seq(), until, journal);
    }

    /// Handles the result of a write.
    pub(super) fn handle_event(
        &mut self,
        written: PersistEvent,
        conversation: &mut Conversation,
        cx: &mut EngineCx,
    ) {
        match written {
            PersistEvent::Session(saved) => self.session_saved(saved, conversation, cx),
            PersistEvent::Journal(event) => self.handle_journal_event(event, cx),
        }
    }

    fn session_saved(
        &mut self,
        saved: SaveOutcome,
        conversation: &mut Conversation,
        cx: &mut EngineCx,
    ) {
        cx.report_narrowed_permissions();
        let (seq, save) = (saved.conversation, saved.save);
        match saved.result {
            Ok(id) => {
                self.journal.session_saved(seq, save);
                prepare_home_again(cx);
                if let Some(original) = saved.fork_of {
                    let notice = conflict_notice(&original, &id);
                    cx.outbox.push(Event::LowPriorityNoticePosted(notice));
                }
                if let Some((_, original)) = self.pending_fork.take_if(|(forked, _)| *forked == seq)
                {
                    cx.notice(fork_notice(&id, original));
                }
                if seq == conversation.seq() {
                    conversation.session_mut().id = Some(id.clone());
                    cx.outbox.push(Event::SessionSaved(id));
                }
                if cx.banners.contains_key(&UNSAVED) {
                    cx.clear_banner(&UNSAVED);
                    cx.notice(Notice::info("The conversation is saved again."));
                }
            }
            Err(fault) => {
                tracing::error!("a session could not be saved: {fault}");
                let notice = fault
                    .notice()
                    .with_reason("The save is retried automatically; you can continue.");
                let shown = cx.banners.get(&UNSAVED);
                if shown.is_none_or(|shown| shown.notice != notice) {
                    cx.set_banner(Banner::new(UNSAVED, notice));
                }
            }
        }
    }

    fn handle_journal_event(&mut self, event: JournalEvent, cx: &mut EngineCx) {
        match event {
            JournalEvent::Written => cx.clear_banner(&JOURNAL),
            JournalEvent::Slow => tracing::warn!("writing the journal takes long"),
            JournalEvent::Failed(fault) => {
                tracing::warn!("the journal cannot be written: {fault}");
                let notice = Notice::warning(format!("The journal cannot be written: {fault}."))
                    .with_reason("If humble crashes, the running turn is lost.");
                if !cx.banners.contains_key(&JOURNAL) {
                    cx.set_banner(Banner::new(JOURNAL, notice));
                }
            }
        }
        if !self.journal.is_holding_events() {
            cx.outbox.release();
        }
    }

    /// Turns private mode on or off for this conversation. False if it did not change.
    pub(super) fn set_private(
        &mut self,
        private: bool,
        conversation: &Conversation,
        cx: &mut EngineCx,
    ) -> bool {
        if std::mem::replace(&mut self.is_private, private) == private {
            let state = if private {
                "already private"
            } else {
                "not private"
            };
            cx.notice(Notice::info(format!("This conversation is {state}.")));
            return false;
        }
        cx.outbox.push(Event::PrivateChanged(private));
        cx.notice(match (private, &conversation.session().id) {
            (true, Some(id)) => Notice::info("Private mode is on: nothing more is saved.")
                .with_reason(format!("{id} keeps what was saved so far.")),
            (true, None) => Notice::info("Private mode is on: this conversation is not saved."),
            (false, _) => {
                Notice::info("Private mode is off: the next answer saves this conversation.")
                    .with_reason("The private part is saved with it.")
            }
        });
        if private {
            self.journal.discard();
            cx.outbox.release();
        }
        true
    }

    /// Ends private mode because another conversation starts. True if it was on.
    pub(super) fn end_private(&mut self) -> bool {
        std::mem::take(&mut self.is_private)
    }

    /// Continues the conversation in a new file, whose name is reported once it exists.
    pub(super) fn fork(&mut self, conversation: &mut Conversation, cx: &mut EngineCx) {
        if self.is_private {
            let notice = Notice::warning("A private conversation is not saved.");
            return cx.notice(notice.with_advice(Advice::ResumeSaving));
        }
        if conversation.session().messages.is_empty() {
            return cx.notice(Notice::info("Nothing to fork: there is no answer yet."));
        }
        let original = conversation.fork();
        self.pending_fork = Some((conversation.seq(), original));
        self.save_conversation(conversation, cx);
    }
}

/// The version of the session for its file. If every turn was rewound, the branch left last
/// stays active in the file until there is another answer: a file without messages would be a
/// nameless entry in the list.
fn file_version(session: &Session) -> Session {
    let mut session = session.clone();
    if session.messages.is_empty()
        && let Some(last) = session.branches.len().checked_sub(1)
    {
        session.switch_branch(last, Timestamp::now());
    }
    session
}

/// Prepares the home folder again: a save succeeded although the folder was unwritable before.
fn prepare_home_again(cx: &mut EngineCx) {
    if cx.banners.contains_key(&BannerCause::UnwritableHome) {
        let home = cx.home.clone();
        cx.jobs
            .spawn_blocking(move || JobResult::HomePrepared(home.prepare()));
    }
}

/// Another program changed the file, so the conversation was saved as a new one.
fn conflict_notice(original: &SessionId, id: &SessionId) -> Notice {
    Notice::warning(format!("Another program changed {original}."))
        .with_advice(format!("This conversation continues as {id}."))
}

fn fork_notice(id: &SessionId, original: Option<SessionId>) -> Notice {
    let notice = Notice::info(format!("Forked. You are in the copy, {id}."));
    match original {
        Some(original) => notice.with_reason(format!("The original, {original}, is unchanged.")),
        None => notice,
    }
}
