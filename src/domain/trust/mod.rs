//! What the person decided about tools for longer than one call (S7.2, S7.5): grants,
//! patterns, refusals, the definitions that were accepted, and the servers whose
//! instructions may be sent. Every grant names the launch identity of its server and
//! the definition of its tool: whatever differs in either is not covered.

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

/// One tool as it was when the person decided on it.
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

/// One remembered decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub server: ServerId,
    pub launch: LaunchId,
    pub since: Timestamp,
    pub cover: Cover,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Cover {
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
        pattern: Pattern,
    },
    /// The tool is refused. It holds for the name of server and tool, however the
    /// server is started and whatever the tool has become: a change must not bring
    /// back what was ruled out.
    Never {
        tool: String,
        pin: Pin,
    },
}

impl Rule {
    /// The same decision, whenever it was taken?
    pub fn is_same(&self, other: &Self) -> bool {
        self.server == other.server && self.launch == other.launch && self.cover == other.cover
    }

    /// The tool that it names; a rule for a whole server names none.
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

    /// "Never" and "always" about the same tool of the same server: the later one counts.
    pub fn replaces(&self, old: &Self) -> bool {
        let is_about =
            self.server == old.server && self.tool().is_some() && self.tool() == old.tool();
        is_about && self.is_never() != old.is_never()
    }

    fn refuses(&self, server: &ServerId, name: &str) -> bool {
        self.server == *server && matches!(&self.cover, Cover::Never { tool, .. } if tool == name)
    }

    fn allows(&self, asked: &Grant, arguments: &Arguments) -> bool {
        let is_it = |tool: &str, pin: &Pin| tool == asked.tool && *pin == asked.pin;
        self.server == asked.server
            && self.launch == asked.launch
            && match &self.cover {
                Cover::Tool { tool, pin } => is_it(tool, pin),
                Cover::Server { tools } => tools.get(&asked.tool) == Some(&asked.pin),
                Cover::Matching { tool, pin, pattern } => {
                    is_it(tool, pin) && pattern.covers(arguments)
                }
                Cover::Never { .. } => false,
            }
    }
}

/// The definition of a tool that was accepted, by being the first one seen or by the
/// person.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    pub pin: Pin,
    pub since: Timestamp,
    /// None where it was too long to be kept: its hash is compared all the same.
    pub definition: Option<Definition>,
    /// The later definition that the person looked at and wants withheld.
    pub declined: Option<Pin>,
}

impl Accepted {
    /// The tool as it is defined now, accepted now.
    pub fn now(tool: &Tool) -> Self {
        Self {
            pin: tool.pin.clone(),
            since: Timestamp::now(),
            definition: Some(Definition::of(tool)),
            declined: None,
        }
    }
}

/// Instructions that may be sent to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    pub server: ServerId,
    pub launch: LaunchId,
    /// The hash of their text: another text is another matter.
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

/// All that is remembered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trust {
    /// In the order of the file.
    pub rules: Vec<Rule>,
    pub pins: Pins,
    pub instructions: Vec<Agreed>,
    /// What of the file is not among these, as it could not be understood.
    pub doubt: Doubt,
}

impl Trust {
    /// Was the tool ruled out?
    pub fn never(&self, server: &ServerId, tool: &str) -> bool {
        self.rules.iter().any(|rule| rule.refuses(server, tool))
    }

    /// May this call run unasked? A refusal is to be looked for first.
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

    /// Is the tool of another definition than the accepted one?
    pub fn has_changed(&self, server: &Server, tool: &Tool) -> bool {
        let accepted = self.accepted(&server.id, &server.launch, &tool.name);
        accepted.is_some_and(|accepted| accepted.pin != tool.pin)
    }

    pub fn is_agreed(&self, asked: &Agreed) -> bool {
        self.instructions.iter().any(|agreed| agreed.is_same(asked))
    }

    /// Adds a decision. One about the same tool that says the opposite gives way.
    pub fn add(&mut self, rule: Rule) {
        self.rules
            .retain(|old| !old.is_same(&rule) && !rule.replaces(old));
        self.rules.push(rule);
    }

    /// Takes a definition as the accepted one.
    pub fn accept(&mut self, server: &ServerId, launch: &LaunchId, tool: &str, it: Accepted) {
        let launches = self.pins.entry(server.clone()).or_default();
        let tools = launches.entry(launch.clone()).or_default();
        tools.insert(tool.to_owned(), it);
    }
}

/// What `/trust` lists, one line each.
#[derive(Debug, Clone, PartialEq)]
pub enum Trusted {
    Rule(Rule),
    /// One that is not what it says.
    Lapsed(Rule, Lapse),
    /// Until the conversation ends.
    Session(Grant),
    Instructions(Agreed),
    /// Agreed to for this run of the program.
    InstructionsOnce(Agreed),
    /// A tool that is withheld until the person decides about its new definition.
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
