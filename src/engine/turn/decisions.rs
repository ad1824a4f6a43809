//! Decides which calls of a round run without asking and which need approval, and applies the
//! user's decisions.

use super::argument_eq::arguments_equal;
use super::proposals::{Proposal, ProposalKind};
use super::reply_text::RestoredText;
use super::{
    ApprovedCall, Arguments, CallId, CallOrigin, Notice, PieceId, PieceKind, ToolCall,
    ToolIdentity, ToolOutcome, ToolState, Toolset, Turn, TurnEffect, TurnEnd, TurnEvent, TurnState,
    UserAnswer,
};
use crate::config::BUILT_IN_SERVER;
use crate::domain::tool::StandingPermission;
use crate::domain::{Decision, OfferedTool, QuoteSource, SchemaCheck, Tool};
use crate::protocol::CallToApprove;
use std::sync::Arc;

impl Turn {
    /// In the order of the model's requests.
    pub(super) fn round_calls(&self) -> Vec<CallId> {
        let id = |proposal: &Proposal| match proposal.kind {
            ProposalKind::Call { id, .. } => Some(id),
            ProposalKind::Unusable { .. } => None,
        };
        self.proposals.iter().filter_map(id).collect()
    }

    /// The tool of a call, as it was when the call was proposed.
    pub(super) fn proposed_tool(&self, id: CallId) -> Option<&OfferedTool> {
        self.proposals
            .iter()
            .find_map(|proposal| match &proposal.kind {
                ProposalKind::Call { id: call_id, tool } if *call_id == id => Some(tool.as_ref()),
                _ => None,
            })
    }

    /// Asks for approval of the calls, or starts them if all are approved. Called once the other
    /// questions of the round are answered.
    pub(super) fn approve_or_ask(&mut self) {
        for id in self.round_calls() {
            self.prepare_call(id);
        }
        let undecided = self.undecided_calls();
        if undecided.is_empty() {
            self.start_approved_calls();
        } else {
            self.ask_for_approval(&undecided);
        }
    }

    /// Marks a call as approved or awaiting approval. A call to a blocked tool ends, and an approved
    /// call that repeats the last one reuses the result of that one.
    fn prepare_call(&mut self, id: CallId) {
        let repeats = self.repeated_call(id);
        let (Some(offered), Some(call)) = (self.proposed_tool(id), self.calls.get(&id)) else {
            return;
        };
        if call.state != ToolState::Proposed {
            return;
        }
        if self.setup.approval.is_blocked(call) {
            return self.finish_call(id, ToolOutcome::Never);
        }
        let is_approved = self.standing_permission(call, offered).is_some();
        let may_follow_notes = !is_approved
            && self
                .setup
                .approval
                .standing_permission(call, offered)
                .is_some();
        if let Some(call) = self.calls.get_mut(&id) {
            call.repeats = repeats;
            if may_follow_notes {
                call.quoted = Some(QuoteSource::ConsultedNotes);
            }
        }
        match (is_approved, repeats) {
            (true, Some(of)) => self.finish_call(id, ToolOutcome::Reused { of }),
            (true, None) => self.set_call_state(id, ToolState::Proposed),
            (false, _) => self.set_call_state(id, ToolState::AwaitingApproval),
        }
    }

    /// Why the call may run without asking, like [`Approval::standing_permission`]. While the context
    /// contains text from notes, auto mode is enough only for harmless tools: instructions in a note
    /// can lead to a call that the note does not contain.
    ///
    /// [`Approval::standing_permission`]: crate::engine::approval::Approval::standing_permission
    pub(super) fn standing_permission(
        &self,
        call: &ToolCall,
        offered: &OfferedTool,
    ) -> Option<StandingPermission> {
        let permission = self.setup.approval.standing_permission(call, offered)?;
        let may_follow_notes = self.agent.adds_note_text
            && permission == StandingPermission::AutoMode
            && !is_harmless(offered);
        (!may_follow_notes).then_some(permission)
    }

    fn repeated_call(&self, id: CallId) -> Option<CallId> {
        let call = self.calls.get(&id)?;
        let last = self.calls.get(&self.last_finished?)?;
        let is_same = last.server == call.server
            && last.tool == call.tool
            && arguments_equal(&last.arguments, &call.arguments);
        let has_succeeded = matches!(last.state, ToolState::Done(ToolOutcome::Succeeded { .. }));
        (is_same && has_succeeded).then_some(last.id)
    }

    pub(super) fn undecided_calls(&self) -> Vec<CallId> {
        let mut ids = self.round_calls();
        ids.retain(|id| {
            self.calls
                .get(id)
                .is_some_and(|call| call.state == ToolState::AwaitingApproval)
        });
        ids
    }

    fn ask_for_approval(&mut self, ids: &[CallId]) {
        let tool_of = |id: CallId| -> Option<Arc<Tool>> {
            self.proposed_tool(id)
                .map(|offered| Arc::clone(&offered.tool))
        };
        let calls = ids
            .iter()
            .filter_map(|id| {
                Some(CallToApprove {
                    call: *id,
                    tool: tool_of(*id)?,
                })
            })
            .collect();
        self.open_ask(
            TurnState::AwaitingApproval,
            crate::questions::approve(calls),
        );
    }

