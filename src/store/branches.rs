//! The shape of the other branches of a conversation, under `humble.branches`. An
//! entry that is not understood stays where it is, and is neither shown nor written
//! anew.

use super::messages::{is_plain, message};
use crate::domain::{Branch, SavedMessage, Session};
use serde_json::{Map, Value, json};

pub(super) const BRANCHES: &str = "branches";
const OURS: [&str; 5] = ["at", "messages", "turns", "cancelled", "left"];

/// Takes the branches out of `humble` that make sense behind so many messages.
pub(super) fn read(humble: &mut Map<String, Value>, messages: usize) -> Vec<Branch> {
    let Some(Value::Array(entries)) = humble.get_mut(BRANCHES) else {
        return Vec::new();
    };
    let mut branches = Vec::new();
    entries.retain_mut(|entry| match branch(entry, messages) {
        Some(branch) => {
            branches.push(branch);
            false
        }
        None => true,
    });
    if entries.is_empty() {
        humble.shift_remove(BRANCHES);
    }
    branches
}

fn branch(entry: &mut Value, messages_max: usize) -> Option<Branch> {
    let at = usize::try_from(entry.get("at")?.as_u64()?).ok()?;
    let all_objects = |list: &[Value]| list.iter().all(Value::is_object);
    let said = entry.get("messages")?.as_array()?;
    if at > messages_max || said.is_empty() || !all_objects(said) {
        return None;
    }
    let plain = said.iter().all(is_plain);
    let Value::Object(mut entry) = entry.take() else {
        return None;
    };
    let mut list = |key: &str| match entry.get_mut(key).map(Value::take) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let messages: Vec<SavedMessage> = list("messages").into_iter().filter_map(message).collect();
    let (turns, cancelled) = (list("turns"), list("cancelled"));
    let left_at = entry.get("left").and_then(Value::as_str);
    let left_at = left_at.and_then(|left| left.parse().ok());
    entry.retain(|key, _| !OURS.contains(&key.as_str()));
    Some(Branch {
        at,
        messages,
        turns,
        cancelled,
        left_at,
        other: entry,
        is_plain: plain,
    })
}

/// Puts the branches of `session` in, behind those that nobody here understands.
pub(super) fn write(humble: &mut Map<String, Value>, session: &Session) {
    let mut entries = match session.humble.get(BRANCHES) {
        Some(Value::Array(unknown)) => unknown.clone(),
        Some(other) => vec![other.clone()],
        None => Vec::new(),
    };
    if session.branches.is_empty() {
        if entries.is_empty() {
            humble.shift_remove(BRANCHES);
        }
        return;
    }
    entries.extend(session.branches.iter().map(entry));
    humble.insert(BRANCHES.to_owned(), Value::Array(entries));
}

fn entry(branch: &Branch) -> Value {
    let message = |one: &SavedMessage| json!({ "role": one.role.name(), "content": one.content });
    let messages: Vec<Value> = branch.messages.iter().map(message).collect();
    let mut entry = json!({ "at": branch.at, "messages": messages });
    for (key, notes) in [("turns", &branch.turns), ("cancelled", &branch.cancelled)] {
        if !notes.is_empty() {
            entry[key] = Value::Array(notes.clone());
        }
    }
    if let Some(left) = branch.left_at {
        entry["left"] = left.to_string().into();
    }
    if let Value::Object(entry) = &mut entry {
        entry.extend(branch.other.clone());
    }
    entry
}
