//! Runs the approved calls of a round and sends their results to the model.

use super::proposals::{Proposal, ProposalKind};
use super::{
    ApprovedCall, CallId, Exchange, StartedCall, ToolCall, ToolIdentity, ToolOutcome, ToolProgress,
    ToolState, Turn, TurnEffect, TurnState, context,
};
use crate::domain::{ServerId, ToolCallMessage, ToolLookup, ToolResultMessage};
use std::time::Duration;

impl Turn {
    /// Starts the approved calls, concurrently.
    pub(super) fn start_approved_calls(&mut self) {
        let mut running = false;
        for id in self.round_calls() {
            if let Some(approved) = self.approved_call(id) {
                self.mark_call_started(id);
                self.effects.push(TurnEffect::Run(approved));
                running = true;
            }
        }
        self.approved.clear();
        if running {
            self.state = TurnState::Running;
        } else {
            self.finish_round();
        }
    }

    fn mark_call_started(&mut self, id: CallId) {
        let wire_id = self
            .proposals
            .iter()
            .find_map(|proposal| match proposal.kind {
                ProposalKind::Call { id: call_id, .. } if call_id == id => {
                    Some(proposal.wire_id.clone())
                }
                _ => None,
            });
        if let (Some(offered), Some(wire_id)) = (self.tool_entry(id), wire_id) {
            let grant = ToolIdentity::from_offered(offered);
            self.started_calls
                .insert(id, StartedCall { grant, wire_id });
        }
        self.set_call_state(id, ToolState::Running { progress: None });
    }

    /// The permission to run `id`, if it was approved and its tool is unchanged since.
    fn approved_call(&mut self, id: CallId) -> Option<ApprovedCall> {
        let call = self.calls.get(&id)?.clone();
        if call.state != ToolState::Proposed {
            return None;
        }
        let offered = self.tool_entry(id)?.clone();
        let current = self.setup.toolset.get(&offered.server, &offered.tool.name);
        let is_unchanged = current.is_some_and(|current| {
            ToolIdentity::from_offered(current) == ToolIdentity::from_offered(&offered)
        });
        if !is_unchanged {
            let why = "the tool changed or was removed before it could run".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
            return None;
        }
        // The tool may have been blocked since the decision.
        if self.setup.approval.is_never(&call) {
            self.finish_call(id, ToolOutcome::Never);
            return None;
        }
        match self.approved.get(&id) {
            // The edited arguments are already in the call.
            Some(decision) => ApprovedCall::from_decision(&call, decision),
            None => {
                let approval = &self.setup.approval;
                let permission = approval.standing_permission(&call, &offered);
                let approved = approval.approve_without_asking(&call, &offered);
                if let Some(call) = self.calls.get_mut(&id) {
                    call.permission = permission;
                }
                approved
            }
        }
    }

    pub(super) fn progress(&mut self, id: CallId, progress: ToolProgress) {
        let Some(ToolState::Running { progress: previous }) =
            self.calls.get(&id).map(|call| &call.state)
        else {
            return;
        };
        let progress = Some(progress.following(previous.as_ref()));
        self.set_call_state(id, ToolState::Running { progress });
    }

    /// Cancels this call only; other calls keep running. A late answer of its server is
    /// ignored.
    pub(super) fn cancel_call(&mut self, id: CallId, elapsed: Duration) {
        if self.running().contains(&id) {
            self.effects.push(TurnEffect::Cancel(id));
            self.call_done(id, ToolOutcome::Cancelled { elapsed });
        }
    }

    pub(super) fn call_done(&mut self, id: CallId, outcome: ToolOutcome) {
        if self.state != TurnState::Running || !self.running().contains(&id) {
            return;
        }
        self.last_run = Some(id);
        if outcome.is_error() {
            self.errors += 1;
            self.last_failed = Some(id);
        }
        self.finish_call(id, outcome);
        if self.running().is_empty() {
            if self.call_retry.is_some() {
                self.finish_retry()
            } else {
                self.finish_round()
            }
        }
    }

