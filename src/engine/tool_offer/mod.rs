//! The tools that requests of the open conversation offer to the model, in a stable order.
//!
//! Model servers cache the beginning of a prompt, and tool definitions are part of it. So the offer
//! changes only between turns, a tool keeps its place until the end of the conversation, and tools
//! of servers that connect late are added at the end.

use crate::domain::{ServerId, Toolset};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct ToolOffer {
    /// Every tool that was offered in this conversation, by server and name. A tool that is missing
    /// now gets its place back when it returns.
    order: Vec<(ServerId, String)>,
    /// The last offer. The same one is returned while nothing changes, because its rewritten
    /// schemas are cached.
    last: Arc<Toolset>,
}

impl ToolOffer {
    /// Begins the offer of another conversation.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The offer for a new turn, from the tools that can be called now.
    pub fn for_turn(&mut self, callable: &Toolset) -> Arc<Toolset> {
        let known: HashSet<_> = self.order.iter().cloned().collect();
        let keys = callable.tools().iter();
        let keys = keys.map(|tool| (tool.server.clone(), tool.tool.name.clone()));
        self.order.extend(keys.filter(|key| !known.contains(key)));
        let offered = callable.in_order(&self.order);
        if offered != *self.last {
            self.last = Arc::new(offered);
        }
        Arc::clone(&self.last)
    }

    /// The offer of the last turn, for estimates between turns; all callable tools before the first
    /// turn.
    pub fn current(&self, callable: &Arc<Toolset>) -> Arc<Toolset> {
        match self.order.is_empty() {
            true => Arc::clone(callable),
            false => Arc::clone(&self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{described_tool, server, tool};

    fn names(offered: &Toolset) -> Vec<&str> {
        let tools = offered.tools().iter();
        tools.map(|offered| offered.native_name.as_str()).collect()
    }

    #[test]
    fn late_servers_and_new_tools_come_last_and_returning_tools_keep_their_place() {
        let files = server("files", vec![tool("read"), tool("write")]);
        let clock = server("clock", vec![tool("now")]);
        let mut offer = ToolOffer::default();
        let first = Toolset::from_servers([&files]);
        assert_eq!(
            names(&offer.for_turn(&first)),
            ["files__read", "files__write"]
        );
        // The clock stands first in the settings, but connects late.
        let all = Toolset::from_servers([&clock, &files]);
        let expected = ["files__read", "files__write", "clock__now"];
        assert_eq!(names(&offer.for_turn(&all)), expected);
        let without_files = Toolset::from_servers([&clock]);
        assert_eq!(names(&offer.for_turn(&without_files)), ["clock__now"]);
        let more = server("files", vec![tool("append"), tool("read"), tool("write")]);
        let all = Toolset::from_servers([&clock, &more]);
        let offered = offer.for_turn(&all);
        let expected = ["files__read", "files__write", "clock__now", "files__append"];
        assert_eq!(names(&offered), expected);
        assert!(
            Arc::ptr_eq(&offered, &offer.for_turn(&all)),
            "nothing changed"
        );
        offer.reset();
        let expected = ["clock__now", "files__append", "files__read", "files__write"];
        assert_eq!(names(&offer.for_turn(&all)), expected);
    }

    #[test]
    fn a_changed_definition_replaces_the_old_one_in_its_place() {
        let mut offer = ToolOffer::default();
        let before = server("files", vec![described_tool("read", "old"), tool("write")]);
        offer.for_turn(&Toolset::from_servers([&before]));
        let after = server("files", vec![tool("write"), described_tool("read", "new")]);
        let offered = offer.for_turn(&Toolset::from_servers([&after]));
        assert_eq!(names(&offered), ["files__read", "files__write"]);
        let description = offered.tools()[0].tool.description.as_deref();
        assert_eq!(description, Some("new"));
    }
}
