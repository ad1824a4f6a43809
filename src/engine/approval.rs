//! Decides which calls may run. Pure. Only this module can construct an [`ApprovedCall`], so
//! having one proves that the tool mode, a grant, a rule, the command line or the user allowed
//! the call, or that it calls `find_tools`.

use crate::domain::tool::StandingPermission;
use crate::domain::trust::{RuleScope, TrustRule};
use crate::domain::{
    Arguments, CallId, Decision, OfferedTool, ServerId, ToolCall, ToolMode, Trust,
};
use jiff::Timestamp;
use std::collections::HashSet;
use std::sync::Arc;

pub use crate::domain::ToolIdentity;

/// The permissions of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Approval {
    pub mode: ToolMode,
    /// The rules stored in `trust.json`.
    pub trust: Arc<Trust>,
    /// Tools that the command line allows, whatever their definitions.
    pub allowed_tools: Arc<[(ServerId, String)]>,
    /// The time recorded for decisions of this turn.
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

    /// The grants of this session, unordered.
    pub fn session_grants(&self) -> impl Iterator<Item = &ToolIdentity> {
        self.session_grants.iter()
    }

    pub fn revoke(&mut self, grant: &ToolIdentity) {
        self.session_grants.remove(grant);
    }

    pub fn clear_session_grants(&mut self) {
        self.session_grants.clear();
    }

    /// Adds a rule that outlasts the session, and returns it to be stored.
    pub fn remember(&mut self, offered: &OfferedTool, scope: RuleScope) -> TrustRule {
        let rule = TrustRule {
            server: offered.server.clone(),
            launch: offered.launch.clone(),
            decided_at: self.decided_at,
            scope,
        };
        Arc::make_mut(&mut self.trust).add_rule(rule.clone());
        rule
    }

    /// Whether the user blocked the tool, which overrides every grant and the mode.
    pub fn is_blocked(&self, call: &ToolCall) -> bool {
        self.trust.is_blocked(&call.server, &call.tool)
    }

    /// Approves the call if it may run without asking, see [`Self::standing_permission`].
    pub fn approve_without_asking(
        &self,
        call: &ToolCall,
        offered: &OfferedTool,
    ) -> Option<ApprovedCall> {
        let permission = self.standing_permission(call, offered);
        permission.map(|_| ApprovedCall::from(call))
    }

    /// Why the call may run without asking. A call copied from untrusted text needs the user's
    /// approval, whatever was granted; only `find_tools` is exempt.
    pub fn standing_permission(
        &self,
        call: &ToolCall,
        offered: &OfferedTool,
    ) -> Option<StandingPermission> {
        // The tool search only reads our own list of tools.
        if offered.is_tool_search() {
            return Some(StandingPermission::ToolSearch);
        }
        if call.quoted.is_some() || self.is_blocked(call) {
            return None;
        }
        if self.trust.must_ask(&call.server, &call.tool) {
            return None;
        }
        let grant = ToolIdentity::from_offered(offered);
        if self.trust.allows(&grant, &call.arguments) {
            return Some(StandingPermission::Rule);
        }
        // An unreadable trust file may block this tool.
        if self.trust.unreadable.is_file_unreadable {
            return None;
        }
        let is_same_tool = |(server, tool): &(ServerId, String)| {
            *server == offered.server && *tool == offered.tool.name
        };
        let permissions = [
            (
                self.session_grants.contains(&grant),
                StandingPermission::Session,
            ),
            (
                self.allowed_tools.iter().any(is_same_tool),
                StandingPermission::CommandLine,
            ),
            (self.mode == ToolMode::Auto, StandingPermission::AutoMode),
        ];
        let given = permissions.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, permission)| permission)
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
    /// Approves the call if the user decided to run it. Edited arguments are already in the
    /// call, so it runs exactly as shown.
    pub fn from_decision(call: &ToolCall, decision: &Decision) -> Option<Self> {
        match decision {
            Decision::Run
            | Decision::RunForSession
            | Decision::RunAlways
            | Decision::RunWholeServer
            | Decision::RunReadOnly { .. }
            | Decision::RunMatching { .. }
            | Decision::Edit { .. } => Some(Self::from(call)),
            Decision::Refuse
            | Decision::Never
            | Decision::Deny { .. }
            | Decision::ReuseResult
            | Decision::TreatAsText => None,
        }
    }

    /// Approves a failed call that the user chose to run again.
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
