//! Preserves keys that other programs added to messages: when a session is rewritten, each
//! message keeps its original JSON, even if it has moved to another branch.

use super::branches::BRANCHES;
use super::message_codec::{MESSAGES, parse_message};
use crate::domain::{SavedMessage, Session};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// The messages of a session file as raw JSON.
pub(super) struct FileMessages {
    /// The active branch, including elements that are not messages.
    active: Vec<Value>,
    /// The messages of all other branches, in file order.
    other_branches: Vec<Value>,
}

impl FileMessages {
    pub(super) fn from_root(root: &Map<String, Value>) -> Self {
        let cloned_list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        let branches = root
            .get("humble")
            .and_then(|humble| humble.get(BRANCHES)?.as_array());
        let other_branches = branches.into_iter().flatten();
        Self {
            active: cloned_list(root.get(MESSAGES)).unwrap_or_default(),
            other_branches: other_branches
                .filter_map(|branch| cloned_list(branch.get("messages")))
                .flatten()
                .collect(),
        }
    }
}

/// Inserts the messages of `session` into `root`, reusing the JSON of messages that the file
/// already contains. The first `common` messages of the active branch are the same in the file
/// and in `session`.
pub(super) fn insert_messages_with_extra_keys(
    root: &mut Map<String, Value>,
    file: FileMessages,
    session: &Session,
    common: usize,
) {
    let mut remaining = file.active.into_iter();
    let (mut output, mut message_count) = (Vec::new(), 0);
    while message_count < common {
        let Some(value) = remaining.next() else { break };
        message_count += usize::from(value.is_object());
        output.push(value);
    }
    let to_pair = |value: &Value| Some((parse_message(value.clone())?, value.clone()));
    let first_fork = session
        .branches
        .iter()
        .map(|branch| branch.fork_index)
        .min()
        .unwrap_or(common)
        .min(common);
    let objects = output.iter().filter(|value| value.is_object());
    let common_after_fork: Vec<(SavedMessage, Value)> =
        objects.skip(first_fork).filter_map(to_pair).collect();
    // Elements that are not messages belong to no branch and stay in the main list.
    let (rest, non_messages): (Vec<Value>, Vec<Value>) = remaining.partition(Value::is_object);
    output.extend(non_messages);
    let mut unclaimed: VecDeque<(SavedMessage, Value)> = rest
        .into_iter()
        .chain(file.other_branches)
        .filter_map(|value| Some((parse_message(value.clone())?, value)))
        .collect();
    let mut claim = |wanted: &SavedMessage| {
        let index = unclaimed.iter().position(|(message, _)| message == wanted);
        index
            .and_then(|index| unclaimed.remove(index))
            .map(|(_, value)| value)
    };
    // Other branches claim their JSON before the active one: if a prompt was undone and then
    // repeated, only the undone turn has extra keys. Unrecognized branches come first in the
    // list and stay unchanged.
    let branches = root
        .get_mut("humble")
        .and_then(|humble| humble.get_mut(BRANCHES)?.as_array_mut())
        .map_or(&mut [][..], Vec::as_mut_slice);
    let unrecognized_count = branches.len().saturating_sub(session.branches.len());
    let recognized = &mut branches[unrecognized_count..];
    for (entry, branch) in recognized.iter_mut().zip(&session.branches) {
        let Some(Value::Array(messages)) = entry.get_mut("messages") else {
            continue;
        };
        for (index, (slot, wanted)) in messages.iter_mut().zip(&branch.messages).enumerate() {
            // If the active branch has the same message at this index, its JSON is reused.
            let shared_message = common_after_fork
                .get(branch.fork_index + index - first_fork)
                .filter(|(message, _)| message == wanted);
            let original = shared_message.map(|(_, value)| value.clone());
            if let Some(value) = original.or_else(|| claim(wanted)) {
                *slot = value;
            }
        }
    }
    let to_json =
        |message: &SavedMessage| json!({ "role": message.role.name(), "content": message.content });
    let new_messages = session.messages.iter().skip(common);
    output.extend(new_messages.map(|message| claim(message).unwrap_or_else(|| to_json(message))));
    root.insert(MESSAGES.to_owned(), Value::Array(output));
}
