//! Has the arguments of requested and edited calls checked against the schemas of their tools.
//! The check itself is an effect, because it may be slow for some schemas and arguments.

use super::proposals::CallCandidate;
use super::{Arguments, CallId, Turn, TurnEffect, TurnState};
use crate::domain::{ArgumentCheck, SchemaCheck};
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum PendingCheck {
    /// The calls of the reply; those that resolve to a tool are checked.
    Proposed(Vec<CallCandidate>),
    /// Calls of this round with the user's edited arguments.
    Edited(Vec<(CallId, Arguments)>),
}

impl Turn {
    pub(super) fn check_proposed(&mut self, candidates: Vec<CallCandidate>) {
        let checks = candidates
            .iter()
            .filter_map(CallCandidate::argument_check)
            .collect();
        self.start_check(checks, PendingCheck::Proposed(candidates));
    }

    pub(super) fn check_edits(&mut self, mut edits: Vec<(CallId, Arguments)>) {
        edits.retain(|(id, _)| self.proposed_tool(*id).is_some());
        let check = |(id, arguments): &(CallId, Arguments)| {
            Some(ArgumentCheck {
                tool: Arc::clone(&self.proposed_tool(*id)?.tool),
                arguments: arguments.clone(),
                may_repair: false,
            })
        };
        let checks = edits.iter().filter_map(check).collect();
        self.start_check(checks, PendingCheck::Edited(edits));
    }

    fn start_check(&mut self, checks: Vec<ArgumentCheck>, pending: PendingCheck) {
        self.state = TurnState::CheckingArguments;
        self.pending_check = Some(pending);
        if checks.is_empty() {
            self.handle_arguments_checked(Vec::new());
        } else {
            self.effects.push(TurnEffect::CheckArguments(checks));
        }
    }

    pub(super) fn handle_arguments_checked(&mut self, results: Vec<SchemaCheck>) {
        if self.state != TurnState::CheckingArguments {
            return;
        }
        // Missing results count as unchecked.
        let mut results = results.into_iter();
        let mut next_result = || results.next().unwrap_or(SchemaCheck::Unchecked);
        match self.pending_check.take() {
            Some(PendingCheck::Proposed(candidates)) => {
                let checked = candidates
                    .into_iter()
                    .map(|candidate| candidate.with_check_result(&mut next_result))
                    .collect();
                self.propose_checked(checked);
            }
            Some(PendingCheck::Edited(edits)) => {
                let checked = edits
                    .into_iter()
                    .map(|(id, arguments)| (id, arguments, next_result()))
                    .collect();
                self.apply_edits(checked);
            }
            None => {}
        }
    }
}
