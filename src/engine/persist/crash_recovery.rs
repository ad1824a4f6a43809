//! Offers the turns that an earlier run left unfinished, one at a time, newest first.

use super::session_writer::ConversationSeq;
use super::unfinished::{RecoveryScan, ResumedConversation, UnfinishedTurns, scan_journals};
use crate::domain::{Notice, Prompt, ToolCall};
use crate::engine::cx::EngineCx;
use crate::engine::jobs::{JobResult, RecoveryResult};
use crate::engine::questions::PendingQuestion;
use crate::engine::sessions::within_timeout;
use crate::protocol::{Event, QuestionOwner, UserChoice};
use crate::questions;
use crate::store::StoreError;
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Default)]
pub struct CrashRecovery {
    /// Turns that have not been offered yet.
    unfinished: VecDeque<UnfinishedTurns>,
    /// The calls of the turn that was resumed, until its prompt is submitted.
    resumed_calls: Option<(ConversationSeq, Vec<ToolCall>)>,
}

impl CrashRecovery {
    /// Starts the scan for journals of earlier runs. A one-shot run offers no turns, because it ends
    /// after its own.
    pub fn start_scan(&mut self, cx: &mut EngineCx) {
        if cx.options.no_save {
            return;
        }
        let (home, offers_turns) = (cx.home.clone(), !cx.options.is_one_shot);
        cx.jobs.spawn_blocking(move || {
            let mut scan = scan_journals(&home);
            if !offers_turns {
                scan.unfinished.clear();
            }
            JobResult::Recovery(RecoveryResult::Scanned(scan))
        });
    }

    pub fn handle_scan(&mut self, scan: RecoveryScan, cx: &mut EngineCx) {
        scan.notices
            .into_iter()
            .for_each(|notice| cx.notice(notice));
        self.unfinished.extend(scan.unfinished);
        self.offer_next(cx);
    }

    pub fn offer_next(&mut self, cx: &mut EngineCx) {
        if let Some(turns) = self.unfinished.pop_front() {
            let question = questions::unfinished(&turns.question());
            cx.ask(
                QuestionOwner::Program,
                question,
                PendingQuestion::Unfinished(turns),
            );
        }
    }

    /// Leaves the unfinished turns for the next start, because the user began a turn instead of
    /// answering. An answer after that would replace the conversation that has just begun.
    pub fn postpone(&mut self, cx: &mut EngineCx) {
        let is_about_turns = |pending: &PendingQuestion| {
            matches!(
                pending,
                PendingQuestion::Unfinished(_) | PendingQuestion::DiscardUnfinished(_)
            )
        };
        // Dropping the turns unlocks their journals.
        self.unfinished.clear();
        if !cx.withdraw_matching(is_about_turns).is_empty() {
            let notice = Notice::info("The unfinished turn is kept.");
            cx.notice(notice.with_advice("The next start offers it again."));
        }
    }

    /// Keeps the calls of a turn in this conversation until its prompt is submitted again.
    pub fn keep_calls(&mut self, conversation: ConversationSeq, calls: Vec<ToolCall>) {
        self.resumed_calls = Some((conversation, calls));
    }

    /// The calls that `prompt` resumes; empty for most prompts. Any other prompt in the conversation
    /// discards them.
    pub fn take_calls(&mut self, conversation: ConversationSeq, prompt: &Prompt) -> Vec<ToolCall> {
        let resumed = self
            .resumed_calls
            .take_if(|(owner, _)| *owner == conversation);
        let calls = resumed.filter(|_| prompt.resumes_calls);
        calls.map_or_else(Vec::new, |(_, calls)| calls)
    }

    pub fn handle_resume_answer(
        &mut self,
        turns: UnfinishedTurns,
        choice: UserChoice,
        cx: &mut EngineCx,
    ) {
        match choice {
            UserChoice::Resume => {
                cx.outbox.push(Event::ResumingTurn);
                let sessions = Arc::clone(&cx.sessions);
                let open = move || {
                    let resumed = ResumedConversation::open(turns, &sessions);
                    JobResult::Recovery(RecoveryResult::Opened(Box::new(resumed)))
                };
                // After a failure, the turn is offered again at the next start.
                let failed = |why| JobResult::Recovery(RecoveryResult::NotOpened(why));
                let if_panicked = failed(StoreError::OpenPanicked);
                let open = within_timeout(open, move || failed(StoreError::OpenTimedOut));
                cx.jobs.spawn_or(if_panicked, open);
            }
            UserChoice::Discard => {
                let prompt = turns.prompt();
                let pending = PendingQuestion::DiscardUnfinished(turns);
                cx.ask(QuestionOwner::Program, questions::discard(&prompt), pending);
            }
            // Dropping the turns unlocks their journal, so they are offered at the next start.
            _ => self.offer_next(cx),
        }
    }

    pub fn handle_discard_answer(
        &mut self,
        turns: UnfinishedTurns,
        choice: UserChoice,
        cx: &mut EngineCx,
    ) {
        if choice == UserChoice::Discard {
            cx.jobs.spawn_blocking(move || {
                turns.into_journal().remove();
                JobResult::Nothing
            });
        }
        self.offer_next(cx);
    }
}
