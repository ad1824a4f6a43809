//! Turns that an earlier run left unfinished because it crashed, was killed or lost its
//! terminal. Finds their journals, saves, without asking, the answers of turns that ended, and
//! leaves the other turns for the user to decide.

use crate::config::Home;
use crate::domain::session::CancelledTurn;
use crate::domain::{Attachment, Notice, Session, ToolCall};
use crate::notes::NoteIntent;
use crate::questions::{CallStage, UnfinishedCall, UnfinishedTurn};
use crate::store::{
    Journal, JournaledTurn, Journals, OrphanedJournal, Recovered, SessionStore, SessionTrash,
    StoreError, recover_answer, recover_partial_answer,
};
use jiff::{Timestamp, Zoned};
use std::collections::VecDeque;
use std::sync::Arc;

/// A journal with its unfinished turns. Its lock is released on drop.
#[derive(Debug)]
pub struct UnfinishedTurns {
    journal: Journal,
    turns: Vec<JournaledTurn>,
    title: Option<String>,
}

#[derive(Debug, Default)]
pub struct RecoveryScan {
    pub(super) unfinished: VecDeque<UnfinishedTurns>,
    pub(super) notices: Vec<Notice>,
}

impl UnfinishedTurns {
    pub(super) fn question(&self) -> UnfinishedTurn {
        let Some(turn) = self.turns.last() else {
            return UnfinishedTurn::default();
        };
        let text = |entry: &serde_json::Value, key: &str| {
            let text = entry.get(key).and_then(serde_json::Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let to_call = |(_, is_awaiting, entry): &(u64, bool, serde_json::Value)| UnfinishedCall {
            server: text(entry, "server"),
            tool: text(entry, "tool"),
            arguments: entry.get("arguments").cloned().unwrap_or_default(),
            stage: match (*is_awaiting, text(entry, "outcome")) {
                (true, _) => CallStage::AwaitingApproval,
                (false, outcome) if outcome.is_empty() && JournaledTurn::has_task(entry) => {
                    CallStage::RunningAsTask
                }
                (false, outcome) if outcome.is_empty() => CallStage::Running,
                (false, outcome) => CallStage::Ended(outcome),
            },
        };
        UnfinishedTurn {
            prompt: turn.prompt.clone(),
            partial_answer: turn.answer_text(),
            thinking: turn.thinking_text(),
            session: turn.session.clone(),
            title: self.title.clone(),
            started_at: turn.started_at,
            calls: turn.calls.iter().map(to_call).collect(),
            writes_note: matches!(
                NoteIntent::of_prompt(&turn.prompt),
                Some(NoteIntent::Create { .. })
            ),
            earlier_unanswered: self.turns.len() - 1,
        }
    }

    pub(super) fn prompt(&self) -> String {
        let last = self.turns.last();
        last.map_or_else(String::new, |turn| turn.prompt.clone())
    }

    fn attachments(&self) -> Vec<Arc<Attachment>> {
        let last = self.turns.last();
        last.map_or_else(Vec::new, |turn| turn.attachments.clone())
    }

    /// The calls of the last turn, if a task of one of them can be waited for.
    fn calls_with_tasks(&self) -> Vec<ToolCall> {
        let calls = self
            .turns
            .last()
            .map_or_else(Vec::new, JournaledTurn::tool_calls);
        match calls.iter().any(ToolCall::has_open_task) {
            true => calls,
            false => Vec::new(),
        }
    }

    fn awaited_approval(&self) -> bool {
        let last = self.turns.last();
        last.is_some_and(|turn| turn.calls_awaiting_approval().next().is_some())
    }

    /// `None` if the turns name no session.
    fn open_session(&self, sessions: &SessionStore) -> Option<Result<Session, StoreError>> {
        open_session_of(&self.turns, sessions)
    }

    /// Adds the partial answers and the calls to `session`, marked as interrupted.
    fn add_partial_answers_to(&self, session: &mut Session) {
        for turn in &self.turns {
            if session.started_at.is_none() {
                session.started_at = turn.session_started_at;
                session.model.clone_from(&turn.model);
            }
            let cancelled = CancelledTurn {
                cancelled_at: turn.started_at.unwrap_or_else(Timestamp::now),
                messages_before: session.messages.len(),
                prompt: turn.prompt.clone(),
                attachments: turn.attachments.clone(),
                partial_answer: turn.answer_text(),
                calls: turn.tool_calls(),
                was_interrupted: true,
                replaced_turns: session.prompts_replaced_by(turn.messages_before, turn.started_at),
            };
            session.metadata.add_cancelled(cancelled);
        }
    }

    pub(super) fn into_journal(self) -> Journal {
        self.journal
    }
}

/// A resumed conversation, with the partial answers of its unfinished turns.
#[derive(Debug)]
pub struct ResumedConversation {
    pub session: Session,
    pub journal: Journal,
    /// The prompt of the last turn. Unless the turn waits for a task, it is offered in the message
    /// editor but not sent, because tools may have changed since.
    pub prompt: String,
    pub attachments: Vec<Arc<Attachment>>,
    /// The calls of the turn, if it waits for a task of one of them; otherwise empty.
    pub calls: Vec<ToolCall>,
    /// A message to the user, if there is more to report than the restored prompt.
    pub notice: Option<Notice>,
}

impl ResumedConversation {
    /// Opens the session that the turns belong to, or a new one if they name none or
    /// it cannot be opened.
    pub(super) fn open(turns: UnfinishedTurns, sessions: &SessionStore) -> Self {
        let (mut session, open_error) = match turns.open_session(sessions) {
            Some(Ok(session)) => (session, None),
            Some(Err(error)) => (Session::new(""), Some(error)),
            None => (Session::new(""), None),
        };
        turns.add_partial_answers_to(&mut session);
        let notice = match open_error {
            Some(error) => {
                let advice = "The turn continues in a new conversation.";
                Some(error.notice().with_advice(advice))
            }
            None if turns.awaited_approval() => {
                Some(Notice::info("The call awaiting your approval was not run."))
            }
            None => None,
        };
        Self {
            session,
            prompt: turns.prompt(),
            attachments: turns.attachments(),
            calls: turns.calls_with_tasks(),
            notice,
            journal: turns.into_journal(),
        }
    }
}

fn open_session_of(
    turns: &[JournaledTurn],
    sessions: &SessionStore,
) -> Option<Result<Session, StoreError>> {
    let mut turns = turns.iter().rev();
    let id = turns.find_map(|turn| turn.session.clone());
    id.map(|id| sessions.open(&id))
}

/// Recovers every journal that no running instance of humble owns. Also removes stored attachments
/// that nothing uses.
pub(super) fn scan_journals(home: &Home) -> RecoveryScan {
    let mut scan = RecoveryScan::default();
    let sessions = SessionStore::new(home.sessions());
    let attachments = sessions.attachments();
    let mut users = SessionTrash::new(home.trash()).folders();
    users.extend([home.sessions(), home.journal()]);
    attachments.remove_unused(&users);
    for orphaned in Journals::new(home.journal()).claim_orphaned() {
        match orphaned {
            OrphanedJournal::Unrecognized(notice) => scan.notices.push(notice),
            OrphanedJournal::Recoverable { journal, mut turns } => {
                for turn in &mut turns {
                    attachments.load_all(&mut turn.attachments);
                }
                recover_journal(journal, turns, &sessions, &mut scan)
            }
        }
    }
    scan
}

/// Saves the complete answers in a journal, and the partial answers of turns that ended without
/// a complete one. Turns that never ended go to `scan.unfinished`.
fn recover_journal(
    journal: Journal,
    turns: Vec<JournaledTurn>,
    sessions: &SessionStore,
    scan: &mut RecoveryScan,
) {
    let (answered, mut unanswered): (Vec<_>, Vec<_>) =
        turns.into_iter().partition(|turn| turn.answer.is_some());
    for turn in answered {
        match recover_answer(sessions, &turn, &Zoned::now()) {
            Ok(Some(Recovered::Saved(id))) => {
                for later in unanswered
                    .iter_mut()
                    .filter(|later| later.session_started_at == turn.session_started_at)
                {
                    later.session.get_or_insert_with(|| id.clone());
                }
                let notice = Notice::info(format!(
                    "Recovered an answer from the previous run and saved it in {id}."
                ));
                scan.notices.push(notice);
            }
            Ok(_) => {}
            Err(error) => {
                // The journal is kept, so the next start tries again.
                scan.notices.push(error.notice());
                return;
            }
        }
    }
    let (ended, unfinished): (Vec<_>, Vec<_>) = unanswered
        .into_iter()
        .partition(|turn| turn.has_ended_unanswered);
    for turn in ended {
        if let Err(error) = recover_partial_answer(sessions, &turn) {
            scan.notices.push(error.notice());
            return;
        }
    }
    if unfinished.is_empty() {
        journal.remove();
    } else {
        let session = open_session_of(&unfinished, sessions).and_then(Result::ok);
        let title = session.map(|session| session.title().to_owned());
        scan.unfinished.push_back(UnfinishedTurns {
            journal,
            turns: unfinished,
            title: title.filter(|title| !title.is_empty()),
        });
    }
}
