//! The JSON of a saved session. Parsing is lenient, because users and other programs edit
//! these files. Writing preserves unknown data.

use super::message_codec::{
    KEYS_ARE_STRINGS, MESSAGES, parse_file, serialize_file, strip_byte_order_mark,
};
use super::{attachment_json, branches, foreign_messages, metadata};
use crate::domain::session::SessionChoices;
use crate::domain::{SavedMessage, Session, SessionId};
use crate::text::surrogates;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keeps only the messages for which `keep` returns true. The error is the reason why the
/// file is not a session.
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
    attachment_json::take_attachments(&mut humble, &mut messages, 0);
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

pub(super) fn serialize_new(session: &Session) -> Vec<u8> {
    let mut root = Map::new();
    insert_header(&mut root, session, &session.metadata.choices());
    serialize_file(&root, &session.messages)
}

#[derive(Debug)]
pub(super) enum MergeError {
    /// The file contains messages or branches that the session does not, or unpaired surrogates:
    /// another program changed it.
    Conflict,
    /// The file is no longer a session.
    Invalid(String),
}

/// The new contents of a session's file.
pub(super) struct Merged {
    pub bytes: Vec<u8>,
    /// The user's choices as the file had them and as it has them now.
    pub former_choices: SessionChoices,
    pub choices: SessionChoices,
}

/// The new contents of the session's file, based on its current contents. The user's choices come from
/// `read` if the session was read from the file, and otherwise replace those in the file.
pub(super) fn merge(
    on_disk: &[u8],
    session: &Session,
    read: Option<&SessionChoices>,
) -> Result<Merged, MergeError> {
    let current_bytes = match surrogates::repair_surrogates(on_disk) {
        Cow::Borrowed(unchanged) => unchanged,
        // Merging would lose the file's unpaired surrogates. A conflict makes the caller save
        // the session to another file.
        Cow::Owned(repaired) => {
            return Err(match parse_file(&repaired, |_| ()) {
                Ok(_) => MergeError::Conflict,
                Err(why) => MergeError::Invalid(why),
            });
        }
    };
    let mut session_messages = session.messages.iter();
    let (mut common, mut rest_of_file) = (0, Vec::new());
    let mut file = parse_file(current_bytes, |message| {
        if rest_of_file.is_empty() && session_messages.next() == Some(&message) {
            common += 1;
        } else {
            rest_of_file.push(message);
        }
    })
    .map_err(MergeError::Invalid)?;
    let file_branches = match file.root.get_mut("humble") {
        Some(Value::Object(humble)) => branches::take_branches(humble, common + rest_of_file.len()),
        _ => Vec::new(),
    };
    if !session.preserves_branches(common, &rest_of_file, &file_branches) {
        return Err(MergeError::Conflict);
    }
    let former_choices = metadata::choices_in(&file.root);
    let ours = session.metadata.choices();
    let choices = match read {
        Some(read) => ours.merged(read, &former_choices),
        None => ours,
    };
    let merged = |bytes| Merged {
        bytes,
        former_choices,
        choices: choices.clone(),
    };
    if file.is_plain && file_branches.iter().all(|branch| branch.has_plain_messages) {
        insert_header(&mut file.root, session, &choices);
        return Ok(merged(serialize_file(&file.root, &session.messages)));
    }
    // Some messages have unknown keys, which must be preserved.
    let mut root: Map<String, Value> = serde_json::from_slice(strip_byte_order_mark(current_bytes))
        .map_err(|error| MergeError::Invalid(error.to_string()))?;
    let file_messages = foreign_messages::FileMessages::from_root(&root);
    insert_header(&mut root, session, &choices);
    foreign_messages::insert_messages_with_extra_keys(&mut root, file_messages, session, common);
    let mut bytes = serde_json::to_vec_pretty(&root).expect(KEYS_ARE_STRINGS);
    bytes.push(b'\n');
    Ok(merged(bytes))
}

/// Inserts all data of `session` except its messages.
fn insert_header(root: &mut Map<String, Value>, session: &Session, choices: &SessionChoices) {
    root.insert("model".to_owned(), json!(session.model));
    if let Some(started_at) = session.started_at {
        let stored = root.get("startedAt").map(parse_time);
        // Preserve an unreadable value, which may belong to another program.
        if stored.is_none_or(|stored| stored.is_some_and(|time| time != started_at)) {
            root.insert("startedAt".to_owned(), json!(started_at.to_string()));
        }
    }
    root.entry(MESSAGES).or_insert(Value::Null);
    let mut metadata_json = Map::new();
    metadata::insert_metadata(&mut metadata_json, &session.metadata, choices);
    let has_lists = matches!(root.get("humble"), Some(Value::Object(humble))
        if humble.contains_key(branches::BRANCHES) || humble.contains_key(attachment_json::ATTACHMENTS));
    let has_attachments = session
        .messages
        .iter()
        .any(|message| !message.attachments.is_empty());
    let needs_humble = !metadata_json.is_empty() || !session.branches.is_empty() || has_attachments;
    if needs_humble || has_lists {
        let humble = root
            .entry("humble")
            .or_insert_with(|| Value::Object(Map::new()));
        if !humble.is_object() {
            *humble = Value::Object(Map::new());
        }
        if let Value::Object(humble) = humble {
            metadata::remove_former_persona(humble, &session.metadata);
            humble.extend(metadata_json);
            attachment_json::insert_attachments(humble, session);
            branches::insert_branches(humble, session);
        }
    }
}

/// Parses an RFC 3339 time. A time without an offset is local time.
fn parse_time(value: &Value) -> Option<Timestamp> {
    let text = value.as_str()?;
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        let zoned = local.to_zoned(TimeZone::system()).ok()?;
        Some(zoned.timestamp())
    })
}
