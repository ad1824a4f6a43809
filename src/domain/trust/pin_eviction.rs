//! Limits the number of stored definitions. Each server has its own limit and evicts only
//! its own definitions, so no server can evict those of another.

use super::{Server, Trust};
use crate::domain::{LaunchId, ServerId};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of definitions stored per server; more than a server can list at once.
pub const SERVER_PINS_MAX: usize = 6_000;
/// The total number of definitions above which those of removed servers are evicted.
pub const PINS_MAX: usize = 20_000;

/// The tools of one server whose definitions are to be evicted, by launch identity.
pub type EvictedPins = BTreeMap<LaunchId, BTreeSet<String>>;

impl Trust {
    /// The definitions of `server` to evict because it exceeds its limit: the oldest, and declined
    /// ones only if no others are left. Never those of currently listed tools.
    pub fn excess_pins(&self, server: &Server) -> EvictedPins {
        let Some(launches) = self.pins.get(&server.id) else {
            return EvictedPins::new();
        };
        let count: usize = launches.values().map(BTreeMap::len).sum();
        let excess = count.saturating_sub(SERVER_PINS_MAX);
        if excess == 0 {
            return EvictedPins::new();
        }
        let listed: BTreeSet<&str> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        let is_listed =
            |launch: &LaunchId, tool: &str| *launch == server.launch && listed.contains(tool);
        let mut candidates: Vec<_> = launches
            .iter()
            .flat_map(|(launch, tools)| {
                tools
                    .iter()
                    .map(move |(tool, accepted)| (launch, tool, accepted))
            })
            .filter(|(launch, tool, _)| !is_listed(launch, tool))
            .map(|(launch, tool, accepted)| {
                (
                    accepted.declined_pin.is_some(),
                    accepted.accepted_at,
                    launch,
                    tool,
                )
            })
            .collect();
        candidates.sort();
        let mut evicted = EvictedPins::new();
        for (_, _, launch, tool) in candidates.into_iter().take(excess) {
            let tools = evicted.entry(launch.clone()).or_default();
            tools.insert(tool.clone());
        }
        evicted
    }

    /// Definitions to evict if the total limit is exceeded: those of servers that are not in
    /// `configured`.
    pub fn orphaned_pins(&self, configured: &BTreeSet<&ServerId>) -> Vec<(ServerId, EvictedPins)> {
        let count = |launches: &BTreeMap<LaunchId, BTreeMap<String, _>>| -> usize {
            launches.values().map(BTreeMap::len).sum()
        };
        let total: usize = self.pins.values().map(count).sum();
        let mut excess = total.saturating_sub(PINS_MAX);
        let mut evicted = Vec::new();
        let removed_servers = self.pins.iter().filter(|(id, _)| !configured.contains(id));
        for (id, launches) in removed_servers {
            if excess == 0 {
                break;
            }
            excess = excess.saturating_sub(count(launches));
            let names = |(launch, tools): (&LaunchId, &BTreeMap<String, _>)| {
                (launch.clone(), tools.keys().cloned().collect())
            };
            evicted.push((id.clone(), launches.iter().map(names).collect()));
        }
        evicted
    }

    pub fn remove_pins(&mut self, server: &ServerId, evicted: &EvictedPins) {
        for (launch, evicted_tools) in evicted {
            let launches = self.pins.get_mut(server);
            if let Some(tools) = launches.and_then(|launches| launches.get_mut(launch)) {
                tools.retain(|tool, _| !evicted_tools.contains(tool));
            }
        }
    }
}
