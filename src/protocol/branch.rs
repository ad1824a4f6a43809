//! Summaries of the inactive branches of a conversation.

/// An inactive branch of the conversation, as listed by `/branches`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The first line of the branch's first prompt, not sanitized.
    pub first_prompt_line: String,
    /// Number of messages that it shares with the active branch.
    pub shared_messages: usize,
    /// Number of messages after those.
    pub own_messages: usize,
    pub left_at: Option<jiff::Timestamp>,
}
