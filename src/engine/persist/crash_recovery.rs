//! Offers the turns that an earlier run left unfinished, one after the other, the newest
//! first.

use super::unfinished::{RecoveryScan, UnfinishedTurns, scan};
use crate::domain::{Advice, Notice, Session};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, RecoveryResult};
use crate::engine::questions::PendingQuestion;
use crate::protocol::{Ask, Choice, Owner};
use crate::store::{Journal, StoreError};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Default)]
pub struct CrashRecovery {
    /// Still to be offered.
    unfinished: VecDeque<UnfinishedTurns>,
}

/// A conversation that is taken up again, with the words of its unfinished turns.
pub struct ResumedConversation {
    pub session: Session,
    pub journal: Journal,
    /// To be put back into the composer: nothing is asked and nothing approved unseen, since
    /// tools may have changed.
    pub prompt: String,
    pub notice: Notice,
}

impl CrashRecovery {
    /// Looks for what an earlier run left. A run with a single turn offers nothing: nobody is
    /// there to decide.
    pub fn look(&mut self, cx: &mut EngineCx) {
        if cx.options.no_save {
            return;
        }
        let (home, offers) = (cx.home.clone(), !cx.options.one_turn);
        cx.jobs.spawn_blocking(move || {
            let mut scan = scan(&home);
            if !offers {
                scan.unfinished.clear();
            }
            JobResult::Recovery(RecoveryResult::Scanned(scan))
        });
    }

    pub fn scanned(&mut self, scan: RecoveryScan, cx: &mut EngineCx) {
        scan.notices.into_iter().for_each(|one| cx.notice(one));
        self.unfinished.extend(scan.unfinished);
        self.offer_next(cx);
    }

    pub fn offer_next(&mut self, cx: &mut EngineCx) {
        if let Some(turns) = self.unfinished.pop_front() {
            let question = Ask::Unfinished(Box::new(turns.question()));
            cx.ask(Owner::Program, question, PendingQuestion::Unfinished(turns));
        }
    }

    pub fn answered(&mut self, turns: UnfinishedTurns, choice: Choice, cx: &mut EngineCx) {
        match choice {
            Choice::Resume => {
                let sessions = Arc::clone(&cx.sessions);
                cx.jobs.spawn_blocking(move || {
                    let opened = turns.open_session(&sessions);
                    JobResult::Recovery(RecoveryResult::Opened(turns, opened))
                });
            }
            Choice::Discard => {
                let prompt = turns.prompt();
                let pending = PendingQuestion::Discard(turns);
                cx.ask(Owner::Program, Ask::Discard { prompt }, pending);
            }
            // Dropped, its journal is unlocked, and offered at the next start.
            _ => self.offer_next(cx),
        }
    }

    pub fn discard_answered(&mut self, turns: UnfinishedTurns, choice: Choice, cx: &mut EngineCx) {
        if choice == Choice::Discard {
            cx.jobs.spawn_blocking(move || {
                turns.into_journal().remove();
                JobResult::Nothing
            });
        }
        self.offer_next(cx);
    }
}

impl ResumedConversation {
    /// `opened` is the session of the turns, where they have one.
    pub fn new(turns: UnfinishedTurns, opened: Option<Result<Session, StoreError>>) -> Self {
        let (mut session, fault) = match opened {
            Some(Ok(session)) => (session, None),
            Some(Err(fault)) => (Session::new(""), Some(fault)),
            None => (Session::new(""), None),
        };
        turns.add_to(&mut session);
        let notice = match fault {
            Some(fault) => fault.notice().advise("It goes on as a new conversation."),
            None if turns.awaited_approval() => Notice::info("The prompt is back in the message.")
                .advise(Advice::SendAgain)
                .because("The call that waited for you was not run."),
            None => Notice::info("The prompt is back in the message.").advise(Advice::SendAgain),
        };
        Self {
            session,
            prompt: turns.prompt(),
            notice,
            journal: turns.into_journal(),
        }
    }
}
