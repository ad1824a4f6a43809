//! Determines which rules do not apply as written, or apply only during this run, and why.

use super::{Pin, RuleScope, Server, Trust, TrustRule};

/// Why a rule does not apply as written, or applies only during this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleCaveat {
    ToolChanged,
    LaunchChanged,
    /// A related entry in `trust.json` is unreadable, so the user is asked about each call.
    Unreadable,
    /// The rule could not be saved, so it applies only until the program ends.
    NotPersisted,
}

impl Trust {
    /// The caveat of `rule`, or `None` if it applies as written. `server` is the server that the
    /// rule names, if it is configured.
    pub fn rule_caveat(&self, rule: &TrustRule, server: Option<&Server>) -> Option<RuleCaveat> {
        let tools = match &rule.scope {
            RuleScope::Never { .. } => {
                return self
                    .unreadable
                    .is_file_unreadable
                    .then_some(RuleCaveat::NotPersisted);
            }
            RuleScope::Tool { tool, pin } | RuleScope::Matching { tool, pin, .. } => {
                vec![(tool, pin)]
            }
            RuleScope::Server { tools } => tools.iter().collect(),
        };
        let must_ask = |(tool, _): &(&String, &Pin)| self.must_ask(&rule.server, tool);
        let covers_unreadable = !tools.is_empty() && tools.iter().all(must_ask);
        if covers_unreadable || self.must_ask_about_server(&rule.server) {
            return Some(RuleCaveat::Unreadable);
        }
        if server.is_some_and(|server| server.launch != rule.launch) {
            return Some(RuleCaveat::LaunchChanged);
        }
        let has_changed = |(name, pin): &(&String, &Pin)| {
            let mut listed = server.iter().flat_map(|server| server.tools.iter());
            let current = listed.find(|tool| tool.name == **name);
            current.is_some_and(|tool| tool.pin != **pin)
        };
        if !tools.is_empty() && tools.iter().all(has_changed) {
            return Some(RuleCaveat::ToolChanged);
        }
        self.unreadable
            .is_file_unreadable
            .then_some(RuleCaveat::NotPersisted)
    }
}
