//! Messages with keys of their own, from other programs: where a conversation is
//! written anew, each stays as it stood, in whichever branch it stands now.

use super::branches::BRANCHES;
use super::messages::{MESSAGES, message};
use crate::domain::{SavedMessage, Session};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// What stands in a file, message by message.
pub(super) struct Known {
    /// The active branch; also what is no message.
    active: Vec<Value>,
    /// Those of the other branches.
    others: Vec<Value>,
}

impl Known {
    pub(super) fn of(root: &Map<String, Value>) -> Self {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned();
        let branches = root
            .get("humble")
            .and_then(|humble| humble.get(BRANCHES)?.as_array());
        let others = branches.into_iter().flatten();
        Self {
            active: list(root.get(MESSAGES)).unwrap_or_default(),
            others: others
                .filter_map(|branch| list(branch.get("messages")))
                .flatten()
                .collect(),
        }
    }
}

/// Puts the messages of `session` into `root`, of which the first `common` stand in
/// the file as they are.
pub(super) fn restore(
    root: &mut Map<String, Value>,
    known: Known,
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
    // What is no message belongs to no branch: it stays in the list.
    let (rest, strange): (Vec<Value>, Vec<Value>) = left.partition(Value::is_object);
    list.extend(strange);
    let mut pool: VecDeque<(SavedMessage, Value)> = rest
        .into_iter()
        .chain(known.others)
        .filter_map(|value| Some((message(value.clone())?, value)))
        .collect();
    let mut take = |wanted: &SavedMessage| {
        let at = pool.iter().position(|(one, _)| one == wanted);
        at.and_then(|at| pool.remove(at)).map(|(_, value)| value)
    };
    for message in session.messages.iter().skip(common) {
        list.push(
            take(message).unwrap_or_else(
                || json!({ "role": message.role.name(), "content": message.content }),
            ),
        );
    }
    root.insert(MESSAGES.to_owned(), Value::Array(list));
    let branches = root
        .get_mut("humble")
        .and_then(|humble| humble.get_mut(BRANCHES)?.as_array_mut());
    // Those that nobody understood stand first and were not touched.
    let Some(branches) = branches else { return };
    let unknown = branches.len().saturating_sub(session.branches.len());
    for (entry, branch) in branches[unknown..].iter_mut().zip(&session.branches) {
        let Some(Value::Array(messages)) = entry.get_mut("messages") else {
            continue;
        };
        for (slot, wanted) in messages.iter_mut().zip(&branch.messages) {
            if let Some(value) = take(wanted) {
                *slot = value;
            }
        }
    }
}
