//! Which calls may run. The only maker of [`ApprovedCall`], and pure: whoever
//! holds one can trust that the mode, a grant or the user allowed it.

use crate::domain::trust::{RuleScope, TrustRule};
use crate::domain::{
    Arguments, CallId, Decision, OfferedTool, ServerId, ToolCall, ToolMode, Trust,
};
use jiff::Timestamp;
use std::collections::HashSet;
use std::sync::Arc;

pub use crate::domain::ToolIdentity;

/// The mode, the grants of this session and those that are remembered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Approval {
    pub mode: ToolMode,
    /// What is remembered beyond this run.
    pub trust: Arc<Trust>,
    /// Tools that the command line allows, whatever their definition is.
    pub allowed: Arc<[(ServerId, String)]>,
    /// The date of what is decided in this turn.
    pub decided_at: Timestamp,
    session_grants: HashSet<ToolIdentity>,
}

impl Approval {
    pub fn new(mode: ToolMode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }

    pub fn trusting(trust: Arc<Trust>) -> Self {
        Self {
            trust,
            ..Self::default()
        }
    }

    pub fn grant(&mut self, grant: ToolIdentity) {
        self.session_grants.insert(grant);
    }

    /// The grants of this session, in no order.
    pub fn session_grants(&self) -> impl Iterator<Item = &ToolIdentity> {
        self.session_grants.iter()
    }

    pub fn revoke(&mut self, grant: &ToolIdentity) {
        self.session_grants.remove(grant);
    }

    /// Another session begins.
    pub fn clear_session_grants(&mut self) {
        self.session_grants.clear();
    }

    /// Takes a decision that is to be remembered.
    pub fn remember(&mut self, offered: &OfferedTool, cover: RuleScope) -> TrustRule {
        let rule = TrustRule {
            server: offered.server.clone(),
            launch: offered.launch.clone(),
            decided_at: self.decided_at,
            scope: cover,
        };
        Arc::make_mut(&mut self.trust).add_rule(rule.clone());
        rule
    }

    /// Did the user rule the tool out? That beats every grant and the mode.
    pub fn is_never(&self, call: &ToolCall) -> bool {
        self.trust.is_blocked(&call.server, &call.tool)
    }

    /// The call, where it may run without asking. One whose words stand in a tool result
    /// or the like may not, whatever was granted.
    pub fn approve_without_asking(
        &self,
        call: &ToolCall,
        offered: &OfferedTool,
    ) -> Option<ApprovedCall> {
        if call.quoted.is_some() || self.is_never(call) {
            return None;
        }
        if self.trust.must_ask(&call.server, &call.tool) {
            return None;
        }
        let grant = ToolIdentity::from_offered(offered);
        let is_named = |(server, tool): &(ServerId, String)| {
            *server == offered.server && *tool == offered.tool.name
        };
        // A refusal may stand in the file that nobody can read.
        let is_read = !self.trust.unreadable.is_file_unreadable;
        let by_run = self.mode == ToolMode::Auto
            || self.session_grants.contains(&grant)
            || self.allowed.iter().any(is_named);
        let allowed = (is_read && by_run) || self.trust.allows(&grant, &call.arguments);
        allowed.then(|| ApprovedCall::from(call))
    }
}

/// A call that may run.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovedCall {
    id: CallId,
    server: ServerId,
    tool: String,
    arguments: Arguments,
}

impl ApprovedCall {
    /// The call, where the user's decision is to run it. Edited arguments stand
    /// in the call by then: what is shown is what runs.
    pub fn from_decision(call: &ToolCall, decision: &Decision) -> Option<Self> {
        match decision {
            Decision::Run
            | Decision::RunForSession
            | Decision::RunAlways
            | Decision::RunWholeServer
            | Decision::RunMatching { .. }
            | Decision::Edit { .. } => Some(Self::from(call)),
            Decision::Refuse
            | Decision::Never
            | Decision::Deny { .. }
            | Decision::ReuseResult
            | Decision::TreatAsText => None,
        }
    }

    /// A failed call that the user chose to run again.
    pub fn from_retry(failed: &ToolCall) -> Self {
        Self::from(failed)
    }

    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id,
            server: call.server.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        }
    }

    pub fn id(&self) -> CallId {
        self.id
    }

    pub fn server(&self) -> &ServerId {
        &self.server
    }

    pub fn tool(&self) -> &str {
        &self.tool
    }

    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }
}
