//! Looks up offered tools by name. Call recognizers do so for almost every character of a
//! reply, and there may be thousands of tools, so no lookup scans them all.

use super::OfferedTool;
use crate::domain::ServerId;
use std::collections::{HashMap, HashSet};

/// The map values are positions in the list of tools.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ToolNameIndex {
    by_name: HashMap<String, Vec<usize>>,
    by_native_name: HashMap<String, usize>,
    /// In the order of the tools, without duplicates.
    servers: Vec<ServerId>,
    /// All spellings of tool names, sorted. A spelling that starts with another one is
    /// omitted, because the shorter one covers it.
    spellings: Vec<String>,
}

impl ToolNameIndex {
    pub(super) fn from_tools(tools: &[OfferedTool]) -> Self {
        let mut index = Self::default();
        let mut seen_servers = HashSet::new();
        for (position, offered) in tools.iter().enumerate() {
            let (server, name) = (&offered.server, &offered.tool.name);
            let native_name = &offered.native_name;
            index
                .by_name
                .entry(name.clone())
                .or_default()
                .push(position);
            index
                .by_native_name
                .entry(native_name.clone())
                .or_insert(position);
            if seen_servers.insert(server) {
                index.servers.push(server.clone());
            }
            index.spellings.extend([
                name.clone(),
                native_name.clone(),
                format!("{server}__{name}"),
                format!("{server}.{name}"),
            ]);
        }
        index.spellings.sort_unstable();
        index
            .spellings
            .dedup_by(|next, kept| next.starts_with(kept.as_str()));
        index
    }

    pub(super) fn positions_named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn position_of_native_name(&self, name: &str) -> Option<usize> {
        self.by_native_name.get(name).copied()
    }

    pub(super) fn servers(&self) -> &[ServerId] {
        &self.servers
    }

    /// Whether `part` is a prefix of a spelling or vice versa. No spelling is a prefix of
    /// another, so only the two neighbors of `part` need to be checked.
    pub(super) fn may_be_name_prefix(&self, part: &str) -> bool {
        let split = self
            .spellings
            .partition_point(|spelling| &**spelling <= part);
        let (up_to_part, after) = self.spellings.split_at(split);
        up_to_part
            .last()
            .is_some_and(|spelling| part.starts_with(&**spelling))
            || after
                .first()
                .is_some_and(|spelling| spelling.starts_with(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LaunchConfig;

    fn offered(server: &str, name: &str) -> OfferedTool {
        OfferedTool {
            server: server.into(),
            launch: LaunchConfig::BuiltIn.identity(),
            tool: crate::fixtures::tool(name).into(),
            native_name: format!("{server}__{name}").replace('.', "_"),
        }
    }

    #[test]
    fn name_prefix_lookups_agree_with_a_linear_search() {
        let names = [
            ("a", "b"),
            ("a", "ba"),
            ("a", "bab.a"),
            ("b_", "_a"),
            ("b_", "ab"),
        ];
        let tools = names.map(|(server, name)| offered(server, name));
        let spellings: Vec<String> = names
            .iter()
            .zip(&tools)
            .flat_map(|((server, name), tool)| {
                let native = tool.native_name.clone();
                let joined = [format!("{server}__{name}"), format!("{server}.{name}")];
                joined.into_iter().chain([(*name).to_owned(), native])
            })
            .collect();
        for tool_count in 1..=tools.len() {
            let index = ToolNameIndex::from_tools(&tools[..tool_count]);
            let spellings = &spellings[..4 * tool_count];
            let mut parts = vec![String::new()];
            for _ in 0..6 {
                for part in &parts {
                    let is_prefix_or_extension = |spelling: &String| {
                        spelling.starts_with(part) || part.starts_with(&**spelling)
                    };
                    assert_eq!(
                        index.may_be_name_prefix(part),
                        spellings.iter().any(is_prefix_or_extension),
                        "{part}"
                    );
                }
                let longer_parts = parts
                    .iter()
                    .flat_map(|part| ["a", "b", "_", "."].map(|end| format!("{part}{end}")));
                parts = longer_parts.collect();
            }
        }
    }
}
