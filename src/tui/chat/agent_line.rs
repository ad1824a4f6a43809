//! The line under an answer that says which note agent acted.

use crate::domain::AgentResult;

/// `note created  routers.md  /undo removes it`, not sanitized.
pub fn agent_line(result: &AgentResult) -> String {
    let summary = result.summary();
    match result {
        AgentResult::NoteCreated { .. } => format!("{summary}  /undo removes it"),
        AgentResult::NotesFound { notes, .. } if !notes.is_empty() => {
            format!("{summary}  /note PATH opens one")
        }
        AgentResult::NotesFound { .. }
        | AgentResult::NoteSummarized { .. }
        | AgentResult::NotesConsulted { .. } => summary,
    }
}
