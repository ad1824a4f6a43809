//! Stores decisions that outlast one call, and applies changed rules to a running turn.

use super::{CallId, Notice, ToolCall, ToolOutcome, Turn, TurnEffect, TurnState};
use crate::domain::trust::RuleScope;
use crate::domain::{Decision, OfferedTool, Pin};
use crate::engine::approval::Approval;
use std::collections::BTreeMap;

impl Turn {
    /// Stores the rule that a decision creates, if any; "never" also ends the call. Returns false if
    /// the decision cannot be applied, so that the call is asked about again.
    pub(super) fn remember_decision(
        &mut self,
        call: &ToolCall,
        offered: &OfferedTool,
        decision: &Decision,
    ) -> bool {
        let (tool, pin) = (offered.tool.name.clone(), offered.tool.pin.clone());
        let scope = match decision {
            Decision::RunAlways => RuleScope::Tool { tool, pin },
            Decision::RunWholeServer => self.server_scope(offered),
            Decision::RunReadOnly { tools } => {
                let tools = self.current_read_only_tools(offered, tools);
                if !tools.contains_key(&tool) {
                    self.note(Notice::warning(
                        "The tool is not marked as read-only, or it has changed since it was shown, so \
                         the permission was not saved.",
                    ));
                    return false;
                }
                RuleScope::Server { tools }
            }
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
        let is_blocking = matches!(scope, RuleScope::Never { .. });
        let rule = self.setup.approval.remember(offered, scope);
        self.effects.push(TurnEffect::StoreRule(rule));
        if is_blocking {
            self.finish_call(call.id, ToolOutcome::Never);
        }
        true
    }

    /// Puts "never" decisions first. They override other decisions about calls to the same tool:
    /// those calls are finished here. Returns the decisions still to apply.
    pub(super) fn prioritize_never_decisions(
        &mut self,
        decisions: Vec<(CallId, Decision)>,
    ) -> Vec<(CallId, Decision)> {
        let tool_of = |turn: &Self, id: &CallId| {
            let call = turn.calls.get(id)?;
            Some((call.server.clone(), call.tool.clone()))
        };
        let (mut to_apply, mut others) = (Vec::new(), Vec::new());
        let mut blocked_tools = Vec::new();
        for (id, decision) in decisions {
            let tool = tool_of(self, &id);
            if decision == Decision::Never && !blocked_tools.contains(&tool) {
                blocked_tools.push(tool);
                to_apply.push((id, decision));
            } else {
                others.push((id, decision));
            }
        }
        for (id, decision) in others {
            match blocked_tools.contains(&tool_of(self, &id)) {
                true => self.finish_call(id, ToolOutcome::Never),
                false => to_apply.push((id, decision)),
            }
        }
        to_apply
    }

    /// A scope of all tools that the server offers now. Tools that it adds later are not included.
    fn server_scope(&self, offered: &OfferedTool) -> RuleScope {
        let tools = self.setup.toolset.tools().iter();
        let server_tools =
            tools.filter(|tool| tool.server == offered.server && tool.launch == offered.launch);
        let mut tools: BTreeMap<_, _> = server_tools
            .map(|offered| (offered.tool.name.clone(), offered.tool.pin.clone()))
            .collect();
        // For the called tool, the user consented to the definition that was shown.
        tools.insert(offered.tool.name.clone(), offered.tool.pin.clone());
        RuleScope::Server { tools }
    }

    /// The tools shown to the user whose definitions have not changed since, and which the server
    /// marks as read-only. A tool that changed or was added meanwhile is not included.
    fn current_read_only_tools(
        &self,
        offered: &OfferedTool,
        shown: &BTreeMap<String, Pin>,
    ) -> BTreeMap<String, Pin> {
        let is_current = |(name, pin): &(&String, &Pin)| {
            let current = match **name == offered.tool.name {
                true => Some(offered),
                false => self.setup.toolset.get(&offered.server, name),
            };
            current.is_some_and(|current| {
                current.launch == offered.launch
                    && current.tool.pin == **pin
                    && current.tool.annotations.read_only == Some(true)
            })
        };
        let current = shown.iter().filter(is_current);
        current
            .map(|(name, pin)| (name.clone(), pin.clone()))
            .collect()
    }

    /// Applies changed permissions, and closes undecided calls to a tool that was blocked
    /// meanwhile. Revoked grants take effect before the next call starts.
    pub(super) fn handle_trust_changed(&mut self, approval: Approval) {
        self.setup.approval = approval;
        if self.state != TurnState::AwaitingApproval {
            return;
        }
        let is_blocked = |id: &CallId| {
            let call = self.calls.get(id);
            call.is_some_and(|call| self.setup.approval.is_blocked(call))
        };
        let blocked: Vec<CallId> = self
            .undecided_calls()
            .into_iter()
            .filter(is_blocked)
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
