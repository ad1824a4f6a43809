//! The token estimate of a conversation between two requests. Runs in the background.

use super::{assemble_messages, window};
use crate::domain::{Dialect, Message, SavedMessage, Toolset};
use crate::protocol::ContextShares;
use crate::text::token_estimate::Vocabulary;

/// Estimates the tokens of a conversation without its next prompt.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct SessionEstimator {
    pub(super) dialect: Dialect,
    pub(super) vocabulary: Vocabulary,
}

impl SessionEstimator {
    pub(in crate::engine) fn estimate(
        self,
        system: &str,
        offered: &Toolset,
        history: &[SavedMessage],
    ) -> ContextShares {
        let prompt = Message::User(String::new());
        let empty_request = assemble_messages(system, self.dialect, offered, &[], prompt, &[]);
        let tools = (self.dialect == Dialect::Native).then_some(offered);
        let mut shares = window::raw_shares(&empty_request, tools, self.vocabulary);
        shares.total += window::raw_estimate_history(history, self.vocabulary);
        shares
    }
}
