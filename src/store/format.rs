//! The JSON of a saved conversation (S9.3): read leniently, since other programs
//! and hands write it too, and written so that nothing unknown in it is lost.

use super::beside;
use crate::domain::session::Role;
use crate::domain::{SavedMessage, Session, SessionId};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

/// Parses a file.
///
/// # Errors
/// Why it is no conversation.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let root = match serde_json::from_slice(text) {
        Ok(Value::Object(root)) => root,
        Ok(_) => return Err("it holds no JSON object".to_owned()),
        Err(fault) => return Err(format!("it is not valid JSON: {fault}")),
    };
    match root.get("messages") {
        Some(Value::Array(_)) => Ok(root),
        Some(_) => Err("its `messages` are no list".to_owned()),
        None => Err("it has no `messages`".to_owned()),
    }
}

/// The conversation in a parsed file.
pub(super) fn session(id: &SessionId, root: &Map<String, Value>) -> Session {
    let humble = root.get("humble").and_then(Value::as_object);
    Session {
        id: Some(id.clone()),
        model: root
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        started_at: root.get("startedAt").and_then(time),
        messages: messages(root),
        notes: humble.map(beside::read).unwrap_or_default(),
        humble: humble.cloned().unwrap_or_default(),
    }
}

/// The file of `session`, made from what stands in it now.
///
/// # Errors
/// The messages there are not the beginning of those of the session: somebody else
/// changed them.
pub(super) fn merged(
    mut root: Map<String, Value>,
    session: &Session,
) -> Result<Vec<u8>, MessagesDiffer> {
    let there = messages(&root);
    if !session.messages.starts_with(&there) {
        return Err(MessagesDiffer);
    }
    root.insert("model".to_owned(), json!(session.model));
    if let Some(started) = session.started_at
        && root.get("startedAt").and_then(time) != Some(started)
    {
        root.insert("startedAt".to_owned(), json!(started.to_string()));
    }
    // Those that are there already stay as they stand, with keys unknown to us.
    let list = root
        .entry("messages")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list {
        list.extend(
            session.messages[there.len()..]
                .iter()
                .map(|message| json!({ "role": message.role.name(), "content": message.content })),
        );
    }
    if !session.humble.is_empty() {
        let ours = root
            .entry("humble")
            .or_insert_with(|| Value::Object(Map::new()));
        match ours {
            Value::Object(ours) => ours.extend(session.humble.clone()),
            other => *other = Value::Object(session.humble.clone()),
        }
    }
    let mut bytes =
        serde_json::to_vec_pretty(&Value::Object(root)).expect("a JSON value has string keys only");
    bytes.push(b'\n');
    Ok(bytes)
}

#[derive(Debug)]
pub(super) struct MessagesDiffer;

fn messages(root: &Map<String, Value>) -> Vec<SavedMessage> {
    let list = root.get("messages").and_then(Value::as_array);
    let objects = list.into_iter().flatten().filter_map(Value::as_object);
    objects
        .map(|message| SavedMessage {
            role: match message.get("role").and_then(Value::as_str) {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                other => Role::Other(other.unwrap_or_default().to_owned()),
            },
            content: message.get("content").map(text).unwrap_or_default(),
        })
        .collect()
}

/// The text of a `content`: a string, or the text parts of older tools' lists.
fn text(content: &Value) -> String {
    let part = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part.get("text").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    match content {
        Value::Array(parts) => parts.iter().filter_map(part).collect::<Vec<_>>().join("\n"),
        other => part(other).unwrap_or_default(),
    }
}

/// A time as RFC 3339 has it, or without an offset, which is taken as local.
fn time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        let zoned = local.to_zoned(TimeZone::system()).ok()?;
        Some(zoned.timestamp())
    })
}
