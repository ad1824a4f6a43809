//! Undoes edits of `trust.json` by other programs that the user rejected.

use super::{PinnedTool, TrustEdit};
use crate::domain::Trust;

/// The edits that bring the user's decisions back into the file. `active` are the decisions in use,
/// `edited` those in the file.
pub fn restoring_edits(active: &Trust, edited: &Trust) -> Vec<TrustEdit> {
    let mut edits = Vec::new();
    for rule in &edited.rules {
        if !rule.is_blocking() && !active.rules.iter().any(|old| old.is_same(rule)) {
            edits.push(TrustEdit::RemoveRule(rule.clone()));
        }
    }
    for rule in &active.rules {
        if rule.is_blocking() && !edited.rules.iter().any(|new| new.is_same(rule)) {
            edits.push(TrustEdit::AddRule(rule.clone()));
        }
    }
    for consent in &edited.instruction_consents {
        if !active.has_consent(consent) {
            edits.push(TrustEdit::RevokeInstructions(consent.clone()));
        }
    }
    for (server, launches) in &active.pins {
        for (launch, tools) in launches {
            for (tool, accepted) in tools {
                let new = edited.accepted_definition(server, launch, tool);
                if new.is_none_or(|new| new.pin != accepted.pin) {
                    edits.push(TrustEdit::AcceptDefinition(PinnedTool {
                        server: server.clone(),
                        launch: launch.clone(),
                        tool: tool.clone(),
                        accepted: accepted.clone(),
                    }));
                }
            }
        }
    }
    edits
}
