//! What of `trust.json` could not be understood. A refusal that nobody can read must not
//! turn into leave: what is in doubt asks, and a tool that may have changed is withheld.

use super::{AcceptedDefinition, Trust};
use crate::domain::{Pin, ServerId};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What stands for a definition that was accepted and cannot be read: no tool is it.
pub(super) static UNKNOWN_DEFINITION: LazyLock<AcceptedDefinition> =
    LazyLock::new(AcceptedDefinition::unknown);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnreadableEntries {
    /// The file was there at the start and could not be read: only what the person has
    /// decided since runs unasked.
    pub is_file_unreadable: bool,
    /// A decision about nobody knows which tool: every call asks.
    pub has_rule_without_server: bool,
    /// A decision about some tool of these servers: their calls ask.
    pub servers: BTreeSet<ServerId>,
    pub tools: BTreeSet<(ServerId, String)>,
    /// What the tools of all servers were is lost.
    pub are_all_pins_lost: bool,
    pub servers_with_lost_pins: BTreeSet<ServerId>,
}

impl UnreadableEntries {
    /// Notes a decision that is not understood, as far as it says what it is about.
    pub fn add_rule(&mut self, server: Option<&str>, tool: Option<&str>) {
        match (server.map(ServerId::new), tool) {
            (Some(server), Some(tool)) => {
                self.tools.insert((server, tool.to_owned()));
            }
            (Some(server), None) => {
                self.servers.insert(server);
            }
            (None, _) => self.has_rule_without_server = true,
        }
    }

    /// All that is in doubt in either.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            is_file_unreadable: self.is_file_unreadable || other.is_file_unreadable,
            has_rule_without_server: self.has_rule_without_server || other.has_rule_without_server,
            servers: &self.servers | &other.servers,
            tools: &self.tools | &other.tools,
            are_all_pins_lost: self.are_all_pins_lost || other.are_all_pins_lost,
            servers_with_lost_pins: &self.servers_with_lost_pins | &other.servers_with_lost_pins,
        }
    }

    pub(super) fn has_lost_pins(&self, server: &ServerId) -> bool {
        self.are_all_pins_lost || self.servers_with_lost_pins.contains(server)
    }
}

impl AcceptedDefinition {
    pub fn unknown() -> Self {
        Self {
            pin: Pin::from_hash(""),
            accepted_at: Timestamp::UNIX_EPOCH,
            definition: None,
            declined_pin: None,
        }
    }

    pub fn is_unknown(&self) -> bool {
        self.pin.as_str().is_empty()
    }
}

impl Trust {
    /// Must a call of it ask, whatever the mode and the grants say?
    pub fn must_ask(&self, server: &ServerId, tool: &str) -> bool {
        let doubt = &self.unreadable;
        let mut tools = doubt.tools.iter();
        doubt.has_rule_without_server
            || doubt.servers.contains(server)
            || tools.any(|(of, name)| of == server && name == tool)
    }
}
