//! A saved conversation. Its JSON is known to `store` alone.

mod metadata;

pub use metadata::{
    CancelledTurn, CompactedRange, Compaction, ConversationSummary, HasMessageIndex,
    SessionMetadata, StoredRecord, StoredRecords, StoredSummary, TurnRecord,
};

use super::SessionId;
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// None until the first answer made a file of it.
    pub id: Option<SessionId>,
    /// The name of the model that was used last.
    pub model: String,
    /// Time of the first prompt.
    pub started_at: Option<Timestamp>,
    /// Prompts and final answers, nothing else (S9.3).
    pub messages: Vec<SavedMessage>,
    pub metadata: SessionMetadata,
    /// The conversation's other branches.
    pub branches: Vec<Branch>,
}

/// What followed the first `at` messages of the active branch before something
/// else did. Its notes keep their indices: they count from the conversation's start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branch {
    pub fork_index: usize,
    pub messages: Vec<SavedMessage>,
    /// The records that belong to it.
    pub turns: StoredRecords<TurnRecord>,
    pub cancelled: StoredRecords<CancelledTurn>,
    /// When it was left.
    pub left_at: Option<Timestamp>,
    /// Keys of other programs and of later versions.
    pub extra: Map<String, Value>,
    /// In the file its messages are a role and a text each, and nothing else.
    pub has_plain_messages: bool,
}

impl Session {
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            id: None,
            model: model.into(),
            started_at: None,
            messages: Vec::new(),
            metadata: SessionMetadata::default(),
            branches: Vec::new(),
        }
    }

    /// The name it goes by: the person's, or else the first prompt's first line. Files in
    /// which every turn was taken back are named after the turn that was left last.
    pub fn title(&self) -> &str {
        let given = self.metadata.title.as_deref();
        given
            .or_else(|| {
                let first = self
                    .messages
                    .iter()
                    .find(|message| message.role == MessageRole::User)?;
                first.content.lines().find(|line| !line.trim().is_empty())
            })
            .or_else(|| self.branches.last().map(Branch::first_prompt_line))
            .unwrap_or_default()
            .trim()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMessage {
    pub role: MessageRole,
    /// Shared, so that a long conversation is held once however many hold it.
    pub content: Arc<str>,
}

impl SavedMessage {
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: MessageRole::User,
            content: content.into(),
        }
    }

    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: MessageRole::Assistant,
            content: content.into(),
        }
    }

    /// Is this an answer that begins with the whole of `other`?
    pub fn continues(&self, other: &Self) -> bool {
        self.role == MessageRole::Assistant
            && other.role == MessageRole::Assistant
            && self.content.starts_with(&*other.content)
    }
}

/// A role as the file has it: one that we do not know is kept, shown, and never
/// sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageRole {
    User,
    Assistant,
    Other(String),
}

impl MessageRole {
    pub fn name(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Other(name) => name,
        }
    }
}

/// One row of the session browser.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    pub title: String,
    pub model: String,
    pub started_at: Option<Timestamp>,
    /// The newest time that the conversation itself knows, such as that of its last
    /// turn, which a copy keeps; the time of the file where it knows none. The order
    /// of the list.
    pub changed_at: Timestamp,
    pub message_count: usize,
    /// Why it cannot be opened, where it cannot.
    pub open_error: Option<String>,
}
