//! Which runs of backticks are not closed in the rest of a text. Keeps the search for their ends
//! linear, however many lengths of runs there are.

use std::collections::{HashMap, HashSet};

/// Runs up to this length are searched for once per length; of longer ones, the last positions are
/// collected.
const SHORT_RUN_MAX: usize = 7;

#[derive(Debug, Default)]
pub struct UnclosedBackticks {
    short: [bool; SHORT_RUN_MAX],
    long: HashSet<usize>,
    /// The start of the last run of each longer length.
    last_long_runs: Option<HashMap<usize, usize>>,
}

impl UnclosedBackticks {
    /// Whether a run of `length` backticks that ends at `end` is known to be unclosed.
    pub fn contains(&mut self, text: &str, length: usize, end: usize) -> bool {
        if let Some(is_unclosed) = self.short.get(length.wrapping_sub(1)) {
            return *is_unclosed;
        }
        let last = self
            .last_long_runs
            .get_or_insert_with(|| last_long_runs(text));
        last.get(&length).is_none_or(|start| *start < end)
    }

    /// Records that nothing closes a run of this length. Later runs of this length are unclosed too.
    /// Returns whether it is the first unclosed one of this length.
    pub fn insert(&mut self, length: usize) -> bool {
        match self.short.get_mut(length.wrapping_sub(1)) {
            Some(is_unclosed) => !std::mem::replace(is_unclosed, true),
            None => self.long.insert(length),
        }
    }
}

fn last_long_runs(text: &str) -> HashMap<usize, usize> {
    let mut last = HashMap::new();
    let mut length = 0;
    for (position, byte) in text.bytes().chain([0]).enumerate() {
        if byte == b'`' {
            length += 1;
            continue;
        }
        if length > SHORT_RUN_MAX {
            last.insert(length, position - length);
        }
        length = 0;
    }
    last
}
