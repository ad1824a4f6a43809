//! Lasting decisions of the user about tools: allow rules, argument patterns, blocks,
//! accepted definitions, and servers allowed to send instructions. Every allow rule is
//! bound to the launch identity of its server and the definition of its tool; if either
//! changes, the rule no longer applies.

mod diff;
mod pattern;
mod pin_eviction;
mod rule_status;
mod unreadable;

pub use diff::{Definition, PinChange, Section, Sign};
pub use pattern::{Match, Pattern};
pub use pin_eviction::{PINS_MAX, SERVER_PINS_MAX, Stale};
pub use rule_status::Lapse;
pub use unreadable::Doubt;

use super::tool::hash_of;
use super::{Arguments, LaunchId, OfferedTool, Pin, Server, ServerId, Tool};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// A tool in the exact version on which the user decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    pub server: ServerId,
    pub launch: LaunchId,
    pub tool: String,
    pub pin: Pin,
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

/// A stored decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub server: ServerId,
    pub launch: LaunchId,
    pub since: Timestamp,
    pub cover: Cover,
}

/// The scope of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Cover {
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
        pattern: Pattern,
    },
    /// Blocks the tool by server and tool name, regardless of launch and definition: a
    /// change must not unblock it.
    Never {
        tool: String,
        pin: Pin,
    },
}

impl Rule {
    /// Whether both are the same decision, ignoring the time.
    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server && self.launch == other.launch && self.cover == other.cover
    }

    /// The tool named by the rule; `None` for a whole server.
    pub fn tool(&self) -> Option<&str> {
        match &self.cover {
            Cover::Tool { tool, .. } | Cover::Matching { tool, .. } | Cover::Never { tool, .. } => {
                Some(tool)
            }
            Cover::Server { .. } => None,
        }
    }

    pub fn is_never(&self) -> bool {
        matches!(self.cover, Cover::Never { .. })
    }

    /// Whether this rule overrides `old`: blocking and allowing the same tool exclude each
    /// other, and the later decision wins.
    pub fn replaces(&self, old: &Self) -> bool {
        let is_about =
            self.server == old.server && self.tool().is_some() && self.tool() == old.tool();
        is_about && self.is_never() != old.is_never()
    }

    fn refuses(&self, server: &ServerId, name: &str) -> bool {
        self.server == *server && matches!(&self.cover, Cover::Never { tool, .. } if tool == name)
    }

    fn allows(&self, asked: &Grant, arguments: &Arguments) -> bool {
        let is_same_tool = |tool: &str, pin: &Pin| tool == asked.tool && *pin == asked.pin;
        self.server == asked.server
            && self.launch == asked.launch
            && match &self.cover {
                Cover::Tool { tool, pin } => is_same_tool(tool, pin),
                Cover::Server { tools } => tools.get(&asked.tool) == Some(&asked.pin),
                Cover::Matching { tool, pin, pattern } => {
                    is_same_tool(tool, pin) && pattern.covers(arguments)
                }
                Cover::Never { .. } => false,
            }
    }
}

/// An accepted tool definition: either the first one seen, or one the user accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    pub pin: Pin,
    pub since: Timestamp,
    /// `None` if it was too long to store; its hash is compared anyway.
    pub definition: Option<Definition>,
    /// A later definition that the user reviewed and keeps withheld.
    pub declined: Option<Pin>,
}

impl Accepted {
    /// Accepts the current definition now.
    pub fn now(tool: &Tool) -> Self {
        Self {
            pin: tool.pin.clone(),
            since: Timestamp::now(),
            definition: Some(Definition::of(tool)),
            declined: None,
        }
    }
}

/// Server instructions that may be sent to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    pub server: ServerId,
    pub launch: LaunchId,
    /// The hash of the text, because consent covers only that text.
    pub text: String,
    pub since: Timestamp,
}

impl Agreed {
    pub fn to(server: &ServerId, launch: &LaunchId, text: &str, since: Timestamp) -> Self {
        Self {
            server: server.clone(),
            launch: launch.clone(),
            text: hash_of(&Value::from(text)),
            since,
        }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server && self.launch == other.launch && self.text == other.text
    }
}

/// Accepted definitions by server, launch identity and tool.
pub type Pins = BTreeMap<ServerId, BTreeMap<LaunchId, BTreeMap<String, Accepted>>>;

/// All stored decisions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trust {
    /// In file order.
    pub rules: Vec<Rule>,
    pub pins: Pins,
    pub instructions: Vec<Agreed>,
    /// Entries of the file that could not be parsed.
    pub doubt: Doubt,
}

impl Trust {
    /// Whether the tool is blocked.
    pub fn never(&self, server: &ServerId, tool: &str) -> bool {
        self.rules.iter().any(|rule| rule.refuses(server, tool))
    }

    /// Whether this call may run without asking. Check for blocks first.
    pub fn grants(&self, asked: &Grant, arguments: &Arguments) -> bool {
        self.rules.iter().any(|rule| rule.allows(asked, arguments))
    }

    pub fn accepted(&self, server: &ServerId, launch: &LaunchId, tool: &str) -> Option<&Accepted> {
        let launches = self.pins.get(server);
        let tools = launches.and_then(|launches| launches.get(launch));
        let known = tools.and_then(|tools| tools.get(tool));
        let lost = || self.doubt.has_lost(server).then(|| &*unreadable::UNKNOWN);
        known.or_else(lost)
    }

    /// Whether the tool's definition differs from the accepted one.
    pub fn has_changed(&self, server: &Server, tool: &Tool) -> bool {
        let accepted = self.accepted(&server.id, &server.launch, &tool.name);
        accepted.is_some_and(|accepted| accepted.pin != tool.pin)
    }

    pub fn is_agreed(&self, asked: &Agreed) -> bool {
        self.instructions.iter().any(|agreed| agreed.is_same(asked))
    }

    /// Adds a decision and removes the one it overrides.
    pub fn add(&mut self, rule: Rule) {
        self.rules
            .retain(|old| !old.is_same(&rule) && !rule.replaces(old));
        self.rules.push(rule);
    }

    /// Stores a definition as accepted.
    pub fn accept(&mut self, server: &ServerId, launch: &LaunchId, tool: &str, it: Accepted) {
        let launches = self.pins.entry(server.clone()).or_default();
        let tools = launches.entry(launch.clone()).or_default();
        tools.insert(tool.to_owned(), it);
    }
}

/// An entry of the `/trust` list.
#[derive(Debug, Clone, PartialEq)]
pub enum Trusted {
    Rule(Rule),
    /// A rule that does not apply as written.
    Lapsed(Rule, Lapse),
    /// Valid until the conversation ends.
    Session(Grant),
    Instructions(Agreed),
    /// Valid until the program ends.
    InstructionsOnce(Agreed),
    /// A tool withheld until the user decides about its new definition.
    Waiting(PinChange),
}

impl Trusted {
    pub fn server(&self) -> &ServerId {
        match self {
            Self::Rule(rule) | Self::Lapsed(rule, _) => &rule.server,
            Self::Session(grant) => &grant.server,
            Self::Instructions(agreed) | Self::InstructionsOnce(agreed) => &agreed.server,
            Self::Waiting(change) => &change.server,
        }
    }
}

#[cfg(test)]
mod pattern_tests;
#[cfg(test)]
mod tests;
