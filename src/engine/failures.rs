//! Failures in the log. They are errors, so that a log that holds nothing else still shows
//! them.

use crate::domain::{ServerId, ToolOutcome, TurnEnd};

/// Characters of a tool's own words that are logged.
const WORDS_CHARS_MAX: usize = 300;

pub fn log_turn_end(end: &TurnEnd) {
    if let TurnEnd::Failed { notice } = end {
        tracing::error!("the turn failed: {}", notice.summary());
    }
}

/// Logs a call that failed. In private its words stay out of the log: they belong to the
/// conversation.
pub fn log_outcome(server: &ServerId, tool: &str, outcome: &ToolOutcome, private: bool) {
    let why = match outcome {
        ToolOutcome::Failed { .. } if private => "it reported an error".to_owned(),
        ToolOutcome::Failed { text, .. } => text.chars().take(WORDS_CHARS_MAX).collect(),
        ToolOutcome::Unreachable { why, .. } => why.clone(),
        ToolOutcome::TimedOut { elapsed } => {
            format!("no answer within {:.1} s", elapsed.as_secs_f32())
        }
        _ => return,
    };
    tracing::error!(%server, tool, "the tool call failed: {why}");
}
