//! Logs failures at level `error`, so they appear at every log level.

use crate::domain::{ServerId, ToolOutcome, TurnEnd};

/// Maximum number of logged characters of a tool's error text.
const ERROR_CHARS_MAX: usize = 300;

pub fn log_turn_end(end: &TurnEnd) {
    if let TurnEnd::Failed { notice } = end {
        tracing::error!("the turn failed: {}", notice.summary());
    }
}

/// Logs a failed call. In private mode, the log omits its error text, which is part of the
/// conversation.
pub fn log_outcome(server: &ServerId, tool: &str, outcome: &ToolOutcome, is_private: bool) {
    let why = match outcome {
        ToolOutcome::Failed { .. } if is_private => "it reported an error".to_owned(),
        ToolOutcome::Failed { text, .. } => text.chars().take(ERROR_CHARS_MAX).collect(),
        ToolOutcome::Unreachable { why, .. } => why.clone(),
        ToolOutcome::TimedOut { elapsed } => {
            format!("no answer within {:.1} s", elapsed.as_secs_f32())
        }
        _ => return,
    };
    tracing::error!(%server, tool, "the tool call failed: {why}");
}
