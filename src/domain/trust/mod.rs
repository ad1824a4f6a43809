//! Lasting decisions of the user about tools: allow rules, argument patterns, blocks,
//! accepted definitions, and servers allowed to send instructions. Every allow rule is
//! bound to the launch identity of its server and the definition of its tool; if either
//! changes, the rule no longer applies.

mod diff;
mod pattern;
mod pin_eviction;
mod rule_status;
mod unreadable;

pub use diff::{DiffSection, DiffSign, PinChange, ToolDefinition};
pub use pattern::{ArgumentMatcher, ArgumentPattern};
pub use pin_eviction::{EvictedPins, PINS_MAX, SERVER_PINS_MAX};
pub use rule_status::InactiveReason;
pub use unreadable::UnreadableEntries;

use super::tool::canonical_hash;
use super::{Arguments, LaunchId, OfferedTool, Pin, Server, ServerId, Tool};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// A tool in the exact version on which the user decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolIdentity {
    pub server: ServerId,
    pub launch: LaunchId,
    pub tool: String,
    pub pin: Pin,
}

impl ToolIdentity {
    pub fn from_offered(offered: &OfferedTool) -> Self {
        Self {
            server: offered.server.clone(),
            launch: offered.launch.clone(),
            tool: offered.tool.name.clone(),
            pin: offered.tool.pin.clone(),
        }
    }
}

/// A stored decision.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustRule {
    pub server: ServerId,
    pub launch: LaunchId,
    pub decided_at: Timestamp,
    pub scope: RuleScope,
}

/// The scope of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleScope {
    Tool {
        tool: String,
        pin: Pin,
    },
    /// All tools of the server at that time; later ones are not included.
    Server {
        tools: BTreeMap<String, Pin>,
    },
    /// One tool, if its arguments match.
    Matching {
        tool: String,
        pin: Pin,
        pattern: ArgumentPattern,
    },
    /// Blocks the tool by server and tool name, regardless of launch and definition: a
    /// change must not unblock it.
    Never {
        tool: String,
        pin: Pin,
    },
}

impl TrustRule {
    /// Whether both are the same decision, ignoring the time.
    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server && self.launch == other.launch && self.scope == other.scope
    }

    /// The tool named by the rule; `None` for a whole server.
    pub fn tool(&self) -> Option<&str> {
        match &self.scope {
            RuleScope::Tool { tool, .. }
            | RuleScope::Matching { tool, .. }
            | RuleScope::Never { tool, .. } => Some(tool),
            RuleScope::Server { .. } => None,
        }
    }

    pub fn is_blocking(&self) -> bool {
        matches!(self.scope, RuleScope::Never { .. })
    }

    /// Whether this rule overrides `old`: blocking and allowing the same tool exclude each
    /// other, and the later decision wins.
    pub fn overrides(&self, old: &Self) -> bool {
        let is_about =
            self.server == old.server && self.tool().is_some() && self.tool() == old.tool();
        is_about && self.is_blocking() != old.is_blocking()
    }

    fn blocks(&self, server: &ServerId, name: &str) -> bool {
        self.server == *server
            && matches!(&self.scope, RuleScope::Never { tool, .. } if tool == name)
    }

    fn allows(&self, call: &ToolIdentity, arguments: &Arguments) -> bool {
        let is_same_tool = |tool: &str, pin: &Pin| tool == call.tool && *pin == call.pin;
        self.server == call.server
            && self.launch == call.launch
            && match &self.scope {
                RuleScope::Tool { tool, pin } => is_same_tool(tool, pin),
                RuleScope::Server { tools } => tools.get(&call.tool) == Some(&call.pin),
                RuleScope::Matching { tool, pin, pattern } => {
                    is_same_tool(tool, pin) && pattern.matches(arguments)
                }
                RuleScope::Never { .. } => false,
            }
    }
}

/// An accepted tool definition: either the first one seen, or one the user accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedDefinition {
    pub pin: Pin,
    pub accepted_at: Timestamp,
    /// `None` if it was too long to store; its hash is compared anyway.
    pub definition: Option<ToolDefinition>,
    /// A later definition that the user reviewed and keeps withheld.
    pub declined_pin: Option<Pin>,
}

impl AcceptedDefinition {
    /// Accepts the current definition now.
    pub fn accept_now(tool: &Tool) -> Self {
        Self {
            pin: tool.pin.clone(),
            accepted_at: Timestamp::now(),
            definition: Some(ToolDefinition::from_tool(tool)),
            declined_pin: None,
        }
    }
}

