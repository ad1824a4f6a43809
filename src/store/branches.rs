//! The JSON of a session's inactive branches, under `humble.branches`. Unrecognized entries
//! are not shown, but kept unchanged.

use super::message_codec::{is_plain_message, parse_message};
use super::{attachment_json, metadata};
use crate::domain::{Branch, SavedMessage, Session};
use serde_json::{Map, Value, json};

pub(super) const BRANCHES: &str = "branches";
const LEFT_AT: &str = "left";

/// Removes the valid branches from `humble` and parses them. `message_count` is the length of
/// the active branch, within which they must fork.
pub(super) fn take_branches(humble: &mut Map<String, Value>, message_count: usize) -> Vec<Branch> {
    let Some(Value::Array(entries)) = humble.get_mut(BRANCHES) else {
        return Vec::new();
    };
    let mut branches = Vec::new();
    entries.retain_mut(|entry| match parse_branch(entry, message_count) {
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

fn parse_branch(entry: &mut Value, fork_index_max: usize) -> Option<Branch> {
    let fork_index = usize::try_from(entry.get("at")?.as_u64()?).ok()?;
    let messages = entry.get("messages")?.as_array()?;
    if fork_index > fork_index_max || messages.is_empty() || !messages.iter().all(Value::is_object)
    {
        return None;
    }
    let has_plain_messages = messages.iter().all(is_plain_message);
    let Value::Object(mut entry) = entry.take() else {
        return None;
    };
    entry.shift_remove("at");
    let mut messages: Vec<SavedMessage> = take_list(&mut entry, "messages")
        .into_iter()
        .filter_map(parse_message)
        .collect();
    attachment_json::take_attachments(&mut entry, &mut messages, fork_index);
    let turns = metadata::take_turns(&mut entry);
    let cancelled = metadata::take_cancelled_turns(&mut entry);
    let left_at = entry
        .get(LEFT_AT)
        .and_then(Value::as_str)
        .and_then(|time| time.parse().ok());
    if left_at.is_some() {
        entry.shift_remove(LEFT_AT);
    }
    // The remaining keys are unknown, or their values have an unknown shape.
    Some(Branch {
        fork_index,
        messages,
        turns,
        cancelled,
        left_at,
        extra: entry,
        has_plain_messages,
    })
}

/// A value of a different type stays in `entry`.
fn take_list(entry: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match entry.get_mut(key) {
        Some(Value::Array(list)) => {
            let list = std::mem::take(list);
            entry.shift_remove(key);
            list
        }
        _ => Vec::new(),
    }
}

/// Inserts the branches of `session` after the unrecognized ones.
pub(super) fn insert_branches(humble: &mut Map<String, Value>, session: &Session) {
    let mut entries = match session.metadata.extra.get(BRANCHES) {
        Some(Value::Array(unrecognized)) => unrecognized.clone(),
        Some(value) => vec![value.clone()],
        None => Vec::new(),
    };
    if session.branches.is_empty() {
        if entries.is_empty() {
            humble.shift_remove(BRANCHES);
        }
        return;
    }
    entries.extend(session.branches.iter().map(branch_to_json));
    humble.insert(BRANCHES.to_owned(), Value::Array(entries));
}

fn branch_to_json(branch: &Branch) -> Value {
    let to_json =
        |message: &SavedMessage| json!({ "role": message.role.name(), "content": message.content });
    let messages: Vec<Value> = branch.messages.iter().map(to_json).collect();
    let mut entry = json!({ "at": branch.fork_index, "messages": messages });
    let turns = metadata::turns_to_json(&branch.turns);
    let cancelled = metadata::cancelled_turns_to_json(&branch.cancelled);
    for (key, records) in [(metadata::TURNS, turns), (metadata::CANCELLED, cancelled)] {
        let is_empty = |records: &Value| records.as_array().is_some_and(Vec::is_empty);
        if let Some(records) = records.filter(|records| !is_empty(records)) {
            entry[key] = records;
        }
    }
    if let Some(left_at) = branch.left_at {
        entry[LEFT_AT] = left_at.to_string().into();
    }
    let attachments = attachment_json::messages_to_json(&branch.messages, branch.fork_index);
    if let Value::Object(entry) = &mut entry {
        entry.extend(branch.extra.clone());
        if !attachments.is_empty()
            && let Value::Array(list) = entry
                .entry(attachment_json::ATTACHMENTS)
                .or_insert_with(|| Value::Array(Vec::new()))
        {
            list.extend(attachments);
        }
    }
    entry
}
