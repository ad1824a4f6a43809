//! Limits the number of stored definitions. Each server has its own limit and evicts only
//! its own definitions, so no server can make the program forget another's tools.

use super::{Server, Trust};
use crate::domain::{LaunchId, ServerId};
use std::collections::{BTreeMap, BTreeSet};

/// Definitions per server: more than it can list at once.
pub const SERVER_PINS_MAX: usize = 6_000;
/// Definitions in total, above which those of removed servers are evicted.
pub const PINS_MAX: usize = 20_000;

/// Definitions of one server to be evicted, by launch.
pub type EvictedPins = BTreeMap<LaunchId, BTreeSet<String>>;

impl Trust {
    /// The definitions of `server` beyond its limit: oldest first, declined ones last.
    /// Never includes currently listed tools.
    pub fn excess_pins(&self, server: &Server) -> EvictedPins {
        let Some(launches) = self.pins.get(&server.id) else {
            return EvictedPins::new();
        };
        let count: usize = launches.values().map(BTreeMap::len).sum();
        let Some(over) = count.checked_sub(SERVER_PINS_MAX).filter(|over| *over > 0) else {
            return EvictedPins::new();
        };
        let listed: BTreeSet<&str> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        let is_listed =
            |launch: &LaunchId, tool: &str| *launch == server.launch && listed.contains(tool);
        let mut dated: Vec<_> = launches
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
        dated.sort();
        let mut stale = EvictedPins::new();
        for (_, _, launch, tool) in dated.into_iter().take(over) {
            let tools = stale.entry(launch.clone()).or_default();
            tools.insert(tool.clone());
        }
        stale
    }

    /// Definitions of servers that are not in `configured`, if the total limit is exceeded.
    pub fn orphaned_pins(&self, configured: &BTreeSet<&ServerId>) -> Vec<(ServerId, EvictedPins)> {
        let count = |launches: &BTreeMap<LaunchId, BTreeMap<String, _>>| -> usize {
            launches.values().map(BTreeMap::len).sum()
        };
        let all: usize = self.pins.values().map(count).sum();
        let mut over = all.saturating_sub(PINS_MAX);
        let mut found = Vec::new();
        let gone = self.pins.iter().filter(|(id, _)| !configured.contains(id));
        for (id, launches) in gone {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(count(launches));
            let names = |(launch, tools): (&LaunchId, &BTreeMap<String, _>)| {
                (launch.clone(), tools.keys().cloned().collect())
            };
            found.push((id.clone(), launches.iter().map(names).collect()));
        }
        found
    }

    pub fn remove_pins(&mut self, server: &ServerId, stale: &EvictedPins) {
        for (launch, gone) in stale {
            let launches = self.pins.get_mut(server);
            if let Some(tools) = launches.and_then(|launches| launches.get_mut(launch)) {
                tools.retain(|tool, _| !gone.contains(tool));
            }
        }
    }
}
