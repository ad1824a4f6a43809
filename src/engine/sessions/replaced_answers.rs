//! Replaces an answer with the user's text, which makes a stopped one part of the conversation.

use super::Conversation;
use crate::domain::{Advice, Notice, ReplacedAnswer};
use crate::engine::cx::EngineCx;
use jiff::Timestamp;

impl Conversation {
    /// Replaces an answer with the user's own text. Returns true if the session changed and must be
    /// saved. Must not be called while a turn is running.
    pub fn replace_answer(
        &mut self,
        replaced: &ReplacedAnswer,
        answer: &str,
        cx: &mut EngineCx,
    ) -> bool {
        let (session, now) = (&mut self.session, Timestamp::now());
        let branches = session.branches.len();
        let is_found = match replaced {
            ReplacedAnswer::Answered { turns_from_end } => {
                session.replace_answer(*turns_from_end, answer, now)
            }
            ReplacedAnswer::Stopped(stopped) => session.keep_stopped_answer(stopped, answer, now),
        };
        if !is_found {
            cx.notice(Notice::warning(
                "That answer is no longer in the conversation.",
            ));
            return false;
        }
        self.show_again(cx);
        let notice = match replaced {
            ReplacedAnswer::Answered { .. } => {
                Notice::info("The edited answer is in a new branch. Nothing was sent.")
            }
            ReplacedAnswer::Stopped(_) => {
                Notice::info("The model sees this turn from now on. Nothing was sent.")
                    .with_advice(Advice::Continue)
            }
        };
        cx.notice(match self.session.branches.len() > branches {
            true => notice.with_advice(Advice::ListBranches),
            false => notice,
        });
        true
    }
}
