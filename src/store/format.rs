//! The JSON of a saved conversation (S9.3): read leniently, since other programs
//! and hands write it too, and written so that nothing unknown in it is lost.

use super::beside;
use super::messages::{MESSAGES, STRING_KEYS, read, without_mark, written};
use crate::domain::{SavedMessage, Session, SessionId};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

/// The conversation in a file, with those of its messages that `keep` keeps.
///
/// # Errors
/// Why it is no conversation.
pub(super) fn session(
    id: &SessionId,
    bytes: &[u8],
    mut keep: impl FnMut(&mut SavedMessage) -> bool,
) -> Result<Session, String> {
    let mut messages = Vec::new();
    let file = read(bytes, |mut message| {
        if keep(&mut message) {
            messages.push(message);
        }
    })?;
    let mut root = file.root;
    let humble = match root.remove("humble") {
        Some(Value::Object(humble)) => humble,
        _ => Map::new(),
    };
    Ok(Session {
        id: Some(id.clone()),
        model: root
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        started_at: root.get("startedAt").and_then(time),
        messages,
        notes: beside::read(&humble),
        humble,
    })
}

/// The first file of a conversation.
pub(super) fn begun(session: &Session) -> Vec<u8> {
    let mut root = Map::new();
    describe(&mut root, session);
    written(&root, &session.messages)
}

/// Why a conversation cannot be written into its file.
#[derive(Debug)]
pub(super) enum Unmerged {
    /// The messages there are not the beginning of those of the session: somebody
    /// else changed them.
    Differs,
    /// It is no conversation any more.
    Broken(String),
}

/// The file of `session`, made from what stands in it now.
pub(super) fn merged(there: &[u8], session: &Session) -> Result<Vec<u8>, Unmerged> {
    let (mut ours, mut same) = (session.messages.iter(), true);
    let mut file =
        read(there, |message| same &= ours.next() == Some(&message)).map_err(Unmerged::Broken)?;
    if !same {
        return Err(Unmerged::Differs);
    }
    if file.is_plain {
        describe(&mut file.root, session);
        return Ok(written(&file.root, &session.messages));
    }
    // Those that are there already stay as they stand, with keys unknown to us.
    let more =
        ours.map(|message| json!({ "role": message.role.name(), "content": message.content }));
    let root = serde_json::from_slice(without_mark(there));
    let mut root: Map<String, Value> = root.map_err(|fault| Unmerged::Broken(fault.to_string()))?;
    if let Some(Value::Array(list)) = root.get_mut(MESSAGES) {
        list.extend(more);
    }
    describe(&mut root, session);
    let mut bytes = serde_json::to_vec_pretty(&root).expect(STRING_KEYS);
    bytes.push(b'\n');
    Ok(bytes)
}

/// Puts in what is said of a conversation besides its messages.
fn describe(root: &mut Map<String, Value>, session: &Session) {
    root.insert("model".to_owned(), json!(session.model));
    if let Some(started) = session.started_at
        && root.get("startedAt").and_then(time) != Some(started)
    {
        root.insert("startedAt".to_owned(), json!(started.to_string()));
    }
    root.entry(MESSAGES).or_insert(Value::Null);
    if !session.humble.is_empty() {
        let ours = root
            .entry("humble")
            .or_insert_with(|| Value::Object(Map::new()));
        match ours {
            Value::Object(ours) => ours.extend(session.humble.clone()),
            other => *other = Value::Object(session.humble.clone()),
        }
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
