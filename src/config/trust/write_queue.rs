//! Pending edits to `trust.json`. A writer writes all of them at once, so that many edits need
//! only one write and stay in order. Edits that cannot be written stay pending.

use super::{ConfigError, Home, TrustEdit, update_trust};
use crate::domain::Notice;
use crate::sync::lock_ignoring_poison;
use std::sync::Mutex;

/// The most decisions that a notice names.
const LISTED_MAX: usize = 6;

/// Pending edits in order.
#[derive(Debug, Default)]
pub struct TrustQueue {
    pending: Mutex<Vec<TrustEdit>>,
    /// Locked while the file is written, so that later edits cannot overtake earlier ones. Contains the
    /// error of the last write.
    writing: Mutex<Option<String>>,
}

impl TrustQueue {
    pub fn push(&self, edit: TrustEdit) {
        // A poisoned lock is fine: a Vec is consistent after every operation.
        let mut pending = lock_ignoring_poison(&self.pending);
        pending.push(edit);
    }

    pub fn is_empty(&self) -> bool {
        lock_ignoring_poison(&self.pending).is_empty()
    }

    /// Writes all pending edits. Those that cannot be written stay pending. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, parsed or written. A failure is only logged if the previous write
    /// failed too, or if the edits only record first sightings.
    pub fn flush(&self, home: &Home) -> Result<(), ConfigError> {
        let mut last_error = lock_ignoring_poison(&self.writing);
        let edits = lock_ignoring_poison(&self.pending).clone();
        if edits.is_empty() {
            return Ok(());
        }
        let result = update_trust(home, &edits);
        let is_left = |edit: &TrustEdit| match &result {
            Ok(()) => false,
            // One part of the file has the wrong type, which concerns only some of the edits.
            Err(ConfigError::WrongShape { .. }) if edits.len() > 1 => {
                update_trust(home, std::slice::from_ref(edit)).is_err()
            }
            Err(_) => true,
        };
        let left: Vec<TrustEdit> = edits.iter().filter(|edit| is_left(edit)).cloned().collect();
        lock_ignoring_poison(&self.pending).splice(..edits.len(), left.iter().cloned());
        let error = result.err().filter(|_| !left.is_empty());
        let was_failing = last_error.is_some();
        *last_error = error.as_ref().map(ToString::to_string);
        match error {
            None => Ok(()),
            // The banner about the file already reports it.
            Some(error) if was_failing || left.iter().all(is_first_sighting) => {
                tracing::warn!("trust.json was not written: {error}");
                Ok(())
            }
            Some(error) => Err(error),
        }
    }

    /// Names the decisions that could not be written. `None` if there are none.
    pub fn unsaved_notice(&self) -> Option<Notice> {
        let pending = lock_ignoring_poison(&self.pending).clone();
        let unsaved: Vec<String> = pending.iter().filter_map(describe).collect();
        if unsaved.is_empty() {
            return None;
        }
        let mut listed = unsaved[..unsaved.len().min(LISTED_MAX)].join("; ");
        if unsaved.len() > LISTED_MAX {
            listed += &format!("; and {} more", unsaved.len() - LISTED_MAX);
        }
        let notice = Notice::failure(format!(
            "trust.json could not be written, so this is forgotten: {listed}."
        ));
        Some(match lock_ignoring_poison(&self.writing).as_ref() {
            Some(error) => notice.with_reason(error.clone()),
            None => notice,
        })
    }
}

fn is_first_sighting(edit: &TrustEdit) -> bool {
    matches!(edit, TrustEdit::RecordFirstSeen(_))
}

/// The decision of the user, as a clause. `None` if it is not one.
fn describe(edit: &TrustEdit) -> Option<String> {
    Some(match edit {
        TrustEdit::AddRule(rule) | TrustEdit::RemoveRule(rule) => {
            let decision = match edit {
                TrustEdit::RemoveRule(_) => "revoked",
                _ if rule.is_blocking() => "never",
                _ => "always",
            };
            match rule.tool() {
                Some(tool) => format!("`{tool}` of `{}`: {decision}", rule.server),
                None => format!("the tools of `{}`: {decision}", rule.server),
            }
        }
        TrustEdit::AcceptDefinition(pinned) => {
            let (tool, server) = (&pinned.tool, &pinned.server);
            format!("the definition of `{tool}` of `{server}`: accepted")
        }
        TrustEdit::DeclineDefinition { pinned, .. } => {
            let (tool, server) = (&pinned.tool, &pinned.server);
            format!("the definition of `{tool}` of `{server}`: withheld")
        }
        TrustEdit::AllowInstructions(consent) => {
            format!("the instructions of `{}`: sent", consent.server)
        }
        TrustEdit::RevokeInstructions(consent) => {
            format!("the instructions of `{}`: not sent", consent.server)
        }
        TrustEdit::RejectEdits(_) => "changes of the settings files: rejected".to_owned(),
        TrustEdit::AcceptEdits(_) => "changes of the settings files: accepted".to_owned(),
        TrustEdit::RecordFirstSeen(_) | TrustEdit::EvictPins(..) => return None,
    })
}
