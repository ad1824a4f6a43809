//! Assembles tool calls from stream fragments. Usually, id and name arrive once and the arguments
//! in several fragments, but some servers omit or repeat fields; this module handles that.

use crate::provider::reply_builder::{CALLS_MAX, read_arguments};
use crate::provider::types::NativeCall;
use serde_json::Value;

/// Incomplete calls, in the order they began.
#[derive(Debug, Default)]
pub(super) struct ToolCallAssembler(Vec<PartialCall>);

/// The effect of one fragment on the size limits.
pub(super) struct FragmentSize {
    /// The length of the added arguments.
    pub bytes: usize,
    /// Whether there are now more than [`CALLS_MAX`] calls.
    pub exceeds_calls_max: bool,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// One entry of `delta.tool_calls`; missing fields are empty.
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
}

impl ToolCallAssembler {
    pub fn push(&mut self, entry: &Value) -> FragmentSize {
        let fragment = Fragment::read(entry);
        let index = self.continued_call(&fragment).unwrap_or_else(|| {
            self.0.push(PartialCall {
                index: fragment.index,
                ..PartialCall::default()
            });
            self.0.len() - 1
        });
        let call = &mut self.0[index];
        if call.id.is_empty() {
            call.id = fragment.id.to_owned();
        }
        if call.name.is_empty() {
            call.name = fragment.name.to_owned();
        }
        call.arguments.push_str(&fragment.arguments);
        FragmentSize {
            bytes: fragment.arguments.len(),
            exceeds_calls_max: self.0.len() > CALLS_MAX,
        }
    }

    pub fn finish(self) -> impl Iterator<Item = NativeCall> {
        self.0.into_iter().map(|call| NativeCall {
            id: (!call.id.is_empty()).then_some(call.id),
            name: call.name,
            arguments: read_arguments(&call.arguments),
            raw_arguments: call.arguments,
        })
    }

    /// `None` if the fragment begins a new call. A known id decides; a server may count fragments
    /// instead of calls, or leave out the index of some. A fragment without id, name and known index
    /// belongs to the latest call.
    fn continued_call(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let with_id = || {
            let is_same = |call: &PartialCall| call.has_same_id(fragment);
            self.0.iter().rposition(is_same)
        };
        let with_index = || {
            let index = fragment.index?;
            self.0.iter().rposition(|call| call.index == Some(index))
        };
        let is_bare = fragment.id.is_empty() && fragment.name.is_empty();
        let latest = || {
            let may_continue = is_bare || fragment.index.is_none();
            self.0.len().checked_sub(1).filter(|_| may_continue)
        };
        let position = with_id().or_else(with_index).or_else(latest)?;
        let call = &self.0[position];
        call.is_continued_by(fragment).then_some(position)
    }
}

impl PartialCall {
    fn has_same_id(&self, fragment: &Fragment<'_>) -> bool {
        !fragment.id.is_empty() && self.id == fragment.id
    }

    fn is_continued_by(&self, fragment: &Fragment<'_>) -> bool {
        if self.has_same_id(fragment) {
            // Some servers give every call the same id, but an index of its own.
            let has_other_index =
                self.index.is_some() && fragment.index.is_some() && self.index != fragment.index;
            return !has_other_index || self.is_named_like(fragment);
        }
        if !self.id.is_empty() && !fragment.id.is_empty() {
            // Some servers give every call index 0. A new id with a name still begins a new call.
            return fragment.index.is_some() && fragment.name.is_empty();
        }
        self.is_named_like(fragment)
    }

    /// A repeated name continues the call, unless the call is complete and more arguments follow.
    fn is_named_like(&self, fragment: &Fragment<'_>) -> bool {
        fragment.name.is_empty()
            || self.name.is_empty()
            || (self.name == fragment.name
                && (fragment.arguments.trim().is_empty() || !self.is_complete()))
    }

    fn is_complete(&self) -> bool {
        // Checks the last character first: parsing every fragment would be quadratic.
        self.arguments.trim_end().ends_with('}') && read_arguments(&self.arguments).is_ok()
    }
}

impl<'a> Fragment<'a> {
    fn read(entry: &'a Value) -> Self {
        let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str);
        let arguments = match entry.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        Self {
            index: entry.get("index").and_then(Value::as_u64),
            id: text("/id").unwrap_or_default(),
            name: text("/function/name").unwrap_or_default(),
            arguments,
        }
    }
}
