//! What of `trust.json` could not be understood. A refusal that nobody can read must not
//! turn into leave: what is in doubt asks, and a tool that may have changed is withheld.

use super::{Accepted, Trust};
use crate::domain::{Pin, ServerId};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What stands for a definition that was accepted and cannot be read: no tool is it.
pub(super) static UNKNOWN: LazyLock<Accepted> = LazyLock::new(Accepted::unknown);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Doubt {
    /// The file was there at the start and could not be read: only what the person has
    /// decided since runs unasked.
    pub unread: bool,
    /// A decision about nobody knows which tool: every call asks.
    pub all: bool,
    /// A decision about some tool of these servers: their calls ask.
    pub servers: BTreeSet<ServerId>,
    pub tools: BTreeSet<(ServerId, String)>,
    /// What the tools of all servers were is lost.
    pub pins: bool,
    pub pins_of: BTreeSet<ServerId>,
}

impl Doubt {
    /// Notes a decision that is not understood, as far as it says what it is about.
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

    /// All that is in doubt in either.
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
    /// Must a call of it ask, whatever the mode and the grants say?
    pub fn must_ask(&self, server: &ServerId, tool: &str) -> bool {
        let doubt = &self.doubt;
        let mut tools = doubt.tools.iter();
        doubt.all
            || doubt.servers.contains(server)
            || tools.any(|(of, name)| of == server && name == tool)
    }
}
