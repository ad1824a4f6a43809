//! Replaces an answer, or makes a stopped one part of the conversation.

use super::Conversation;
use crate::domain::{Advice, Notice, ReplacedAnswer, StoppedAnswer};
use crate::engine::cx::EngineCx;
use crate::protocol::Event;
use jiff::Timestamp;
use std::sync::Arc;

impl Conversation {
    /// Replaces an answer with the user's own text. Returns true if the session changed and must be
    /// saved. Must not be called while a turn is running.
    pub fn replace_any_answer(
        &mut self,
        replaced: &ReplacedAnswer,
        answer: &str,
        cx: &mut EngineCx,
    ) -> bool {
        match replaced {
            ReplacedAnswer::Answered { turns_from_end } => {
                self.replace_answer(*turns_from_end, answer, cx)
            }
            ReplacedAnswer::Stopped(stopped) => self.keep_stopped_answer(stopped, answer, cx),
        }
    }

    /// Makes a stopped answer part of the conversation, with the text `answer`.
    fn keep_stopped_answer(
        &mut self,
        stopped: &StoppedAnswer,
        answer: &str,
        cx: &mut EngineCx,
    ) -> bool {
        let branches = self.session.branches.len();
        if !self
            .session
            .keep_stopped_answer(stopped, answer, Timestamp::now())
        {
            cx.notice(Notice::warning(
                "That answer is no longer in the conversation.",
            ));
            return false;
        }
        let session = Arc::new(self.session.clone());
        cx.outbox.push(Event::SessionOpened(session));
        let notice = Notice::info("The model sees this turn from now on. Nothing was sent.")
            .with_advice(Advice::Continue);
        cx.notice(match self.session.branches.len() > branches {
            true => notice.with_advice(Advice::ListBranches),
            false => notice,
        });
        true
    }
}
