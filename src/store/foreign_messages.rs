//! Messages with keys of their own, from other programs: where a conversation is
//! written anew, each stays as it stood, in whichever branch it stands now.

use super::branches::BRANCHES;
use super::message_codec::{MESSAGES, parse_message};
use crate::domain::{SavedMessage, Session};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// What stands in a file, message by message.
pub(super) struct FileMessages {
    /// The active branch; also what is no message.
    active: Vec<Value>,
    /// Those of the other branches.
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

/// Puts the messages of `session` into `root`, of which the first `common` stand in
/// the file as they are.
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
    let of = |value: &Value| Some((parse_message(value.clone())?, value.clone()));
    let from = session
        .branches
        .iter()
        .map(|branch| branch.fork_index)
        .min()
        .unwrap_or(common)
        .min(common);
    let objects = list.iter().filter(|value| value.is_object());
    let kept: Vec<(SavedMessage, Value)> = objects.skip(from).filter_map(of).collect();
    // What is no message belongs to no branch: it stays in the list.
    let (rest, strange): (Vec<Value>, Vec<Value>) = left.partition(Value::is_object);
    list.extend(strange);
    let mut pool: VecDeque<(SavedMessage, Value)> = rest
        .into_iter()
        .chain(known.other_branches)
        .filter_map(|value| Some((parse_message(value.clone())?, value)))
        .collect();
    let mut take = |wanted: &SavedMessage| {
        let at = pool.iter().position(|(one, _)| one == wanted);
        at.and_then(|at| pool.remove(at)).map(|(_, value)| value)
    };
    // A turn that was taken back goes first: what was asked anew in the same words has
    // no keys yet. Branches that nobody understood stand in front, untouched.
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
            // A prompt that was asked again stands in both branches.
            let shared = kept
                .get(branch.fork_index + at - from)
                .filter(|(one, _)| one == wanted);
            let known = shared.map(|(_, value)| value.clone());
            if let Some(value) = known.or_else(|| take(wanted)) {
                *slot = value;
            }
        }
    }
    let plain = |one: &SavedMessage| json!({ "role": one.role.name(), "content": one.content });
    let more = session.messages.iter().skip(common);
    list.extend(more.map(|message| take(message).unwrap_or_else(|| plain(message))));
    root.insert(MESSAGES.to_owned(), Value::Array(list));
}
