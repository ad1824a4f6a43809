//! The calls of the running turn that servers are working on.

use super::Transcript;
use crate::domain::{EntryBody, ToolCall, ToolState};

impl Transcript {
    /// The running calls in order. Entries before the running turn have settled.
    pub fn running_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let open = &self.entries[self.settled_len().min(self.entries.len())..];
        open.iter().filter_map(|entry| match &entry.body {
            EntryBody::Tool(call) if matches!(call.state, ToolState::Running { .. }) => {
                Some(&**call)
            }
            _ => None,
        })
    }
}
