//! Preserves messages with extra keys from other programs when a session is rewritten, on
//! whichever branch they are now.

use super::branches::BRANCHES;
use super::message_codec::{MESSAGES, parse_message};
use crate::domain::{SavedMessage, Session};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// The messages of a file as raw JSON.
pub(super) struct FileMessages {
    /// The active branch, including elements that are not messages.
    active: Vec<Value>,
    /// The messages of all other branches.
    other_branches: Vec<Value>,
}

impl FileMessages {
    pub(super) fn from_root(root: &Map<String, Value>) -> Self {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        let branches = root
            .get("humble")
            .and_then(|humble| humble.get(BRANCHES)?.as_array());
        let others = branches.into_iter().flatten();
        Self {
            active: list(root.get(MESSAGES)).unwrap_or_default(),
            other_branches: others
                .filter_map(|branch| list(branch.get("messages")))
                .flatten()
                .collect(),
        }
    }
}

/// Inserts the messages of `session` into `root`. The first `common` messages are already
/// in the file and stay unchanged.
pub(super) fn restore_original_messages(
    root: &mut Map<String, Value>,
    known: FileMessages,
    session: &Session,
    common: usize,
) {
    let mut left = known.active.into_iter();
    let (mut list, mut count) = (Vec::new(), 0);
    while count < common {
        let Some(value) = left.next() else { break };
        count += usize::from(value.is_object());
        list.push(value);
    }
    let with_json = |value: &Value| Some((parse_message(value.clone())?, value.clone()));
    let from = session
        .branches
        .iter()
        .map(|branch| branch.fork_index)
        .min()
        .unwrap_or(common)
        .min(common);
    let objects = list.iter().filter(|value| value.is_object());
    let kept: Vec<(SavedMessage, Value)> = objects.skip(from).filter_map(with_json).collect();
    // Elements that are not messages belong to no branch and stay in the main list.
    let (rest, non_messages): (Vec<Value>, Vec<Value>) = left.partition(Value::is_object);
    list.extend(non_messages);
    let mut pool: VecDeque<(SavedMessage, Value)> = rest
        .into_iter()
        .chain(known.other_branches)
        .filter_map(|value| Some((parse_message(value.clone())?, value)))
        .collect();
    let mut take = |wanted: &SavedMessage| {
        let at = pool.iter().position(|(known, _)| known == wanted);
        at.and_then(|at| pool.remove(at)).map(|(_, value)| value)
    };
    // Undone turns are matched first, because a repeated prompt has no extra keys yet.
    // Unrecognized branches come first in the list and stay unchanged.
    let branches = root
        .get_mut("humble")
        .and_then(|humble| humble.get_mut(BRANCHES)?.as_array_mut())
        .map_or(&mut [][..], Vec::as_mut_slice);
    let unknown = branches.len().saturating_sub(session.branches.len());
    for (entry, branch) in branches[unknown..].iter_mut().zip(&session.branches) {
        let Some(Value::Array(messages)) = entry.get_mut("messages") else {
            continue;
        };
        for (at, (slot, wanted)) in messages.iter_mut().zip(&branch.messages).enumerate() {
            // A repeated prompt occurs in both branches.
            let shared = kept
                .get(branch.fork_index + at - from)
                .filter(|(known, _)| known == wanted);
            let known = shared.map(|(_, value)| value.clone());
            if let Some(value) = known.or_else(|| take(wanted)) {
                *slot = value;
            }
        }
    }
    let to_json =
        |message: &SavedMessage| json!({ "role": message.role.name(), "content": message.content });
    let more = session.messages.iter().skip(common);
    list.extend(more.map(|message| take(message).unwrap_or_else(|| to_json(message))));
    root.insert(MESSAGES.to_owned(), Value::Array(list));
}
