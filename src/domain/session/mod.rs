//! A saved conversation. Only `store` knows its JSON.

mod metadata;

pub use metadata::{
    CancelledTurn, Compaction, ConversationSummary, HasMessageIndex, SessionChoices,
    SessionMetadata, StoredRecord, StoredRecords, StoredSummary, SummarizedPrefix, TurnRecord,
};

use super::{Attachment, SessionId};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// `None` until the first answer creates the file.
    pub id: Option<SessionId>,
    /// The name of the last model used.
    pub model: String,
    /// The time of the first prompt.
    pub started_at: Option<Timestamp>,
    /// Only prompts and final answers.
    pub messages: Vec<SavedMessage>,
    pub metadata: SessionMetadata,
    /// The conversation's inactive branches.
    pub branches: Vec<Branch>,
}

/// An inactive branch: the messages that follow the first `fork_index` messages of the active
/// branch. Indices in its records count from the start of the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branch {
    pub fork_index: usize,
    pub messages: Vec<SavedMessage>,
    /// The records of its turns.
    pub turns: StoredRecords<TurnRecord>,
    pub cancelled: StoredRecords<CancelledTurn>,
    /// The time at which the user left the branch.
    pub left_at: Option<Timestamp>,
    /// Keys written by other programs or later versions.
    pub extra: Map<String, Value>,
    /// In the file, each message consists of only a role and a text.
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

    /// The title set by the user, or else the first line of a prompt: the first one of the active
    /// branch, the first one of the last branch, or the first one whose answer was stopped.
    pub fn title(&self) -> &str {
        let custom_title = self.metadata.title.as_deref();
        custom_title
            .or_else(|| first_line(self.first_message()?))
            .or_else(|| self.branches.last().map(Branch::first_prompt_line))
            .or_else(|| first_line(self.stopped_prompt()?))
            .unwrap_or_default()
            .trim()
    }

    /// The first answered prompt of the active branch, or else the first one whose answer was stopped.
    pub fn first_prompt(&self) -> &str {
        let first_message = self.first_message();
        let prompt = first_message.or_else(|| self.stopped_prompt());
        prompt.unwrap_or_default()
    }

    /// Whether there is anything worth saving: an answer, even a partial one.
    pub fn has_answer(&self) -> bool {
        let is_answered = !self.messages.is_empty() || !self.branches.is_empty();
        is_answered || self.stopped_prompt().is_some()
    }

    /// Whether the user stopped the last answer and asked nothing since. It can be continued.
    pub fn is_last_answer_stopped(&self) -> bool {
        let count = self.messages.len();
        let mut turns = self.metadata.turns.iter().rev();
        let record = turns.find(|turn| turn.message_index + 1 == count);
        let is_later = |turn: &CancelledTurn| turn.messages_before == count;
        // A failed replacement or continuation leaves the answer in place.
        let mut later = self.metadata.cancelled.iter();
        let was_asked_since = later.any(|turn| is_later(turn) && turn.replaced_turns == 0);
        record.is_some_and(|record| record.is_stopped) && !was_asked_since
    }

    fn first_message(&self) -> Option<&str> {
        let mut messages = self.messages.iter();
        let prompt = messages.find(|message| message.role == MessageRole::User)?;
        Some(&prompt.content)
    }

    /// The first prompt with a partial answer.
    fn stopped_prompt(&self) -> Option<&str> {
        let mut cancelled = self.metadata.cancelled.iter();
        let turn = cancelled.find(|turn| !turn.partial_answer.trim().is_empty())?;
        Some(&turn.prompt)
    }
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty())
}

#[derive(Debug, Clone)]
pub struct SavedMessage {
    pub role: MessageRole,
    /// Reference-counted, so copies of a long conversation share memory.
    pub content: Arc<str>,
    /// The files attached to a prompt.
    pub attachments: Vec<Arc<Attachment>>,
}

/// Only role and content identify a message: other programs that rewrite a session keep them and
/// may drop the rest.
impl PartialEq for SavedMessage {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role && self.content == other.content
    }
}

impl Eq for SavedMessage {}

impl SavedMessage {
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: MessageRole::User,
            content: content.into(),
            attachments: Vec::new(),
        }
    }

    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: MessageRole::Assistant,
            content: content.into(),
            attachments: Vec::new(),
        }
    }

    #[must_use]
    pub fn with_attachments(self, attachments: Vec<Arc<Attachment>>) -> Self {
        Self {
            attachments,
            ..self
        }
    }

    /// Whether both messages are answers and this one starts with the complete `other`.
    pub fn continues(&self, other: &Self) -> bool {
        self.role == MessageRole::Assistant
            && other.role == MessageRole::Assistant
            && self.content.starts_with(&*other.content)
    }
}

/// A role from a file. Unknown roles are kept and shown but never sent.
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

/// A part of a saved conversation, shown before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPreview {
    pub session: SessionId,
    /// Long messages are truncated.
    pub messages: Vec<SavedMessage>,
    /// The number of messages before the first one shown.
    pub skipped: usize,
}

/// Progress of the full-text index of all sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexProgress {
    /// Sessions that a search finds.
    pub indexed: usize,
    pub total: usize,
    /// Deleted sessions that the index still has.
    pub deleted: usize,
    /// Why indexing has stopped.
    pub error: Option<String>,
}

impl IndexProgress {
    pub fn is_complete(&self) -> bool {
        self.indexed >= self.total
    }

    /// Whether the index has exactly the sessions that exist.
    pub fn is_current(&self) -> bool {
        self.is_complete() && self.deleted == 0
    }
}

/// A saved session as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    pub id: SessionId,
    pub title: String,
    pub model: String,
    pub started_at: Option<Timestamp>,
    /// The time of the latest turn, which survives copying the file, or else the file's
    /// modification time. Sessions are listed by this time.
    pub changed_at: Timestamp,
    pub message_count: usize,
    /// Why the session cannot be opened; `None` if it can.
    pub open_error: Option<String>,
}

impl SessionSummary {
    /// The title, or the file name if there is none, as for a broken file.
    pub fn title_or_file_name(&self) -> &str {
        match self.title.trim().is_empty() {
            true => self.id.as_str(),
            false => &self.title,
        }
    }
}
