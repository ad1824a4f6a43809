//! A saved conversation. The on-disk shape is `store::format`'s business.

use super::{SessionId, ToolCall, Usage};
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
    /// Everything of ours beside them: title, usage, tool summaries, thinking,
    /// cancelled turns. Unknown keys stay.
    pub humble: Map<String, Value>,
    /// What of it is shown when the conversation is opened.
    pub notes: Notes,
    /// The other ways that the conversation took.
    pub branches: Vec<Branch>,
}

/// What followed the first `at` messages of the active branch before something
/// else did. Its notes keep their indices: they count from the conversation's start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Branch {
    pub at: usize,
    pub messages: Vec<SavedMessage>,
    /// The entries of `humble.turns` and `humble.cancelled` that belong to it.
    pub turns: Vec<Value>,
    pub cancelled: Vec<Value>,
    /// When it was left.
    pub left_at: Option<Timestamp>,
    /// Keys of the entry that are not ours.
    pub other: Map<String, Value>,
    /// In the file its messages are a role and a text each, and nothing else.
    pub is_plain: bool,
}

/// What stands beside the messages of a conversation, as it is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Notes {
    pub turns: Vec<TurnNote>,
    pub cancelled: Vec<CancelledNote>,
}

/// What a turn left besides its prompt and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnNote {
    /// The index of the answer among the messages.
    pub message: usize,
    /// The name of the model that answered.
    pub model: String,
    pub usage: Usage,
    /// Calls and how they ended; their results are not kept.
    pub tools: Vec<ToolCall>,
    pub thinking: String,
    /// When it ended. Files of before do not have it.
    pub at: Option<Timestamp>,
}

/// A turn that ended without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CancelledNote {
    pub at: Timestamp,
    /// How many messages there were.
    pub after: usize,
    pub prompt: String,
    pub words: String,
    /// The program ended in the middle of it; nobody stopped it.
    pub interrupted: bool,
    /// It was to replace the last answered turn.
    pub replaces: bool,
}

impl Session {
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            id: None,
            model: model.into(),
            started_at: None,
            messages: Vec::new(),
            humble: Map::new(),
            notes: Notes::default(),
            branches: Vec::new(),
        }
    }

    /// The name it goes by: the person's, or else the first prompt's first line. Files in
    /// which every turn was taken back are named after the turn that was left last.
    pub fn title(&self) -> &str {
        let given = self.humble.get("title").and_then(Value::as_str);
        given
            .or_else(|| {
                let first = self
                    .messages
                    .iter()
                    .find(|message| message.role == Role::User)?;
                first.content.lines().find(|line| !line.trim().is_empty())
            })
            .or_else(|| self.branches.last().map(Branch::words))
            .unwrap_or_default()
            .trim()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMessage {
    pub role: Role,
    /// Shared, so that a long conversation is held once however many hold it.
    pub content: Arc<str>,
}

impl SavedMessage {
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }

    /// Is this an answer that begins with the whole of `other`?
    pub fn continues(&self, other: &Self) -> bool {
        self.role == Role::Assistant
            && other.role == Role::Assistant
            && self.content.starts_with(&*other.content)
    }
}

/// A role as the file has it: one that we do not know is kept, shown, and never
/// sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    Other(String),
}

impl Role {
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
    pub messages: usize,
    /// Why it cannot be opened, where it cannot.
    pub broken: Option<String>,
}
