//! The one-line notice about a choice that also applies to later calls: which calls it covers, and
//! how to revoke it.

use crate::domain::Decision;
use crate::domain::Notice;
use crate::protocol::UserAnswer;
use crate::text::Clean;
use crate::tui::dialog::state::Dialog;
use crate::tui::layer::SharedUiState;

/// The notice for the last decision in an answer that also applies to later calls.
pub fn permission_notice(
    shared: SharedUiState,
    dialog: &Dialog,
    answer: &UserAnswer,
) -> Option<Notice> {
    let UserAnswer::Calls(decisions) = answer else {
        return None;
    };
    decisions.iter().rev().find_map(|(id, decision)| {
        let offered = dialog.calls().iter().find(|offered| offered.call == *id)?;
        let tool = Clean::quoted_if_needed(&offered.tool.name);
        let effect = match decision {
            Decision::RunForSession => {
                format!("{tool} runs without asking in this conversation (session).")
            }
            Decision::RunAlways => {
                format!("{tool} runs without asking from now on (always).")
            }
            Decision::RunWholeServer => {
                let server = shared.transcript.call(*id)?.server.to_string();
                let server = Clean::quoted_if_needed(&server);
                format!("All tools of {server} run without asking from now on (always).")
            }
            Decision::RunReadOnly { tools } => {
                let server = shared.transcript.call(*id)?.server.to_string();
                let server = Clean::quoted_if_needed(&server);
                let tools = match tools.len() {
                    1 => format!("{tool} runs"),
                    count => format!("The {count} tools that {server} marks as read-only run"),
                };
                format!("{tools} without asking from now on (always).")
            }
            Decision::RunMatching { .. } => {
                format!("{tool} runs without asking if its arguments match (always).")
            }
            Decision::Never => format!("{tool} will never run."),
            _ => return None,
        };
        Some(Notice::info(format!("{effect} /trust revokes it.")))
    })
}
