//! The commands that the user ran last, which the palette lists first.

use std::collections::VecDeque;

/// Number of commands that are remembered.
const RECENT_MAX: usize = 5;

/// Names of commands, the latest first.
#[derive(Debug, Clone, Default)]
pub struct RecentCommands(VecDeque<String>);

impl RecentCommands {
    pub fn remember(&mut self, name: String) {
        self.0.retain(|other| *other != name);
        self.0.push_front(name);
        self.0.truncate(RECENT_MAX);
    }

    /// The number of commands used more recently; `usize::MAX` for one that is not remembered.
    pub fn age(&self, name: &str) -> usize {
        let position = self.0.iter().position(|recent| recent == name);
        position.unwrap_or(usize::MAX)
    }
}
