//! Collects the token counts of Anthropic's events. Pure.

use crate::domain::{PrefixUsage, Usage};
use serde_json::Value;

/// Several events report counts. Each count replaces an earlier one of the same kind.
#[derive(Debug, Default)]
pub(super) struct TokenCounts {
    input: Option<u64>,
    cache_creation: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
}

impl TokenCounts {
    /// Reads the `usage` of an event.
    pub fn read(&mut self, usage: Option<&Value>) {
        let count = |key: &str| usage?.get(key)?.as_u64();
        self.input = count("input_tokens").or(self.input);
        self.cache_creation = count("cache_creation_input_tokens").or(self.cache_creation);
        self.cache_read = count("cache_read_input_tokens").or(self.cache_read);
        self.output = count("output_tokens").or(self.output);
    }

    /// Tokens written to or read from a cache count as input.
    pub fn usage(&self) -> Usage {
        let input = [self.input, self.cache_creation, self.cache_read];
        let input = input.into_iter().flatten().reduce(u64::saturating_add);
        Usage {
            input,
            output: self.output,
            prefix: PrefixUsage::from_input(input, self.cache_read),
        }
    }
}
