//! What the person decided about tools for longer than one call (S7.2, S7.5): grants,
//! patterns, refusals, the definitions that were accepted, and the servers whose
//! instructions may be sent. Every grant names the launch identity of its server and
//! the definition of its tool: whatever differs in either is not covered.

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

/// One tool as it was when the person decided on it.
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

/// One remembered decision.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustRule {
    pub server: ServerId,
    pub launch: LaunchId,
    pub decided_at: Timestamp,
    pub scope: RuleScope,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleScope {
    Tool {
        tool: String,
        pin: Pin,
    },
    /// The tools that the server had at the time: later ones are not covered.
    Server {
        tools: BTreeMap<String, Pin>,
    },
    /// One tool, while its arguments match.
    Matching {
        tool: String,
        pin: Pin,
        pattern: ArgumentPattern,
    },
    /// The tool is refused. It holds for the name of server and tool, however the
    /// server is started and whatever the tool has become: a change must not bring
    /// back what was ruled out.
    Never {
        tool: String,
        pin: Pin,
    },
}

impl TrustRule {
    /// The same decision, whenever it was taken?
    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server && self.launch == other.launch && self.scope == other.scope
    }

    /// The tool that it names; a rule for a whole server names none.
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

    /// "Never" and "always" about the same tool of the same server: the later one counts.
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
        let is_it = |tool: &str, pin: &Pin| tool == call.tool && *pin == call.pin;
        self.server == call.server
            && self.launch == call.launch
            && match &self.scope {
                RuleScope::Tool { tool, pin } => is_it(tool, pin),
                RuleScope::Server { tools } => tools.get(&call.tool) == Some(&call.pin),
                RuleScope::Matching { tool, pin, pattern } => {
                    is_it(tool, pin) && pattern.matches(arguments)
                }
                RuleScope::Never { .. } => false,
            }
    }
}

/// The definition of a tool that was accepted, by being the first one seen or by the
/// person.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedDefinition {
    pub pin: Pin,
    pub accepted_at: Timestamp,
    /// None where it was too long to be kept: its hash is compared all the same.
    pub definition: Option<ToolDefinition>,
    /// The later definition that the person looked at and wants withheld.
    pub declined_pin: Option<Pin>,
}

impl AcceptedDefinition {
    /// The tool as it is defined now, accepted now.
    pub fn accept_now(tool: &Tool) -> Self {
        Self {
            pin: tool.pin.clone(),
            accepted_at: Timestamp::now(),
            definition: Some(ToolDefinition::from_tool(tool)),
            declined_pin: None,
        }
    }
}

/// Instructions that may be sent to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionsConsent {
    pub server: ServerId,
    pub launch: LaunchId,
    /// The hash of their text: another text is another matter.
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

/// All that is remembered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trust {
    /// In the order of the file.
    pub rules: Vec<TrustRule>,
    pub pins: Pins,
    pub instruction_consents: Vec<InstructionsConsent>,
    /// What of the file is not among these, as it could not be understood.
    pub unreadable: UnreadableEntries,
}

impl Trust {
    /// Was the tool ruled out?
    pub fn is_blocked(&self, server: &ServerId, tool: &str) -> bool {
        self.rules.iter().any(|rule| rule.blocks(server, tool))
    }

    /// May this call run unasked? A refusal is to be looked for first.
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

    /// Is the tool of another definition than the accepted one?
    pub fn has_changed(&self, server: &Server, tool: &Tool) -> bool {
        let accepted = self.accepted_definition(&server.id, &server.launch, &tool.name);
        accepted.is_some_and(|accepted| accepted.pin != tool.pin)
    }

    pub fn has_consent(&self, asked: &InstructionsConsent) -> bool {
        self.instruction_consents
            .iter()
            .any(|agreed| agreed.is_same(asked))
    }

    /// Adds a decision. One about the same tool that says the opposite gives way.
    pub fn add_rule(&mut self, rule: TrustRule) {
        self.rules
            .retain(|old| !old.is_same(&rule) && !rule.overrides(old));
        self.rules.push(rule);
    }

    /// Takes a definition as the accepted one.
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

/// What `/trust` lists, one line each.
#[derive(Debug, Clone, PartialEq)]
pub enum TrustEntry {
    Rule(TrustRule),
    /// One that is not what it says.
    InactiveRule(TrustRule, InactiveReason),
    /// Until the conversation ends.
    SessionGrant(ToolIdentity),
    Instructions(InstructionsConsent),
    /// Agreed to for this run of the program.
    InstructionsOnce(InstructionsConsent),
    /// A tool that is withheld until the person decides about its new definition.
    PendingPinChange(PinChange),
}

impl TrustEntry {
    pub fn server(&self) -> &ServerId {
        match self {
            Self::Rule(rule) | Self::InactiveRule(rule, _) => &rule.server,
            Self::SessionGrant(grant) => &grant.server,
            Self::Instructions(agreed) | Self::InstructionsOnce(agreed) => &agreed.server,
            Self::PendingPinChange(change) => &change.server,
        }
    }
}

#[cfg(test)]
mod pattern_tests;
#[cfg(test)]
mod tests;
