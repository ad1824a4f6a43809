//! Reads and writes the messages of a session file one at a time, so a long conversation
//! never exists twice in memory. Other programs write such files too, so parsing accepts
//! messages of any shape.

use crate::domain::SavedMessage;
use crate::domain::session::MessageRole;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use std::fmt;

pub(super) const MESSAGES: &str = "messages";
/// Why serializing a session cannot fail.
pub(super) const KEYS_ARE_STRINGS: &str = "every key of a session is a string";

/// A session file without its messages.
pub(super) struct ParsedSessionFile {
    /// All keys in file order, with null in place of the messages.
    pub root: Map<String, Value>,
    /// Every message consists of exactly a role and a text, in this order, as this program writes
    /// them.
    pub is_plain: bool,
}

/// Some editors add one.
pub(super) fn strip_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// The error is the reason why the file is not a session. `on_message` may already have
/// received some messages.
pub(super) fn parse_file(
    bytes: &[u8],
    on_message: impl FnMut(SavedMessage),
) -> Result<ParsedSessionFile, String> {
    let text = strip_byte_order_mark(bytes);
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut state = MessageReadState {
        on_message,
        messages_key_count: 0,
        is_list: true,
        is_plain: true,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let root = deserializer.deserialize_any(SessionFileVisitor(&mut state));
    let root = root
        .and_then(|root| deserializer.end().map(|()| root))
        .map_err(|error| match error.is_data() {
            true => "it is not a JSON object".to_owned(),
            false => format!("it is not valid JSON: {error}"),
        })?;
    match state {
        MessageReadState { is_list: false, .. } => Err("its `messages` is not a list".to_owned()),
        MessageReadState {
            messages_key_count: 0,
            ..
        } => Err("it has no `messages`".to_owned()),
        MessageReadState {
            messages_key_count: 2..,
            ..
        } => Err("it has two `messages` keys".to_owned()),
        MessageReadState { is_plain, .. } => Ok(ParsedSessionFile { root, is_plain }),
    }
}

struct MessageReadState<F> {
    on_message: F,
    messages_key_count: usize,
    is_list: bool,
    is_plain: bool,
}

struct SessionFileVisitor<'a, F>(&'a mut MessageReadState<F>);

impl<'de, F: FnMut(SavedMessage)> Visitor<'de> for SessionFileVisitor<'_, F> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut root = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == MESSAGES {
                entries.next_value_seed(MessageListVisitor(self.0))?;
                root.insert(key, Value::Null);
            } else {
                root.insert(key, entries.next_value()?);
            }
        }
        Ok(root)
    }
}

/// Reads the value of `messages`, which is not necessarily a list.
struct MessageListVisitor<'a, F>(&'a mut MessageReadState<F>);

impl<'de, F: FnMut(SavedMessage)> DeserializeSeed<'de> for MessageListVisitor<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.messages_key_count += 1;
        deserializer.deserialize_any(self)
    }
}

impl<F> MessageListVisitor<'_, F> {
    fn mark_as_not_a_list<E>(self) -> Result<(), E> {
        self.0.is_list = false;
        Ok(())
    }
}

impl<'de, F: FnMut(SavedMessage)> Visitor<'de> for MessageListVisitor<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            self.0.is_plain &= is_plain_message(&value);
            if let Some(message) = parse_message(value) {
                (self.0.on_message)(message);
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.mark_as_not_a_list()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.mark_as_not_a_list()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.mark_as_not_a_list()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.mark_as_not_a_list()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.mark_as_not_a_list()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.mark_as_not_a_list()
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.mark_as_not_a_list()
    }
}

/// Whether the message consists of exactly a role and a text, in this order.
pub(super) fn is_plain_message(message: &Value) -> bool {
    let Value::Object(message) = message else {
        return false;
    };
    let mut entries = message.iter();
    let mut next_is_text = |wanted_key: &str| {
        let entry = entries.next();
        entry.is_some_and(|(key, value)| key == wanted_key && value.is_string())
    };
    next_is_text("role") && next_is_text("content") && message.len() == 2
}

/// `None` if it is not an object.
pub(super) fn parse_message(value: Value) -> Option<SavedMessage> {
    let Value::Object(mut message) = value else {
        return None;
    };
    let role = match message.get("role").and_then(Value::as_str) {
        Some("user") => MessageRole::User,
        Some("assistant") => MessageRole::Assistant,
        other => MessageRole::Other(other.unwrap_or_default().to_owned()),
    };
    let content = match message.get_mut("content") {
        Some(Value::String(text)) => std::mem::take(text),
        Some(content) => content_text(content),
        None => String::new(),
    };
    let content = content.into();
    Some(SavedMessage {
        role,
        content,
        attachments: Vec::new(),
    })
}

/// The text of `content`: a string, or the text parts of a list.
fn content_text(content: &Value) -> String {
    let part_text = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part.get("text").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    match content {
        Value::Array(parts) => parts
            .iter()
            .filter_map(part_text)
            .collect::<Vec<_>>()
            .join("\n"),
        other => part_text(other).unwrap_or_default(),
    }
}

pub(super) fn serialize_file(root: &Map<String, Value>, messages: &[SavedMessage]) -> Vec<u8> {
    let approximate_sizes = messages.iter().map(|message| message.content.len() + 64);
    let mut bytes = Vec::with_capacity(approximate_sizes.sum::<usize>() * 9 / 8 + 4_096);
    serde_json::to_writer_pretty(&mut bytes, &SessionFileJson { root, messages })
        .expect(KEYS_ARE_STRINGS);
    bytes.push(b'\n');
    bytes
}

struct SessionFileJson<'a> {
    root: &'a Map<String, Value>,
    messages: &'a [SavedMessage],
}

impl Serialize for SessionFileJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.root.len()))?;
        for (key, value) in self.root {
            if key == MESSAGES {
                map.serialize_key(key)?;
                map.serialize_value(&MessagesJson(self.messages))?;
            } else {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

struct MessagesJson<'a>(&'a [SavedMessage]);

impl Serialize for MessagesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(MessageJson))
    }
}

struct MessageJson<'a>(&'a SavedMessage);

impl Serialize for MessageJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", self.0.role.name())?;
        map.serialize_entry("content", &*self.0.content)?;
        map.end()
    }
}