/// Server instructions that may be sent to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionsConsent {
    pub server: ServerId,
    pub launch: LaunchId,
    /// The hash of the text, because consent covers only that text.
    pub text_hash: String,
    pub agreed_at: Timestamp,
}

impl InstructionsConsent {
    pub fn new(server: &ServerId, launch: &LaunchId, text: &str, since: Timestamp) -> Self {
        Self {
            server: server.clone(),
            launch: launch.clone(),
            text_hash: canonical_hash(&Value::from(text)),
            agreed_at: since,
        }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server
            && self.launch == other.launch
            && self.text_hash == other.text_hash
    }
}

/// Accepted definitions by server, launch identity and tool.
pub type Pins = BTreeMap<ServerId, BTreeMap<LaunchId, BTreeMap<String, AcceptedDefinition>>>;

/// All stored decisions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trust {
    /// In file order.
    pub rules: Vec<TrustRule>,
    pub pins: Pins,
    pub instruction_consents: Vec<InstructionsConsent>,
    /// Entries of the file that could not be parsed.
    pub unreadable: UnreadableEntries,
}

impl Trust {
    /// Whether the tool is blocked.
    pub fn is_blocked(&self, server: &ServerId, tool: &str) -> bool {
        self.rules.iter().any(|rule| rule.blocks(server, tool))
    }

    /// Whether this call may run without asking. Check for blocks first.
    pub fn allows(&self, asked: &ToolIdentity, arguments: &Arguments) -> bool {
        self.rules.iter().any(|rule| rule.allows(asked, arguments))
    }

    pub fn accepted_definition(
        &self,
        server: &ServerId,
        launch: &LaunchId,
        tool: &str,
    ) -> Option<&AcceptedDefinition> {
        let launches = self.pins.get(server);
        let tools = launches.and_then(|launches| launches.get(launch));
        let known = tools.and_then(|tools| tools.get(tool));
        let lost = || {
            self.unreadable
                .has_lost_pins(server)
                .then(|| &*unreadable::UNKNOWN_DEFINITION)
        };
        known.or_else(lost)
    }

    /// Whether the tool's definition differs from the accepted one.
    pub fn has_changed(&self, server: &Server, tool: &Tool) -> bool {
        let accepted = self.accepted_definition(&server.id, &server.launch, &tool.name);
        accepted.is_some_and(|accepted| accepted.pin != tool.pin)
    }

    pub fn has_consent(&self, asked: &InstructionsConsent) -> bool {
        self.instruction_consents
            .iter()
            .any(|agreed| agreed.is_same(asked))
    }

    /// Adds a decision and removes the one it overrides.
    pub fn add_rule(&mut self, rule: TrustRule) {
        self.rules
            .retain(|old| !old.is_same(&rule) && !rule.overrides(old));
        self.rules.push(rule);
    }

    /// Stores a definition as accepted.
    pub fn accept(
        &mut self,
        server: &ServerId,
        launch: &LaunchId,
        tool: &str,
        accepted: AcceptedDefinition,
    ) {
        let launches = self.pins.entry(server.clone()).or_default();
        let tools = launches.entry(launch.clone()).or_default();
        tools.insert(tool.to_owned(), accepted);
    }
}

/// An entry of the `/trust` list.
#[derive(Debug, Clone, PartialEq)]
pub enum TrustEntry {
    Rule(TrustRule),
    /// A rule that does not apply as written.
    InactiveRule(TrustRule, InactiveReason),
    /// Valid until the conversation ends.
    SessionGrant(ToolIdentity),
    Instructions(InstructionsConsent),
    /// Valid until the program ends.
    InstructionsUntilExit(InstructionsConsent),
    /// A tool withheld until the user decides about its new definition.
    PendingPinChange(PinChange),
}

impl TrustEntry {
    pub fn server(&self) -> &ServerId {
        match self {
            Self::Rule(rule) | Self::InactiveRule(rule, _) => &rule.server,
            Self::SessionGrant(grant) => &grant.server,
            Self::Instructions(agreed) | Self::InstructionsUntilExit(agreed) => &agreed.server,
            Self::PendingPinChange(change) => &change.server,
        }
    }
}

#[cfg(test)]
mod pattern_tests;
#[cfg(test)]
mod tests;
