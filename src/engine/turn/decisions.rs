//! Deciding on the calls of a round: what runs unasked, what the user is asked, and
//! what each decision does.

use super::argument_eq::same_json;
use super::proposals::{Proposal, Proposed};
use super::reply_text::Changed;
use super::{
    Answer, ApprovedCall, Arguments, Ask, CallId, CallOrigin, Effect, Grant, Notice, Offered,
    PieceId, PieceKind, StateKind, ToolCall, ToolOutcome, ToolState, Turn, TurnEnd, TurnEvent,
};
use crate::domain::{Decision, OfferedTool, SchemaCheck, Tool};
use crate::protocol::ApproveCall;
use std::sync::Arc;

impl Turn {
    /// The ids of this round's usable calls, in the order asked.
    pub(super) fn round_calls(&self) -> Vec<CallId> {
        let id = |proposal: &Proposal| match proposal.body {
            Proposed::Call { id, .. } => Some(id),
            Proposed::Unusable { .. } => None,
        };
        self.proposals.iter().filter_map(id).collect()
    }

    pub(super) fn offered_for(&self, id: CallId) -> Option<&OfferedTool> {
        self.proposals
            .iter()
            .find_map(|proposal| match &proposal.body {
                Proposed::Call { id: of, offered } if *of == id => Some(offered.as_ref()),
                _ => None,
            })
    }

    /// Everything that stood in the way is settled: ask, or run.
    pub(super) fn approve(&mut self) {
        for id in self.round_calls() {
            self.prepare(id);
        }
        let undecided = self.undecided();
        if undecided.is_empty() {
            self.start();
        } else {
            self.ask_approval(&undecided);
        }
    }

    /// Runs unasked what may, reuses what `auto` repeats, leaves the rest to ask.
    fn prepare(&mut self, id: CallId) {
        let repeats = self.repeated(id);
        let (Some(offered), Some(call)) = (self.offered_for(id), self.calls.get(&id)) else {
            return;
        };
        if call.state != ToolState::Proposed {
            return;
        }
        if self.setup.approval.is_never(call) {
            return self.finish_call(id, ToolOutcome::Never);
        }
        let unasked = self.setup.approval.without_asking(call, offered).is_some();
        if let Some(call) = self.calls.get_mut(&id) {
            call.repeats = repeats;
        }
        match (unasked, repeats) {
            (true, Some(of)) => self.finish_call(id, ToolOutcome::Reused { of }),
            (true, None) => self.set_state_of(id, ToolState::Proposed),
            (false, _) => self.set_state_of(id, ToolState::AwaitingApproval),
        }
    }

    /// The successful call that ran last, where `id` is the same once more.
    fn repeated(&self, id: CallId) -> Option<CallId> {
        let call = self.calls.get(&id)?;
        let last = self.calls.get(&self.last_run?)?;
        let same = last.server == call.server
            && last.tool == call.tool
            && same_json(&last.arguments, &call.arguments);
        let succeeded = matches!(last.state, ToolState::Done(ToolOutcome::Succeeded { .. }));
        (same && succeeded).then_some(last.id)
    }

    pub(super) fn undecided(&self) -> Vec<CallId> {
        let mut ids = self.round_calls();
        ids.retain(|id| {
            self.calls
                .get(id)
                .is_some_and(|call| call.state == ToolState::AwaitingApproval)
        });
        ids
    }

    fn ask_approval(&mut self, ids: &[CallId]) {
        let tool_of = |id: CallId| -> Option<Arc<Tool>> {
            self.offered_for(id)
                .map(|offered| Arc::clone(&offered.tool))
        };
        let calls = ids
            .iter()
            .filter_map(|id| {
                Some(ApproveCall {
                    call: *id,
                    tool: tool_of(*id)?,
                })
            })
            .collect();
        self.open_ask(StateKind::Deciding, Ask::Approve(calls));
    }

    pub(super) fn decided(&mut self, answer: Answer) {
        let undecided = self.undecided();
        let decisions = match answer {
            Answer::Calls(decisions) => decisions,
            // Closed without a choice: the safe one is taken.
            Answer::Dismissed | Answer::Choice(_) => {
                undecided.iter().map(|id| (*id, Decision::Refuse)).collect()
            }
        };
        self.close_ask();
        if decisions
            .iter()
            .any(|(id, decision)| undecided.contains(id) && *decision == Decision::Refuse)
        {
            for id in undecided {
                self.finish_call(id, ToolOutcome::Refused);
            }
            for id in self.open_calls() {
                self.finish_call(id, ToolOutcome::Refused);
            }
            self.end(TurnEnd::Refused);
            return;
        }
        let decisions: Vec<_> = decisions
            .into_iter()
            .filter(|(id, _)| undecided.contains(id))
            .collect();
        let mut edits = Vec::new();
        for (id, decision) in self.with_nevers_first(decisions) {
            match decision {
                Decision::Edit { arguments } => edits.push((id, arguments)),
                decision => self.decide(id, decision),
            }
        }
        self.check_edits(edits);
    }

