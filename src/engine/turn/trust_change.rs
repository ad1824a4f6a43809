//! Decisions that outlast one call, and changes of the rules while a turn is running.

use super::{CallId, Notice, ToolCall, ToolOutcome, Turn, TurnEffect, TurnState};
use crate::domain::trust::RuleScope;
use crate::domain::{Decision, OfferedTool};
use crate::engine::approval::Approval;

impl Turn {
    /// Stores a decision. False if it cannot be applied and the call must be asked about
    /// again.
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
                    "The pattern does not match this call, so it was not saved.",
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

    /// "Never" overrides any other decision about the same tool at the same time: the other
    /// calls of that tool end as well.
    pub(super) fn apply_never_decisions_first(
        &mut self,
        decisions: Vec<(CallId, Decision)>,
    ) -> Vec<(CallId, Decision)> {
        let tool_of = |turn: &Self, id: &CallId| {
            let call = turn.calls.get(id)?;
            Some((call.server.clone(), call.tool.clone()))
        };
        let (mut applied, mut others) = (Vec::new(), Vec::new());
        let mut blocked = Vec::new();
        for (id, decision) in decisions {
            let tool = tool_of(self, &id);
            if decision == Decision::Never && !blocked.contains(&tool) {
                blocked.push(tool);
                applied.push((id, decision));
            } else {
                others.push((id, decision));
            }
        }
        for (id, decision) in others {
            match blocked.contains(&tool_of(self, &id)) {
                true => self.finish_call(id, ToolOutcome::Never),
                false => applied.push((id, decision)),
            }
        }
        applied
    }

    /// The tools that the server offers now, without later ones.
    fn server_scope(&self, offered: &OfferedTool) -> RuleScope {
        let tools = self.setup.toolset.tools().iter();
        let of_server =
            tools.filter(|tool| tool.server == offered.server && tool.launch == offered.launch);
        let mut tools: std::collections::BTreeMap<_, _> = of_server
            .map(|entry| (entry.tool.name.clone(), entry.tool.pin.clone()))
            .collect();
        // Consent covers the definition that was shown.
        tools.insert(offered.tool.name.clone(), offered.tool.pin.clone());
        RuleScope::Server { tools }
    }

    /// Closes undecided calls of a tool that was blocked meanwhile. Revoked grants take effect
    /// before the next call starts.
    pub(super) fn trust_changed(&mut self, approval: Approval) {
        self.setup.approval = approval;
        if self.state != TurnState::AwaitingApproval {
            return;
        }
        let is_never = |id: &CallId| {
            let call = self.calls.get(id);
            call.is_some_and(|call| self.setup.approval.is_never(call))
        };
        let blocked: Vec<CallId> = self
            .undecided_calls()
            .into_iter()
            .filter(is_never)
            .collect();
        if blocked.is_empty() {
            return;
        }
        self.close_ask();
        for id in blocked {
            self.finish_call(id, ToolOutcome::Never);
        }
        self.resume_approval();
    }
}
