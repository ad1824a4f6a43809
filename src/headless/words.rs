//! What standard error is told in a line: calls with their arguments, outcomes, and
//! advice without commands that only the screen has.

use crate::domain::{ToolCall, ToolOutcome};
use crate::text::Clean;
use std::time::Duration;

/// A call with every argument, for standard error.
pub(super) fn summary(call: &ToolCall) -> String {
    let name = format!("{} on {}", call.tool, call.server);
    let mut lines = vec![format!("Tool call: {}", Clean::spelt_out(&name))];
    for (key, value) in &call.arguments {
        lines.push(format!(
            "  {}",
            Clean::spelt_out(&format!("{key}: {value}"))
        ));
    }
    lines.join("\n")
}

/// Advice without the clauses that name a command such as `/retry`.
pub(super) fn without_commands(advice: &str) -> String {
    let names_one = |clause: &str| {
        clause.split_whitespace().any(|word| {
            let name = word.strip_prefix('/').unwrap_or_default();
            name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains('/')
        })
    };
    let clauses = advice.split_inclusive(['.', ';', ',']);
    let kept: String = clauses.filter(|clause| !names_one(clause)).collect();
    kept.trim().trim_end_matches([';', ',']).to_owned()
}

pub(super) fn outcome_words(outcome: &ToolOutcome) -> String {
    let seconds = |elapsed: &Duration| format!("{:.1} s", elapsed.as_secs_f64());
    match outcome {
        ToolOutcome::Succeeded { elapsed, .. } => format!("ok, {}", seconds(elapsed)),
        ToolOutcome::Failed { text, elapsed } => format!("failed, {}: {text}", seconds(elapsed)),
        ToolOutcome::Unreachable { why, .. } => format!("not reached: {why}"),
        ToolOutcome::TimedOut { elapsed } => format!("no answer in {}", seconds(elapsed)),
        ToolOutcome::Refused => "refused".to_owned(),
        ToolOutcome::Denied { .. } => "denied".to_owned(),
        ToolOutcome::Interrupted => "interrupted".to_owned(),
        ToolOutcome::Reused { .. } => "the first result was used again".to_owned(),
        ToolOutcome::NotRun { why } => format!("not run: {why}"),
        ToolOutcome::WasText => "taken as text".to_owned(),
    }
}