    /// Follows the edits, each with what the check of its arguments showed.
    pub(super) fn decide_edits(&mut self, edits: Vec<(CallId, Arguments, SchemaCheck)>) {
        for (id, arguments, check) in edits {
            match check {
                SchemaCheck::Invalid(fault) => self.note(Notice::warning(format!(
                    "The edited arguments do not fit: {fault}"
                ))),
                check => {
                    self.edit(id, &arguments, check == SchemaCheck::Unchecked);
                    self.decide(id, Decision::Edit { arguments });
                }
            }
        }
        self.go_on();
    }

    /// What was decided is decided. What was to run unasked may have to ask by now: the
    /// mode can change while the user decides on another call.
    pub(super) fn go_on(&mut self) {
        for id in self.round_calls() {
            let (Some(offered), Some(call)) = (self.offered_for(id), self.calls.get(&id)) else {
                continue;
            };
            let is_open = call.state == ToolState::Proposed && !self.approved.contains_key(&id);
            if is_open && self.setup.approval.without_asking(call, offered).is_none() {
                self.set_state_of(id, ToolState::AwaitingApproval);
            }
        }
        let rest = self.undecided();
        if rest.is_empty() {
            self.start();
        } else {
            self.ask_approval(&rest);
        }
    }

    /// One decision. What cannot be followed leaves the call undecided, so that
    /// it is asked about again.
    fn decide(&mut self, id: CallId, decision: Decision) {
        let Some(offered) = self.offered_for(id).cloned() else {
            return;
        };
        let Some(call) = self.calls.get(&id).cloned() else {
            return;
        };
        match &decision {
            Decision::RunForSession => {
                let grant = Grant::of(&offered);
                self.setup.approval.grant(grant.clone());
                self.effects.push(Effect::Remember(grant));
            }
            Decision::RunAlways
            | Decision::RunServer
            | Decision::RunMatching { .. }
            | Decision::Never => {
                if !self.remember(&call, &offered, &decision) {
                    return;
                }
            }
            Decision::Deny { word } => {
                self.finish_call(id, ToolOutcome::Denied { word: word.clone() });
            }
            Decision::UseFirst => {
                if let Some(of) = call.repeats {
                    self.finish_call(id, ToolOutcome::Reused { of });
                }
            }
            Decision::TreatAsText => self.treat_as_text(&call),
            // The edited arguments stand in the call by now.
            Decision::Run | Decision::Refuse | Decision::Edit { .. } => {}
        }
        if ApprovedCall::by_decision(&call, &decision).is_some() {
            self.set_state_of(id, ToolState::Proposed);
            self.approved.insert(id, decision);
        }
    }

    fn edit(&mut self, id: CallId, arguments: &Arguments, is_unchecked: bool) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.is_unchecked = is_unchecked;
            let original = std::mem::replace(&mut call.arguments, arguments.clone());
            call.original.get_or_insert(original);
        }
    }

    fn treat_as_text(&mut self, call: &ToolCall) {
        if call.origin == CallOrigin::Native {
            return;
        }
        let places = self
            .proposals
            .iter()
            .find_map(|proposal| match proposal.body {
                Proposed::Call { id, .. } if id == call.id => Some(proposal.places.clone()),
                _ => None,
            });
        self.finish_call(call.id, ToolOutcome::WasText);
        self.put_back(&places.unwrap_or_default());
    }

    /// What was taken for a call is text, in its place.
    pub(super) fn put_back(&mut self, places: &[usize]) {
        for place in places {
            let pieces = &mut self.ids.pieces;
            let changed = self.round.words.put_back(*place, || PieceId(pieces.mint()));
            let Some(Changed {
                piece,
                is_new,
                text,
            }) = changed
            else {
                continue;
            };
            let kind = PieceKind::Text;
            self.emit(if is_new {
                TurnEvent::Delta { piece, kind, text }
            } else {
                TurnEvent::Restored { piece, text }
            });
        }
    }

    /// Tools came, went or changed. A call that waits for a decision on a tool
    /// that is gone or changed is not to be decided any more.
    pub(super) fn offered_changed(&mut self, offered: Arc<Offered>) {
        self.setup.offered = offered;
        if self.state != StateKind::Deciding {
            return;
        }
        let stale: Vec<CallId> = self
            .undecided()
            .into_iter()
            .filter(|id| {
                let shown = self.offered_for(*id);
                let now =
                    shown.and_then(|shown| self.setup.offered.get(&shown.server, &shown.tool.name));
                now.map(Grant::of) != shown.map(Grant::of)
            })
            .collect();
        if stale.is_empty() {
            return;
        }
        self.close_ask();
        for id in stale {
            let why = "its server is gone, or changed the tool".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
        }
        self.go_on();
    }
}
