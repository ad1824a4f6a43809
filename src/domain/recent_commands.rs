//! The commands that the user ran most recently, which the palette lists first.

use std::collections::VecDeque;

const RECENT_MAX: usize = 5;
/// Longer names, which only a damaged file has, are ignored.
const NAME_BYTES_MAX: usize = 256;

/// Names of commands, most recent first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentCommands(VecDeque<String>);

impl RecentCommands {
    pub fn remember(&mut self, name: String) {
        self.0.retain(|other| *other != name);
        self.0.push_front(name);
        self.0.truncate(RECENT_MAX);
    }

    /// Adds names that were used before all others, most recent first.
    pub fn add_earlier(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            let is_usable = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
            if self.0.len() < RECENT_MAX && is_usable && !self.0.contains(&name) {
                self.0.push_back(name);
            }
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The number of commands used more recently; `usize::MAX` if it is not a recent one.
    pub fn age(&self, name: &str) -> usize {
        let position = self.0.iter().position(|recent| recent == name);
        position.unwrap_or(usize::MAX)
    }
}