    /// Every call of the round has an outcome: sends the results, unless all calls turned out
    /// to be text.
    fn finish_round(&mut self) {
        let outcome_of = |id: &CallId| match &self.calls.get(id)?.state {
            ToolState::Done(outcome) => Some(outcome.clone()),
            _ => None,
        };
        let ids = self.round_calls();
        let outcomes: Vec<ToolOutcome> = ids.iter().filter_map(outcome_of).collect();
        let has_unusable = self.proposals.len() > ids.len();
        if !has_unusable
            && outcomes
                .iter()
                .all(|outcome| *outcome == ToolOutcome::WasText)
        {
            self.finish_with_answer(false);
            return;
        }
        let proposals = std::mem::take(&mut self.proposals);
        let mut pairs = Vec::new();
        for proposal in &proposals {
            match self.call_and_result(proposal) {
                Some(pair) => pairs.push(pair),
                None => self.push_unreadable_exchange(proposal, &mut pairs),
            }
        }
        self.push_call_exchange(pairs);
        self.request();
    }

    fn push_call_exchange(&mut self, pairs: Vec<(ToolCallMessage, ToolResultMessage)>) {
        if !pairs.is_empty() {
            // The provider data belongs to the first group of calls.
            let carry = self.round.opaque_reasoning.take();
            self.exchanges.push(Exchange::Calls {
                pairs,
                opaque_reasoning: carry,
            });
        }
    }

    fn call_and_result(&self, proposal: &Proposal) -> Option<(ToolCallMessage, ToolResultMessage)> {
        let (server, tool, native_name, arguments, content, is_error) = match &proposal.kind {
            ProposalKind::Call { id, entry: offered } => {
                let call = self.calls.get(id)?;
                let ToolState::Done(outcome) = &call.state else {
                    return None;
                };
                if *outcome == ToolOutcome::WasText {
                    return None;
                }
                (
                    call.server.clone(),
                    call.tool.clone(),
                    offered.native_name.clone(),
                    call.arguments.clone(),
                    self.result_text(call, outcome),
                    outcome.is_error(),
                )
            }
            ProposalKind::Unusable {
                native_name: Some(name),
                arguments,
                why,
            } => (
                ServerId::new(""),
                name.clone(),
                name.clone(),
                arguments.clone(),
                format!("Error: {why}"),
                true,
            ),
            ProposalKind::Unusable {
                native_name: None, ..
            } => return None,
        };
        let taught_name = match self.setup.toolset.resolve(None, &tool) {
            ToolLookup::Ambiguous => format!("{server}__{tool}"),
            ToolLookup::Tool(_) | ToolLookup::Unknown => tool.clone(),
        };
        let wire_id = proposal.wire_id.clone();
        let result = ToolResultMessage {
            wire_id: wire_id.clone(),
            tool: tool.clone(),
            native_name: native_name.clone(),
            content,
            is_error,
        };
        Some((
            ToolCallMessage {
                wire_id,
                server,
                tool,
                native_name,
                prompt_name: taught_name,
                arguments,
            },
            result,
        ))
    }

    pub(super) fn result_text(&self, call: &ToolCall, outcome: &ToolOutcome) -> String {
        let first = match outcome {
            ToolOutcome::Reused { of } => self.calls.get(of),
            _ => None,
        };
        let first = first.and_then(|first| match &first.state {
            ToolState::Done(ToolOutcome::Succeeded { text, .. }) => Some(text.as_str()),
            _ => None,
        });
        context::result_text(call, outcome, first, self.errors >= self.errors_max)
    }

    /// An unusable call from the text is sent back as the model wrote it.
    fn push_unreadable_exchange(
        &mut self,
        proposal: &Proposal,
        pairs: &mut Vec<(ToolCallMessage, ToolResultMessage)>,
    ) {
        let ProposalKind::Unusable { why, .. } = &proposal.kind else {
            return;
        };
        self.push_call_exchange(std::mem::take(pairs));
        self.exchanges.push(Exchange::Unreadable {
            raw: proposal.raw.clone(),
            why: format!(
                "Your tool call could not be used: {why}. Correct it, or answer without it."
            ),
        });
    }
}
