//! Summaries of the inactive branches of a conversation.

/// Maximum length of the first lines of a branch's prompt and answer.
const LINE_CHARS_MAX: usize = 200;

/// The part of a line that is stored in a [`BranchSummary`].
pub fn bounded_line(line: &str) -> &str {
    let end = line.char_indices().nth(LINE_CHARS_MAX);
    &line[..end.map_or(line.len(), |(end, _)| end)]
}

/// An inactive branch of the conversation, as listed by `/branches`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSummary {
    /// The first line of the branch's first prompt, not sanitized.
    pub first_prompt_line: String,
    /// The first line of the answer to that prompt, not sanitized.
    pub first_answer_line: String,
    /// The model that answered that prompt; empty in older files.
    pub model: String,
    /// When that prompt was answered.
    pub answered_at: Option<jiff::Timestamp>,
    /// Number of messages that it shares with the active branch.
    pub shared_messages: usize,
    /// Number of messages after those.
    pub own_messages: usize,
    pub left_at: Option<jiff::Timestamp>,
}
