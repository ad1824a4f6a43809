//! Checking arguments against their tools' schemas: of the calls that a reply asked for,
//! and of calls that the user edited. The check itself is an effect, since its cost
//! depends on what a server and a model wrote.

use super::proposals::CallCandidate;
use super::{Arguments, CallId, Turn, TurnEffect, TurnState};
use crate::domain::{ArgumentCheck, SchemaCheck};
use std::sync::Arc;

/// What goes on once the results are there.
#[derive(Debug)]
pub(super) enum PendingCheck {
    /// What the reply asked for; the calls among it that resolve to a tool are checked.
    Proposed(Vec<CallCandidate>),
    /// Calls of this round with the arguments that the user wrote in place of the model's.
    Edited(Vec<(CallId, Arguments)>),
}

impl Turn {
    /// Has the arguments of the candidates checked, then goes on with all of them.
    pub(super) fn check_proposed(&mut self, candidates: Vec<CallCandidate>) {
        let checks = candidates
            .iter()
            .filter_map(CallCandidate::argument_check)
            .collect();
        self.start_check(checks, PendingCheck::Proposed(candidates));
    }

    /// Has edited arguments checked, then follows the edits.
    pub(super) fn check_edits(&mut self, mut edits: Vec<(CallId, Arguments)>) {
        edits.retain(|(id, _)| self.tool_entry(*id).is_some());
        let check = |(id, arguments): &(CallId, Arguments)| {
            Some(ArgumentCheck {
                tool: Arc::clone(&self.tool_entry(*id)?.tool),
                arguments: arguments.clone(),
            })
        };
        let checks = edits.iter().filter_map(check).collect();
        self.start_check(checks, PendingCheck::Edited(edits));
    }

    fn start_check(&mut self, checks: Vec<ArgumentCheck>, next: PendingCheck) {
        self.state = TurnState::CheckingArguments;
        self.checking = Some(next);
        if checks.is_empty() {
            self.arguments_checked(Vec::new());
        } else {
            self.effects.push(TurnEffect::CheckArguments(checks));
        }
    }

    pub(super) fn arguments_checked(&mut self, results: Vec<SchemaCheck>) {
        if self.state != TurnState::CheckingArguments {
            return;
        }
        // Whatever has no result was not checked.
        let mut results = results.into_iter();
        let mut next = || results.next().unwrap_or(SchemaCheck::Unchecked);
        match self.checking.take() {
            Some(PendingCheck::Proposed(candidates)) => {
                let candidates = candidates.into_iter();
                let checked = candidates.map(|candidate| candidate.with_check_result(&mut next));
                let checked = checked.collect();
                self.propose_checked(checked);
            }
            Some(PendingCheck::Edited(edits)) => {
                let edits = edits.into_iter();
                let edits = edits.map(|(id, arguments)| (id, arguments, next()));
                let edits = edits.collect();
                self.apply_edits(edits);
            }
            None => {}
        }
    }
}
