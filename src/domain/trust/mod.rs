//! The user's lasting decisions about tools: allow rules, argument patterns, blocks, accepted
//! definitions, and consent to servers' instructions. Every allow rule is bound to the launch
//! identity of its server and the definition of its tool; if either changes, the rule no
//! longer applies.

mod diff;
mod pattern;
mod pin_eviction;
mod rule_caveat;
mod unreadable;

pub use diff::{DiffSection, DiffSign, PinChange, ToolDefinition};
pub use pattern::{ArgumentMatcher, ArgumentPattern};
pub use pin_eviction::{EvictedPins, PINS_MAX, SERVER_PINS_MAX};
pub use rule_caveat::RuleCaveat;
pub use unreadable::UnreadableEntries;

use super::tool::canonical_hash;
use super::{Arguments, LaunchId, OfferedTool, Pin, Server, ServerId, Tool};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// Identifies a tool by its server, the server's launch identity, its name and its definition.
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

/// A stored decision to allow or block tools.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustRule {
    pub server: ServerId,
    pub launch: LaunchId,
    pub decided_at: Timestamp,
    pub scope: RuleScope,
}

/// The calls to which a rule applies, and whether it allows or blocks them.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleScope {
    /// Allows one tool.
    Tool { tool: String, pin: Pin },
    /// Allows all tools that the server had at that time, but none added later.
    Server { tools: BTreeMap<String, Pin> },
    /// Allows one tool if its arguments match.
    Matching {
        tool: String,
        pin: Pin,
        pattern: ArgumentPattern,
    },
    /// Blocks the tool by server and tool name, regardless of launch and definition: a
    /// change must not unblock it.
    Never { tool: String, pin: Pin },
}

impl TrustRule {
    /// Whether both rules are the same decision, ignoring the time.
    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server && self.launch == other.launch && self.scope == other.scope
    }

    /// The tool to which the rule applies; `None` for a whole server.
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

    /// Whether this rule overrides the earlier rule `old`. A tool cannot be both allowed and
    /// blocked, so the later decision wins.
    pub fn overrides(&self, old: &Self) -> bool {
        let is_same_tool =
            self.server == old.server && self.tool().is_some() && self.tool() == old.tool();
        is_same_tool && self.is_blocking() != old.is_blocking()
    }

    fn blocks(&self, server: &ServerId, name: &str) -> bool {
        self.server == *server
            && matches!(&self.scope, RuleScope::Never { tool, .. } if tool == name)
    }

    fn allows(&self, called: &ToolIdentity, arguments: &Arguments) -> bool {
        let is_same_tool = |tool: &str, pin: &Pin| tool == called.tool && *pin == called.pin;
        self.server == called.server
            && self.launch == called.launch
            && match &self.scope {
                RuleScope::Tool { tool, pin } => is_same_tool(tool, pin),
                RuleScope::Server { tools } => tools.get(&called.tool) == Some(&called.pin),
                RuleScope::Matching { tool, pin, pattern } => {
                    is_same_tool(tool, pin) && pattern.matches(arguments)
                }
                RuleScope::Never { .. } => false,
            }
    }
}

/// An accepted tool definition: either the first one seen or one that the user accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedDefinition {
    pub pin: Pin,
    pub accepted_at: Timestamp,
    /// `None` if only the pin is known, for example because the definition was too long to store.
    pub definition: Option<ToolDefinition>,
    /// A later definition that the user declined, so the tool stays withheld.
    pub declined_pin: Option<Pin>,
}

impl AcceptedDefinition {
    /// Records the tool's current definition as accepted now.
    pub fn accept_now(tool: &Tool) -> Self {
        Self {
            pin: tool.pin.clone(),
            accepted_at: Timestamp::now(),
            definition: Some(ToolDefinition::from_tool(tool)),
            declined_pin: None,
        }
    }
}

/// The user's consent to sending a server's instructions to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionsConsent {
    pub server: ServerId,
    pub launch: LaunchId,
    /// The hash of the instructions. The consent covers only this text.
    pub text_hash: String,
    pub agreed_at: Timestamp,
}

impl InstructionsConsent {
    pub fn new(server: &ServerId, launch: &LaunchId, text: &str, agreed_at: Timestamp) -> Self {
        Self {
            server: server.clone(),
            launch: launch.clone(),
            text_hash: canonical_hash(&Value::from(text)),
            agreed_at,
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
    pub fn is_blocked(&self, server: &ServerId, tool: &str) -> bool {
        self.rules.iter().any(|rule| rule.blocks(server, tool))
    }

    /// Whether a rule allows this call without asking. Callers check for blocks first.
    pub fn allows(&self, called: &ToolIdentity, arguments: &Arguments) -> bool {
        self.rules.iter().any(|rule| rule.allows(called, arguments))
    }

    /// The accepted definition of a tool. If it was stored but became unreadable, returns a
    /// placeholder that matches no tool.
    pub fn accepted_definition(
        &self,
        server: &ServerId,
        launch: &LaunchId,
        tool: &str,
    ) -> Option<&AcceptedDefinition> {
        let launches = self.pins.get(server);
        let tools = launches.and_then(|launches| launches.get(launch));
        let definition = tools.and_then(|tools| tools.get(tool));
        let placeholder = || {
            self.unreadable
                .has_lost_pins(server)
                .then(|| &*unreadable::UNKNOWN_DEFINITION)
        };
        definition.or_else(placeholder)
    }

    /// Whether the tool's definition differs from the accepted one.
    pub fn has_changed(&self, server: &Server, tool: &Tool) -> bool {
        let accepted = self.accepted_definition(&server.id, &server.launch, &tool.name);
        accepted.is_some_and(|accepted| accepted.pin != tool.pin)
    }

    /// Whether the user gave this consent, ignoring the time.
    pub fn has_consent(&self, wanted: &InstructionsConsent) -> bool {
        self.instruction_consents
            .iter()
            .any(|consent| consent.is_same(wanted))
    }

    /// Adds a rule and removes those it overrides.
    pub fn add_rule(&mut self, rule: TrustRule) {
        self.rules
            .retain(|old| !old.is_same(&rule) && !rule.overrides(old));
        self.rules.push(rule);
    }

    /// Stores the accepted definition of a tool, and which later one was declined, if any.
    pub fn record_pin(
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
    /// A rule that is inactive or not persisted; the caveat specifies which.
    RuleWithCaveat(TrustRule, RuleCaveat),
    /// A tool allowed until the conversation ends.
    SessionGrant(ToolIdentity),
    Instructions(InstructionsConsent),
    /// Consent that lasts until the program ends.
    InstructionsUntilExit(InstructionsConsent),
    /// A tool that is withheld until the user decides on its new definition.
    PendingPinChange(PinChange),
}

impl TrustEntry {
    pub fn server(&self) -> &ServerId {
        match self {
            Self::Rule(rule) | Self::RuleWithCaveat(rule, _) => &rule.server,
            Self::SessionGrant(grant) => &grant.server,
            Self::Instructions(consent) | Self::InstructionsUntilExit(consent) => &consent.server,
            Self::PendingPinChange(change) => &change.server,
        }
    }
}

#[cfg(test)]
mod pattern_tests;
#[cfg(test)]
mod tests;
