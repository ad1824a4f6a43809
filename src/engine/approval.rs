//! Which calls may run. The only maker of [`ApprovedCall`], and pure: whoever
//! holds one can trust that the mode, a grant or the person allowed it.

use crate::domain::{
    Arguments, CallId, Decision, LaunchId, OfferedTool, Pin, ServerId, ToolCall, ToolMode,
};
use std::collections::HashSet;

/// "This tool, this session". It names the launch identity of the server and the
/// definition of the tool: neither another command under the same name nor a
/// changed tool is covered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    server: ServerId,
    launch: LaunchId,
    tool: String,
    pin: Pin,
}

impl Grant {
    pub fn of(offered: &OfferedTool) -> Self {
        Self {
            server: offered.server.clone(),
            launch: offered.launch.clone(),
            tool: offered.tool.name.clone(),
            pin: offered.tool.pin.clone(),
        }
    }
}

/// The mode and the grants of this session.
#[derive(Debug, Clone, Default)]
pub struct Approval {
    pub mode: ToolMode,
    grants: HashSet<Grant>,
}

impl Approval {
    pub fn new(mode: ToolMode) -> Self {
        Self {
            mode,
            grants: HashSet::new(),
        }
    }

    pub fn grant(&mut self, grant: Grant) {
        self.grants.insert(grant);
    }

    /// The call, where it may run without asking. One whose words stand in a tool result
    /// or the like may not, whatever was granted (S6.4).
    pub fn without_asking(&self, call: &ToolCall, offered: &OfferedTool) -> Option<ApprovedCall> {
        if call.quoted.is_some() {
            return None;
        }
        let allowed = self.mode == ToolMode::Auto || self.grants.contains(&Grant::of(offered));
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
    /// The call, where the person's decision is to run it. Edited arguments stand
    /// in the call by then: what is shown is what runs.
    pub fn by_decision(call: &ToolCall, decision: &Decision) -> Option<Self> {
        match decision {
            Decision::Run | Decision::RunForSession | Decision::Edit { .. } => {
                Some(Self::from(call))
            }
            Decision::Refuse
            | Decision::Deny { .. }
            | Decision::UseFirst
            | Decision::TreatAsText => None,
        }
    }

    /// A failed call that the person chose to run again.
    pub fn by_retry(failed: &ToolCall) -> Self {
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
