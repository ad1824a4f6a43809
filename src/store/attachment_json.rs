//! The JSON of attachments, in session files and journals. The contents are in files of their own.
//! Entries of unknown shape are not shown, but kept unchanged.

use crate::domain::attachment::{AttachmentContents, AttachmentKind, ImageFormat, is_content_hash};
use crate::domain::session::MessageRole;
use crate::domain::{Attachment, SavedMessage, Session};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const ATTACHMENTS: &str = "attachments";
const MESSAGE: &str = "message";

/// Without the contents.
pub(super) fn to_json(attachment: &Attachment) -> Value {
    let mut entry = json!({ "name": attachment.name });
    if let Some(path) = &attachment.path {
        entry["path"] = path.to_string_lossy().into();
    }
    entry["kind"] = attachment.kind.name().into();
    entry["bytes"] = attachment.bytes.into();
    entry["hash"] = attachment.hash.as_str().into();
    if let AttachmentKind::Image { width, height, .. } = attachment.kind {
        for (key, pixels) in [("width", width), ("height", height)] {
            if let Some(pixels) = pixels {
                entry[key] = pixels.into();
            }
        }
    }
    entry
}

/// The contents have not been read yet. `None` if the shape is unknown.
pub(super) fn from_json(entry: &Value) -> Option<Attachment> {
    let text = |key: &str| entry.get(key)?.as_str();
    let pixels = |key: &str| u32::try_from(entry.get(key)?.as_u64()?).ok();
    let kind = match text("kind")? {
        "text" => AttachmentKind::Text,
        format => AttachmentKind::Image {
            format: ImageFormat::from_name(format)?,
            width: pixels("width"),
            height: pixels("height"),
        },
    };
    Some(Attachment {
        name: text("name")?.to_owned(),
        path: text("path").map(PathBuf::from),
        kind,
        bytes: entry.get("bytes")?.as_u64()?,
        hash: text("hash")
            .filter(|hash| is_content_hash(hash))?
            .to_owned(),
        contents: AttachmentContents::Missing,
    })
}

pub(super) fn list_to_json(attachments: &[Arc<Attachment>]) -> Vec<Value> {
    attachments
        .iter()
        .map(|attachment| to_json(attachment))
        .collect()
}

pub(super) fn list_from_json(entries: &[Value]) -> Vec<Arc<Attachment>> {
    entries.iter().filter_map(from_json).map(Arc::new).collect()
}

/// Moves the recognized attachments from `object` to their prompts. `first_index` is the index in
/// the conversation of the first of `messages`.
pub(super) fn take_attachments(
    object: &mut Map<String, Value>,
    messages: &mut [SavedMessage],
    first_index: usize,
) {
    let Some(Value::Array(entries)) = object.get_mut(ATTACHMENTS) else {
        return;
    };
    entries.retain(|entry| {
        let attached = parse_for_message(entry, messages, first_index);
        attached
            .map(|(message, attachment)| message.attachments.push(Arc::new(attachment)))
            .is_none()
    });
    if entries.is_empty() {
        object.shift_remove(ATTACHMENTS);
    }
}

fn parse_for_message<'a>(
    entry: &Value,
    messages: &'a mut [SavedMessage],
    first_index: usize,
) -> Option<(&'a mut SavedMessage, Attachment)> {
    let index = usize::try_from(entry.get(MESSAGE)?.as_u64()?).ok()?;
    let attachment = from_json(entry)?;
    // An entry with other keys is kept as it is.
    if for_message(index, &attachment) != *entry {
        return None;
    }
    let message = messages.get_mut(index.checked_sub(first_index)?)?;
    (message.role == MessageRole::User).then_some((message, attachment))
}

fn for_message(index: usize, attachment: &Attachment) -> Value {
    let mut entry = json!({ MESSAGE: index });
    if let (Value::Object(entry), Value::Object(fields)) = (&mut entry, to_json(attachment)) {
        entry.extend(fields);
    }
    entry
}

/// Each has the index of its message.
pub(super) fn messages_to_json(messages: &[SavedMessage], first_index: usize) -> Vec<Value> {
    let indexed = messages.iter().zip(first_index..);
    indexed
        .flat_map(|(message, index)| {
            let attachments = message.attachments.iter();
            attachments.map(move |attachment| for_message(index, attachment))
        })
        .collect()
}

/// Inserts the attachments of the active branch after the entries of unknown shape.
pub(super) fn insert_attachments(humble: &mut Map<String, Value>, session: &Session) {
    let mut entries = match session.metadata.extra.get(ATTACHMENTS) {
        Some(Value::Array(unrecognized)) => unrecognized.clone(),
        // A value of another type is not ours to replace.
        Some(_) => return,
        None => Vec::new(),
    };
    entries.extend(messages_to_json(&session.messages, 0));
    match entries.is_empty() {
        true => _ = humble.shift_remove(ATTACHMENTS),
        false => _ = humble.insert(ATTACHMENTS.to_owned(), Value::Array(entries)),
    }
}
