//! What of a conversation goes to the disk, and what the user is told when it cannot:
//! `session_writer` writes the session's file, `journal_writer` the journal of the turn under
//! way, `session_record` adds a turn to the session, `crash_recovery` offers what an earlier
//! run left `unfinished`, `last_saves` is the end of the program.

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

/// Something that was written in the background.
pub(super) enum PersistEvent {
    Session(SaveOutcome),
    Journal(JournalEvent),
}

pub(super) struct Persistence {
    sessions: SessionWriter,
    journal: JournalWriter,
    /// The save that holds the words of the turn that ends now.
    partial_answer_save: Option<SaveSeq>,
    /// Nothing of this conversation is saved.
    is_private: bool,
    /// A fork whose name is not known yet, and what it is a fork of.
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

    /// Waits for the next write to end. Cancel-safe.
    pub(super) async fn next(&mut self) -> PersistEvent {
        tokio::select! {
            biased;
            saved = self.sessions.next_saved() => PersistEvent::Session(saved),
            step = self.journal.next_event() => PersistEvent::Journal(step),
        }
    }

    pub(super) fn is_private(&self) -> bool {
        self.is_private
    }

    fn is_saving(&self, cx: &EngineCx) -> bool {
        !cx.options.no_save && !self.is_private
    }

    /// A turn begins: its prompt is in the journal before its first word can be.
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

    /// Records an event of the turn, on its way to the front end.
    pub(super) fn record(&mut self, event: &TurnEvent, cx: &mut EngineCx) {
        self.journal.record_event(event);
        let TurnEvent::Ended { end, .. } = event else {
            return;
        };
        let kept = self.partial_answer_save.take();
        if !matches!(end, TurnEnd::Answered { .. }) {
            // Only what nobody saw end is offered at the next start: this turn has ended.
            self.journal.end_turn(kept);
        }
        // An answer that is shown as whole is on the disk.
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
        if let Some(ticket) = self.save_conversation(conversation, cx) {
            let record = JournalRecord::from_answer(&whole, usage, Timestamp::now());
            self.journal.record_answer(record, ticket);
        }
    }

    /// Keeps the words of a turn that ended without an answer.
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

    /// Asks for the conversation to be written as it is now. None where it is not to be,
    /// or has no answer yet: the first answer makes the file.
    pub(super) fn save_conversation(
        &mut self,
        conversation: &Conversation,
        cx: &EngineCx,
    ) -> Option<SaveSeq> {
        let session = conversation.session();
        let has_answer = !session.messages.is_empty() || !session.branches.is_empty();
        let epoch = conversation.seq();
        (self.is_saving(cx) && has_answer).then(|| self.sessions.save(epoch, file_version(session)))
    }

    /// Writes the conversation, which has the words of a journal of an earlier run now: that
    /// journal stays until this is written.
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

    /// Takes in what was written.
    pub(super) fn handle_event(
        &mut self,
        written: PersistEvent,
        conversation: &mut Conversation,
        cx: &mut EngineCx,
    ) {
        match written {
            PersistEvent::Session(saved) => self.session_saved(saved, conversation, cx),
            PersistEvent::Journal(step) => self.handle_journal_event(step, cx),
        }
    }

