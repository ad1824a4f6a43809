//! What standard error is told in a line: calls with their arguments, and their
//! outcomes. Whoever prints an outcome cleans it.

use crate::domain::schema::UNCHECKED;
use crate::domain::{ToolCall, ToolOutcome};
use crate::text::Clean;
use std::time::Duration;

/// A call with every argument, for standard error.
pub(super) fn summary(call: &ToolCall) -> String {
    let name = format!("{} on {}", call.tool, call.server);
    let mut lines = vec![format!("Tool call: {}", Clean::spelt_out(&name))];
    if let Some(quoted) = call.quoted {
        let words = quoted.words();
        lines.push(format!("  (it {words}, and so asks in every mode)"));
    }
    if call.is_unchecked {
        lines.push(format!("  ({UNCHECKED}: the server decides)"));
    }
    for (key, value) in &call.arguments {
        lines.push(format!(
            "  {}",
            Clean::spelt_out(&format!("{key}: {value}"))
        ));
    }
    lines.join("\n")
}

pub(super) fn outcome_words(outcome: &ToolOutcome) -> String {
    let seconds = |elapsed: &Duration| format!("{:.1} s", elapsed.as_secs_f64());
    match outcome {
        ToolOutcome::Succeeded { elapsed, .. } => format!("ok, {}", seconds(elapsed)),
        ToolOutcome::Failed { text, elapsed } => format!("failed, {}: {text}", seconds(elapsed)),
        ToolOutcome::Unreachable { why, .. } => format!("no answer: {why}"),
        ToolOutcome::TimedOut { elapsed } => format!("no answer in {}", seconds(elapsed)),
        ToolOutcome::Refused => "refused".to_owned(),
        ToolOutcome::Denied { .. } => "denied".to_owned(),
        ToolOutcome::Never => "never to be called: you ruled it out".to_owned(),
        ToolOutcome::Interrupted => "interrupted".to_owned(),
        ToolOutcome::Cancelled { elapsed } => format!("cancelled after {}", seconds(elapsed)),
        ToolOutcome::Reused { .. } => "the first result was used again".to_owned(),
        ToolOutcome::NotRun { why } => format!("not run: {why}"),
        ToolOutcome::WasText => "taken as text".to_owned(),
    }
}
