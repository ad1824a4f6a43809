//! Decisions that last longer than a call, and what follows when they
//! change while a turn is under way.

use super::{CallId, Notice, ToolCall, ToolOutcome, Turn, TurnEffect, TurnState};
use crate::domain::trust::RuleScope;
use crate::domain::{Decision, OfferedTool};
use crate::engine::approval::Approval;

impl Turn {
    /// Remembers what was decided; false where it cannot be followed, and the call is to
    /// be asked about again.
    pub(super) fn remember_decision(
        &mut self,
        call: &ToolCall,
        offered: &OfferedTool,
        decision: &Decision,
    ) -> bool {
        let (tool, pin) = (offered.tool.name.clone(), offered.tool.pin.clone());
        let cover = match decision {
            Decision::RunAlways => RuleScope::Tool { tool, pin },
            Decision::RunWholeServer => self.server_scope(offered),
            Decision::RunMatching { pattern } if !pattern.matches(&call.arguments) => {
                self.note(Notice::warning(
                    "The pattern does not match this call, so nothing was remembered.",
                ));
                return false;
            }
            Decision::RunMatching { pattern } => RuleScope::Matching {
                tool,
                pin,
                pattern: pattern.clone(),
            },
            Decision::Never => RuleScope::Never { tool, pin },
            _ => return true,
        };
        let is_never = matches!(cover, RuleScope::Never { .. });
        let rule = self.setup.approval.remember(offered, cover);
        self.effects.push(TurnEffect::StoreRule(rule));
        if is_never {
            self.finish_call(call.id, ToolOutcome::Never);
        }
        true
    }

    /// "Never" beats whatever else was decided about the same tool at the same time: its
    /// other calls end with it, and nothing else of theirs is left to follow.
    pub(super) fn apply_never_decisions_first(
        &mut self,
        decisions: Vec<(CallId, Decision)>,
    ) -> Vec<(CallId, Decision)> {
        let tool_of = |turn: &Self, id: &CallId| {
            let call = turn.calls.get(id)?;
            Some((call.server.clone(), call.tool.clone()))
        };
        let (mut nevers, mut others) = (Vec::new(), Vec::new());
        let mut ruled_out = Vec::new();
        for (id, decision) in decisions {
            let tool = tool_of(self, &id);
            if decision == Decision::Never && !ruled_out.contains(&tool) {
                ruled_out.push(tool);
                nevers.push((id, decision));
            } else {
                others.push((id, decision));
            }
        }
        for (id, decision) in others {
            match ruled_out.contains(&tool_of(self, &id)) {
                true => self.finish_call(id, ToolOutcome::Never),
                false => nevers.push((id, decision)),
            }
        }
        nevers
    }

    /// The tools that the server offers now, and no later one.
    fn server_scope(&self, offered: &OfferedTool) -> RuleScope {
        let tools = self.setup.toolset.tools().iter();
        let its =
            tools.filter(|tool| tool.server == offered.server && tool.launch == offered.launch);
        let mut tools: std::collections::BTreeMap<_, _> = its
            .map(|it| (it.tool.name.clone(), it.tool.pin.clone()))
            .collect();
        // What was shown is what was agreed to.
        tools.insert(offered.tool.name.clone(), offered.tool.pin.clone());
        RuleScope::Server { tools }
    }

    /// A call that waits for a decision on a tool that was ruled out meanwhile is not to
    /// be decided any more. A grant that was revoked is gone before the next call starts.
    pub(super) fn trust_changed(&mut self, approval: Approval) {
        self.setup.approval = approval;
        if self.state != TurnState::AwaitingApproval {
            return;
        }
        let is_never = |id: &CallId| {
            let call = self.calls.get(id);
            call.is_some_and(|call| self.setup.approval.is_never(call))
        };
        let ruled_out: Vec<CallId> = self
            .undecided_calls()
            .into_iter()
            .filter(is_never)
            .collect();
        if ruled_out.is_empty() {
            return;
        }
        self.close_ask();
        for id in ruled_out {
            self.finish_call(id, ToolOutcome::Never);
        }
        self.resume_approval();
    }
}
