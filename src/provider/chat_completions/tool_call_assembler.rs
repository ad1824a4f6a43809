//! Puts the tool calls of a chat-completions stream together from fragments. The
//! id and the name come once, arguments in pieces; servers differ in what they
//! leave out or repeat, and the rules here are about nothing else.

use crate::provider::reply_builder::{CALLS_MAX, read_arguments};
use crate::provider::types::NativeCall;
use serde_json::Value;

/// Calls under way, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Open>);

/// Bytes of arguments taken in, and whether there are too many calls.
pub(super) struct Taken {
    pub bytes: usize,
    pub is_too_many: bool,
}

#[derive(Debug, Default)]
struct Open {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// One entry of `delta.tool_calls`; what is left out is empty.
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
}

impl Calls {
    /// Takes one entry of `delta.tool_calls` in.
    pub fn push(&mut self, entry: &Value) -> Taken {
        let fragment = Fragment::read(entry);
        let at = self.owner(&fragment).unwrap_or_else(|| {
            self.0.push(Open {
                index: fragment.index,
                ..Open::default()
            });
            self.0.len() - 1
        });
        let open = &mut self.0[at];
        if open.id.is_empty() {
            open.id = fragment.id.to_owned();
        }
        if open.name.is_empty() {
            open.name = fragment.name.to_owned();
        }
        open.arguments.push_str(&fragment.arguments);
        Taken {
            bytes: fragment.arguments.len(),
            is_too_many: self.0.len() > CALLS_MAX,
        }
    }

    pub fn finish(self) -> impl Iterator<Item = NativeCall> {
        self.0.into_iter().map(|open| NativeCall {
            id: (!open.id.is_empty()).then_some(open.id),
            name: open.name,
            arguments: read_arguments(&open.arguments),
        })
    }

    /// The call that a fragment goes on with; none where it begins a new one.
    fn owner(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let at = match fragment.index {
            Some(index) => self.0.iter().rposition(|open| open.index == Some(index)),
            None => self
                .0
                .iter()
                .rposition(|open| !fragment.id.is_empty() && open.id == fragment.id)
                .or_else(|| self.0.len().checked_sub(1)),
        }?;
        self.0[at].goes_on_with(fragment).then_some(at)
    }
}

impl Open {
    fn goes_on_with(&self, fragment: &Fragment<'_>) -> bool {
        if !self.id.is_empty() && !fragment.id.is_empty() {
            // Some servers number all their calls 0: a new id with a name is a new
            // call all the same.
            return self.id == fragment.id
                || (fragment.index.is_some() && fragment.name.is_empty());
        }
        if fragment.name.is_empty() || self.name.is_empty() {
            return true;
        }
        // A name that is only repeated belongs to the call, unless that is
        // complete and more arguments come.
        self.name == fragment.name && (fragment.arguments.trim().is_empty() || !self.is_whole())
    }

    fn is_whole(&self) -> bool {
        // The last character first: parsing at every fragment would be quadratic.
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
