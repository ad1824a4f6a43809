//! The unreadable parts of `trust.json`. An unreadable block must never become an allow, so
//! anything uncertain falls back to asking, and tools that may have changed are withheld.

use super::{Accepted, Trust};
use crate::domain::{Pin, ServerId};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Placeholder for an accepted but unreadable definition. It matches no tool.
pub(super) static UNKNOWN: LazyLock<Accepted> = LazyLock::new(Accepted::unknown);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Doubt {
    /// The file existed at startup but could not be read. Only decisions made since then
    /// apply.
    pub unread: bool,
    /// A rule about an unknown tool of an unknown server, so every call asks.
    pub all: bool,
    /// Servers with a rule about an unknown tool; their calls ask.
    pub servers: BTreeSet<ServerId>,
    pub tools: BTreeSet<(ServerId, String)>,
    /// The accepted definitions of all servers are lost.
    pub pins: bool,
    pub pins_of: BTreeSet<ServerId>,
}

impl Doubt {
    /// Records an unreadable rule, as far as it names its server and tool.
    pub fn about(&mut self, server: Option<&str>, tool: Option<&str>) {
        match (server.map(ServerId::new), tool) {
            (Some(server), Some(tool)) => {
                self.tools.insert((server, tool.to_owned()));
            }
            (Some(server), None) => {
                self.servers.insert(server);
            }
            (None, _) => self.all = true,
        }
    }

    /// The entries of both.
    pub fn with(&self, other: &Self) -> Self {
        Self {
            unread: self.unread || other.unread,
            all: self.all || other.all,
            servers: &self.servers | &other.servers,
            tools: &self.tools | &other.tools,
            pins: self.pins || other.pins,
            pins_of: &self.pins_of | &other.pins_of,
        }
    }

    pub(super) fn has_lost(&self, server: &ServerId) -> bool {
        self.pins || self.pins_of.contains(server)
    }
}

impl Accepted {
    pub fn unknown() -> Self {
        Self {
            pin: Pin::from_hash(""),
            since: Timestamp::UNIX_EPOCH,
            definition: None,
            declined: None,
        }
    }

    pub fn is_unknown(&self) -> bool {
        self.pin.as_str().is_empty()
    }
}

impl Trust {
    /// Whether a call must ask regardless of mode and rules.
    pub fn must_ask(&self, server: &ServerId, tool: &str) -> bool {
        let doubt = &self.doubt;
        let mut tools = doubt.tools.iter();
        doubt.all
            || doubt.servers.contains(server)
            || tools.any(|(id, name)| id == server && name == tool)
    }
}
