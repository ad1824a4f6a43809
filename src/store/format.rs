//! The JSON of a saved session. Parsing is lenient, because users and other programs edit
//! these files; unknown data is preserved when writing.

use super::message_codec::{
    KEYS_ARE_STRINGS, MESSAGES, parse_file, serialize_file, strip_byte_order_mark,
};
use super::{branches, foreign_messages, metadata};
use crate::domain::{SavedMessage, Session, SessionId};
use crate::text::surrogates;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Parses a session file, keeping only the messages for which `keep` returns true.
///
/// # Errors
/// Why the file is not a session.
pub(super) fn parse_session(
    id: &SessionId,
    bytes: &[u8],
    mut keep: impl FnMut(&mut SavedMessage) -> bool,
) -> Result<Session, String> {
    let mut messages = Vec::new();
    let bytes = &surrogates::repair_surrogates(bytes)[..];
    let file = parse_file(bytes, |mut message| {
        if keep(&mut message) {
            messages.push(message);
        }
    })?;
    let mut root = file.root;
    let mut humble = match root.remove("humble") {
        Some(Value::Object(humble)) => humble,
        _ => Map::new(),
    };
    let branches = branches::take_branches(&mut humble, messages.len());
    Ok(Session {
        branches,
        id: Some(id.clone()),
        model: root
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        started_at: root.get("startedAt").and_then(parse_time),
        messages,
        metadata: metadata::parse_metadata(humble),
    })
}

/// The contents of a new session file.
pub(super) fn serialize_new(session: &Session) -> Vec<u8> {
    let mut root = Map::new();
    insert_header(&mut root, session);
    serialize_file(&root, &session.messages)
}

/// Why a session cannot be merged into its file.
#[derive(Debug)]
pub(super) enum MergeError {
    /// The file contains something that the session does not: another program changed it.
    Conflict,
    /// The file is no longer a session.
    Invalid(String),
}

/// The new contents of the session's file, based on its current contents.
pub(super) fn merge(on_disk: &[u8], session: &Session) -> Result<Vec<u8>, MergeError> {
    let there = match surrogates::repair_surrogates(on_disk) {
        Cow::Borrowed(there) => there,
        // Merging would lose unpaired surrogates, so the session is saved to another file.
        Cow::Owned(mended) => {
            return Err(match parse_file(&mended, |_| ()) {
                Ok(_) => MergeError::Conflict,
                Err(why) => MergeError::Invalid(why),
            });
        }
    };
    let (mut ours, mut common, mut rest) = (session.messages.iter(), 0, Vec::new());
    let mut file = parse_file(there, |message| {
        if rest.is_empty() && ours.next() == Some(&message) {
            common += 1;
        } else {
            rest.push(message);
        }
    })
    .map_err(MergeError::Invalid)?;
    let others = match file.root.get_mut("humble") {
        Some(Value::Object(humble)) => branches::take_branches(humble, common + rest.len()),
        _ => Vec::new(),
    };
    if !session.preserves_branches(common, &rest, &others) {
        return Err(MergeError::Conflict);
    }
    if file.is_plain && others.iter().all(|branch| branch.has_plain_messages) {
        insert_header(&mut file.root, session);
        return Ok(serialize_file(&file.root, &session.messages));
    }
    // Preserve messages with unknown keys.
    let mut root: Map<String, Value> = serde_json::from_slice(strip_byte_order_mark(there))
        .map_err(|fault| MergeError::Invalid(fault.to_string()))?;
    let known = foreign_messages::FileMessages::from_root(&root);
    insert_header(&mut root, session);
    foreign_messages::insert_messages_with_extra_keys(&mut root, known, session, common);
    let mut bytes = serde_json::to_vec_pretty(&root).expect(KEYS_ARE_STRINGS);
    bytes.push(b'\n');
    Ok(bytes)
}

/// Inserts everything except the messages.
fn insert_header(root: &mut Map<String, Value>, session: &Session) {
    root.insert("model".to_owned(), json!(session.model));
    if let Some(started) = session.started_at {
        let known = root.get("startedAt").map(parse_time);
        // Preserve an unreadable value, which may belong to another program.
        if known.is_none_or(|known| known.is_some_and(|known| known != started)) {
            root.insert("startedAt".to_owned(), json!(started.to_string()));
        }
    }
    root.entry(MESSAGES).or_insert(Value::Null);
    let mut ours = Map::new();
    metadata::insert_metadata(&mut ours, &session.metadata);
    let has_branches = matches!(root.get("humble"), Some(Value::Object(humble)) if humble.contains_key(branches::BRANCHES));
    if !ours.is_empty() || !session.branches.is_empty() || has_branches {
        let slot = root
            .entry("humble")
            .or_insert_with(|| Value::Object(Map::new()));
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        if let Value::Object(there) = slot {
            there.extend(ours);
            branches::insert_branches(there, session);
        }
    }
}

/// Parses RFC 3339, or a time without an offset as local time.
fn parse_time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        let zoned = local.to_zoned(TimeZone::system()).ok()?;
        Some(zoned.timestamp())
    })
}
