//! Decisions that are remembered and not in force as they read.

use super::{Pin, RuleScope, Server, Trust, TrustRule};

/// Why a rule is not what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InactiveReason {
    /// The tool is another now.
    ToolChanged,
    /// The server is started in another way now.
    LaunchChanged,
    /// Something about it is not understood in the file: it asks.
    Unreadable,
    /// It could not be written: it holds until the program ends.
    NotPersisted,
}

impl Trust {
    /// What keeps `rule` from being followed or kept; `server` is the one it names.
    pub fn inactive_reason(
        &self,
        rule: &TrustRule,
        server: Option<&Server>,
    ) -> Option<InactiveReason> {
        let tools = match &rule.scope {
            RuleScope::Never { .. } => {
                return self
                    .unreadable
                    .is_file_unreadable
                    .then_some(InactiveReason::NotPersisted);
            }
            RuleScope::Tool { tool, pin } | RuleScope::Matching { tool, pin, .. } => {
                vec![(tool, pin)]
            }
            RuleScope::Server { tools } => tools.iter().collect(),
        };
        if tools
            .iter()
            .all(|(tool, _)| self.must_ask(&rule.server, tool))
        {
            return Some(InactiveReason::Unreadable);
        }
        if server.is_some_and(|server| server.launch != rule.launch) {
            return Some(InactiveReason::LaunchChanged);
        }
        let is_other = |(name, pin): &(&String, &Pin)| {
            let mut listed = server.iter().flat_map(|server| server.tools.iter());
            let now = listed.find(|tool| tool.name == **name);
            now.is_some_and(|tool| tool.pin != **pin)
        };
        if !tools.is_empty() && tools.iter().all(is_other) {
            return Some(InactiveReason::ToolChanged);
        }
        self.unreadable
            .is_file_unreadable
            .then_some(InactiveReason::NotPersisted)
    }
}
