//! The unreadable parts of `trust.json`. An unreadable rule may be one that blocks a tool, so in
//! any uncertain case the user is asked, and tools that may have changed are withheld.

use super::{AcceptedDefinition, Trust};
use crate::domain::{Pin, ServerId};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The placeholder for an accepted definition that became unreadable. It matches no tool.
pub(super) static UNKNOWN_DEFINITION: LazyLock<AcceptedDefinition> =
    LazyLock::new(AcceptedDefinition::unknown);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnreadableEntries {
    /// The file existed at startup but could not be read, so only decisions made since then
    /// apply.
    pub is_file_unreadable: bool,
    /// The server of an unreadable rule is unknown, so every call needs approval.
    pub has_rule_without_server: bool,
    /// Servers with a rule whose tool is unreadable; all calls to their tools need approval.
    pub servers: BTreeSet<ServerId>,
    /// Tools with an unreadable rule; calls to them need approval.
    pub tools: BTreeSet<(ServerId, String)>,
    /// The accepted definitions of all servers are lost.
    pub are_all_pins_lost: bool,
    pub servers_with_lost_pins: BTreeSet<ServerId>,
}

impl UnreadableEntries {
    /// Records an unreadable rule. `server` and `tool` are the names that could be read.
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
    /// The placeholder for an unreadable definition.
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
    /// Whether the user must be asked about each call to this tool, regardless of tool mode and rules.
    pub fn must_ask(&self, server: &ServerId, tool: &str) -> bool {
        let mut tools = self.unreadable.tools.iter();
        self.must_ask_about_server(server) || tools.any(|(id, name)| id == server && name == tool)
    }

    /// Whether the user must be asked about each call to any tool of this server.
    pub fn must_ask_about_server(&self, server: &ServerId) -> bool {
        self.unreadable.has_rule_without_server || self.unreadable.servers.contains(server)
    }
}