    pub(super) fn apply_decisions(&mut self, answer: UserAnswer) {
        let undecided = self.undecided_calls();
        let decisions = match answer {
            UserAnswer::Calls(decisions) => decisions,
            // Dismissing the dialog refuses all calls, the safe choice.
            UserAnswer::Dismissed | UserAnswer::Choice(_) | UserAnswer::Form(_) => {
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
        for (id, decision) in self.prioritize_never_decisions(decisions) {
            match decision {
                Decision::Edit { arguments } => edits.push((id, arguments)),
                decision => self.apply_decision(id, decision),
            }
        }
        self.check_edits(edits);
    }

    /// Applies valid edits; reports invalid ones and asks about their calls again.
    pub(super) fn apply_edits(&mut self, edits: Vec<(CallId, Arguments, SchemaCheck)>) {
        for (id, arguments, check) in edits {
            match check {
                SchemaCheck::Invalid(problem) => self.note(Notice::warning(format!(
                    "The edited arguments do not match the schema: {problem}"
                ))),
                check => {
                    self.edit_call(id, &arguments, check == SchemaCheck::Unchecked);
                    self.apply_decision(id, Decision::Edit { arguments });
                }
            }
        }
        self.resume_approval();
    }

    /// Continues after a decision. Rechecks calls that were to run without asking, because the tool
    /// mode can change while the user decides on another call.
    pub(super) fn resume_approval(&mut self) {
        for id in self.round_calls() {
            let (Some(offered), Some(call)) = (self.proposed_tool(id), self.calls.get(&id)) else {
                continue;
            };
            let was_not_asked =
                call.state == ToolState::Proposed && !self.run_decisions.contains_key(&id);
            if was_not_asked && self.standing_permission(call, offered).is_none() {
                self.set_call_state(id, ToolState::AwaitingApproval);
            }
        }
        let undecided = self.undecided_calls();
        if undecided.is_empty() {
            self.start_approved_calls();
        } else {
            self.ask_for_approval(&undecided);
        }
    }

    /// Applies one decision. If it cannot be applied, the call stays undecided and is asked about
    /// again.
    fn apply_decision(&mut self, id: CallId, decision: Decision) {
        let Some(offered) = self.proposed_tool(id).cloned() else {
            return;
        };
        let Some(call) = self.calls.get(&id).cloned() else {
            return;
        };
        match &decision {
            Decision::RunForSession => {
                let grant = ToolIdentity::from_offered(&offered);
                self.setup.approval.grant(grant.clone());
                self.effects.push(TurnEffect::GrantForSession(grant));
            }
            Decision::RunAlways
            | Decision::RunWholeServer
            | Decision::RunReadOnly { .. }
            | Decision::RunMatching { .. }
            | Decision::Never => {
                if !self.remember_decision(&call, &offered, &decision) {
                    return;
                }
            }
            Decision::Deny { message } => {
                self.finish_call(
                    id,
                    ToolOutcome::Denied {
                        message: message.clone(),
                    },
                );
            }
            Decision::ReuseResult => {
                if let Some(of) = call.repeats {
                    self.finish_call(id, ToolOutcome::Reused { of });
                }
            }
            Decision::TreatAsText => self.treat_as_text(&call),
            // The edited arguments are already in the call.
            Decision::Run | Decision::Refuse | Decision::Edit { .. } => {}
        }
        if ApprovedCall::from_decision(&call, &decision).is_some() {
            self.set_call_state(id, ToolState::Proposed);
            self.run_decisions.insert(id, decision);
        }
    }

    fn edit_call(&mut self, id: CallId, arguments: &Arguments, is_unchecked: bool) {
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
        let spans = self
            .proposals
            .iter()
            .find_map(|proposal| match proposal.kind {
                ProposalKind::Call { id, .. } if id == call.id => Some(proposal.spans.clone()),
                _ => None,
            });
        self.finish_call(call.id, ToolOutcome::WasText);
        self.restore_text(&spans.unwrap_or_default());
    }

    /// Puts text that was extracted as a call back at its position in the reply.
    pub(super) fn restore_text(&mut self, spans: &[usize]) {
        for span in spans {
            let pieces = &mut self.ids.pieces;
            let restored = self
                .round
                .reply_text
                .restore(*span, || PieceId(pieces.next_id()));
            let Some(RestoredText {
                piece,
                is_new,
                text,
            }) = restored
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

    pub(super) fn handle_tools_offered(&mut self, offered: Arc<Toolset>) {
        if !self.agent.is_without_tools {
            self.setup.offered = offered;
        }
    }

    /// Undecided calls to removed or changed tools are not run.
    pub(super) fn handle_toolset_changed(&mut self, offered: Arc<Toolset>) {
        if self.agent.is_without_tools {
            return;
        }
        self.setup.toolset = offered;
        if self.state != TurnState::AwaitingApproval {
            return;
        }
        let stale: Vec<CallId> = self
            .undecided_calls()
            .into_iter()
            .filter(|id| {
                let proposed = self.proposed_tool(*id);
                let current = proposed.and_then(|proposed| {
                    let (server, tool) = (&proposed.server, &proposed.tool.name);
                    self.setup.toolset.get(server, tool)
                });
                current.map(ToolIdentity::from_offered) != proposed.map(ToolIdentity::from_offered)
            })
            .collect();
        if stale.is_empty() {
            return;
        }
        self.close_ask();
        for id in stale {
            let why = "the tool changed or is no longer offered".to_owned();
            self.finish_call(id, ToolOutcome::NotRun { why });
        }
        self.resume_approval();
    }
}

/// Whether a tool changes nothing and sends nothing to other machines. Only the hints of the
/// built-in server are relied on.
fn is_harmless(offered: &OfferedTool) -> bool {
    let hints = &offered.tool.annotations;
    let is_local = hints.open_world == Some(false);
    offered.server.as_str() == BUILT_IN_SERVER && hints.read_only == Some(true) && is_local
}
