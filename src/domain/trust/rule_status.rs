//! Decisions that are remembered and not in force as they read.

use super::{Cover, Pin, Rule, Server, Trust};

/// Why a rule is not what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lapse {
    /// The tool is another now.
    Tool,
    /// The server is started in another way now.
    Launch,
    /// Something about it is not understood in the file: it asks.
    Doubt,
    /// It could not be written: it holds until the program ends.
    Unkept,
}

impl Trust {
    /// What keeps `rule` from being followed or kept; `server` is the one it names.
    pub fn lapse(&self, rule: &Rule, server: Option<&Server>) -> Option<Lapse> {
        let tools = match &rule.cover {
            Cover::Never { .. } => return self.doubt.unread.then_some(Lapse::Unkept),
            Cover::Tool { tool, pin } | Cover::Matching { tool, pin, .. } => vec![(tool, pin)],
            Cover::Server { tools } => tools.iter().collect(),
        };
        if tools
            .iter()
            .all(|(tool, _)| self.must_ask(&rule.server, tool))
        {
            return Some(Lapse::Doubt);
        }
        if server.is_some_and(|server| server.launch != rule.launch) {
            return Some(Lapse::Launch);
        }
        let is_other = |(name, pin): &(&String, &Pin)| {
            let mut listed = server.iter().flat_map(|server| server.tools.iter());
            let now = listed.find(|tool| tool.name == **name);
            now.is_some_and(|tool| tool.pin != **pin)
        };
        if !tools.is_empty() && tools.iter().all(is_other) {
            return Some(Lapse::Tool);
        }
        self.doubt.unread.then_some(Lapse::Unkept)
    }
}
