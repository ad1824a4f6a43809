//! Stored rules that do not apply as written.

use super::{Cover, Pin, Rule, Server, Trust};

/// Why a rule does not apply as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lapse {
    /// The tool's definition changed.
    Tool,
    /// The server's launch configuration changed.
    Launch,
    /// A related entry of the file is unreadable, so the tool asks.
    Doubt,
    /// The rule could not be saved and lasts until the program ends.
    Unkept,
}

impl Trust {
    /// Why `rule` is inactive or not persisted, if so; `server` is the one it names.
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
        let has_changed = |(name, pin): &(&String, &Pin)| {
            let mut listed = server.iter().flat_map(|server| server.tools.iter());
            let now = listed.find(|tool| tool.name == **name);
            now.is_some_and(|tool| tool.pin != **pin)
        };
        if !tools.is_empty() && tools.iter().all(has_changed) {
            return Some(Lapse::Tool);
        }
        self.doubt.unread.then_some(Lapse::Unkept)
    }
}