    fn session_saved(
        &mut self,
        saved: SaveOutcome,
        conversation: &mut Conversation,
        cx: &mut EngineCx,
    ) {
        cx.report_narrowed_permissions();
        let (epoch, ticket) = (saved.conversation, saved.save);
        match saved.result {
            Ok(id) => {
                self.journal.session_saved(epoch, ticket);
                prepare_home_again(cx);
                if let Some(original) = saved.fork_of {
                    let said = conflict_notice(&original, &id);
                    cx.outbox.push(Event::LowPriorityNoticePosted(said));
                }
                if let Some((_, original)) = self.pending_fork.take_if(|(of, _)| *of == epoch) {
                    cx.notice(fork_notice(&id, original));
                }
                if epoch == conversation.seq() {
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
                    .with_reason("The conversation goes on, and is saved as soon as that can be.");
                let known = cx.banners.get(&UNSAVED);
                if known.is_none_or(|known| known.notice != notice) {
                    cx.set_banner(Banner::new(UNSAVED, notice));
                }
            }
        }
    }

    fn handle_journal_event(&mut self, step: JournalEvent, cx: &mut EngineCx) {
        match step {
            JournalEvent::Written => cx.clear_banner(&JOURNAL),
            JournalEvent::Slow => tracing::warn!("the journal is slow"),
            JournalEvent::Failed(fault) => {
                tracing::warn!("the journal cannot be written: {fault}");
                let notice = Notice::warning(format!("The journal is not kept: {fault}."))
                    .with_reason("Should the program be killed, the turn under way is lost.");
                if !cx.banners.contains_key(&JOURNAL) {
                    cx.set_banner(Banner::new(JOURNAL, notice));
                }
            }
        }
        if !self.journal.is_holding_events() {
            cx.outbox.release();
        }
    }

    /// Nothing of the conversation is saved from now on, or again. False where that was so
    /// already.
    pub(super) fn set_private(
        &mut self,
        private: bool,
        conversation: &Conversation,
        cx: &mut EngineCx,
    ) -> bool {
        if std::mem::replace(&mut self.is_private, private) == private {
            let state = if private {
                "private already"
            } else {
                "not private"
            };
            cx.notice(Notice::info(format!("This conversation is {state}.")));
            return false;
        }
        cx.outbox.push(Event::PrivateChanged(private));
        cx.notice(match (private, &conversation.session().id) {
            (true, Some(id)) => Notice::info("Private: nothing is saved from now on.")
                .with_reason(format!("{id} stays as it is.")),
            (true, None) => Notice::info("Private: nothing of this conversation is saved."),
            (false, _) => Notice::info("This conversation is saved again with its next answer.")
                .with_reason("What was said in private is part of it then."),
        });
        if private {
            self.journal.discard();
            cx.outbox.release();
        }
        true
    }

    /// Another conversation begins. True where the one before was private.
    pub(super) fn end_private(&mut self) -> bool {
        std::mem::take(&mut self.is_private)
    }

    /// The conversation goes on in a file of its own, which is named once it is there.
    pub(super) fn fork(&mut self, conversation: &mut Conversation, cx: &mut EngineCx) {
        if self.is_private {
            let notice = Notice::warning("A private conversation is not saved.");
            return cx.notice(notice.with_advice(Advice::ResumeSaving));
        }
        if conversation.session().messages.is_empty() {
            return cx.notice(Notice::info("Nothing to fork: nothing was answered yet."));
        }
        let original = conversation.fork();
        self.pending_fork = Some((conversation.seq(), original));
        self.save_conversation(conversation, cx);
    }
}

/// The conversation as its file has it. Where every turn was taken back, the one that was
/// left last stays the active branch in the file until another answer comes: a file
/// without messages would be a nameless entry in the list.
fn file_version(session: &Session) -> Session {
    let mut session = session.clone();
    if session.messages.is_empty()
        && let Some(last) = session.branches.len().checked_sub(1)
    {
        session.switch_branch(last, Timestamp::now());
    }
    session
}

/// A home that could not be written took a save: what else it lacks is seen anew.
fn prepare_home_again(cx: &mut EngineCx) {
    if cx.banners.contains_key(&BannerCause::UnwritableHome) {
        let home = cx.home.clone();
        cx.jobs
            .spawn_blocking(move || JobResult::HomePrepared(home.prepare()));
    }
}

/// Somebody else changed the file: the conversation was saved beside it.
fn conflict_notice(original: &SessionId, id: &SessionId) -> Notice {
    Notice::warning(format!("{original} was changed elsewhere meanwhile."))
        .with_advice(format!("This conversation goes on as {id}."))
}

fn fork_notice(id: &SessionId, original: Option<SessionId>) -> Notice {
    let notice = Notice::info(format!("This conversation goes on as {id}."));
    match original {
        Some(original) => notice.with_reason(format!("{original} stays as it is.")),
        None => notice,
    }
}
