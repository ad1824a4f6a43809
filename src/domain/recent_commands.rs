//! The commands that the user ran most recently, which the palette lists first.

use std::collections::VecDeque;

/// Maximum number of recent commands.
const RECENT_MAX: usize = 5;

/// Names of commands, most recent first.
#[derive(Debug, Clone, Default)]
pub struct RecentCommands(VecDeque<String>);

impl RecentCommands {
    pub fn remember(&mut self, name: String) {
        self.0.retain(|other| *other != name);
        self.0.push_front(name);
        self.0.truncate(RECENT_MAX);
    }

    /// The number of commands used more recently; `usize::MAX` if it is not a recent one.
    pub fn age(&self, name: &str) -> usize {
        let position = self.0.iter().position(|recent| recent == name);
        position.unwrap_or(usize::MAX)
    }
}
