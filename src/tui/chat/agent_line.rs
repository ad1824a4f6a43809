//! The line that reports what a note agent did in a turn.

use crate::domain::AgentResult;

/// `note created  routers.md  /undo removes it`, not sanitized. `/undo` undoes only the last turn,
/// so only its line mentions the command.
pub fn agent_line(result: &AgentResult, is_in_last_turn: bool) -> String {
    let summary = result.summary();
    match result {
        AgentResult::NoteCreated { sha256, .. } if is_in_last_turn && sha256.is_some() => {
            with_hint(&summary, "/undo removes it")
        }
        AgentResult::NotesFound { notes, .. } if !notes.is_empty() => {
            with_hint(&summary, "/note PATH opens one")
        }
        AgentResult::NoteCreated { .. }
        | AgentResult::NotesFound { .. }
        | AgentResult::NoteSummarized { .. }
        | AgentResult::NotesConsulted { .. } => summary,
    }
}

/// Adds a hint to the first line; remarks follow on other lines.
fn with_hint(summary: &str, hint: &str) -> String {
    let (line, remarks) = summary.split_at(summary.find('\n').unwrap_or(summary.len()));
    format!("{line}  {hint}{remarks}")
}
