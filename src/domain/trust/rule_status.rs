//! Determines which rules do not apply as written, and why.

use super::{Pin, RuleScope, Server, Trust, TrustRule};

/// Why a rule does not apply as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InactiveReason {
    /// The tool's definition changed.
    ToolChanged,
    /// The server's launch configuration changed.
    LaunchChanged,
    /// A related entry of the file is unreadable, so the tool asks.
    Unreadable,
    /// The rule could not be saved, so it applies only until the program ends.
    NotPersisted,
}

impl Trust {
    /// Why `rule` is inactive or not persisted; `None` if it applies as written. `server` is the
    /// server that the rule names, if it is configured.
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
        let has_changed = |(name, pin): &(&String, &Pin)| {
            let mut listed = server.iter().flat_map(|server| server.tools.iter());
            let current = listed.find(|tool| tool.name == **name);
            current.is_some_and(|tool| tool.pin != **pin)
        };
        if !tools.is_empty() && tools.iter().all(has_changed) {
            return Some(InactiveReason::ToolChanged);
        }
        self.unreadable
            .is_file_unreadable
            .then_some(InactiveReason::NotPersisted)
    }
}
