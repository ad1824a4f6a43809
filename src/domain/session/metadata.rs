//! Session data other than messages. Values unknown to this version are kept as opaque JSON
//! next to the typed fields, so saving never loses them. Only `store` reads and writes that
//! JSON.

use super::super::{AgentResult, Attachment, ToolCall, Usage, WrittenNote};
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Maximum number of cancelled turns kept; the oldest is dropped first.
const CANCELLED_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionMetadata {
    /// The title set by the user.
    pub title: Option<String>,
    /// The persona of the last answer, unsanitized; `None` if the system prompt was used.
    pub persona: Option<String>,
    pub turns: StoredRecords<TurnRecord>,
    pub cancelled: StoredRecords<CancelledTurn>,
    pub compaction: Compaction,
    /// Whether prompts are sent with excerpts of notes. `None` if the user never chose.
    pub consults_notes: Option<bool>,
    /// Keys written by other programs or later versions.
    pub extra: Map<String, Value>,
}

/// What the user chose for a conversation. Another program may change it in the file meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionChoices {
    pub title: Option<String>,
    pub consults_notes: Option<bool>,
}

impl SessionChoices {
    /// These choices together with those of the file, both of which come from `read`: what only one
    /// side has changed is taken from there, and what both have changed stays as it is here, because
    /// it is written later.
    #[must_use]
    pub fn merged(&self, read: &Self, file: &Self) -> Self {
        fn pick<T: Clone + PartialEq>(ours: &T, read: &T, file: &T) -> T {
            if ours == read { file } else { ours }.clone()
        }
        Self {
            title: pick(&self.title, &read.title, &file.title),
            consults_notes: pick(
                &self.consults_notes,
                &read.consults_notes,
                &file.consults_notes,
            ),
        }
    }
}

impl SessionMetadata {
    pub fn choices(&self) -> SessionChoices {
        SessionChoices {
            title: self.title.clone(),
            consults_notes: self.consults_notes,
        }
    }
}

/// Details of a turn other than its prompt and answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// The index of the answer among the messages.
    pub message_index: usize,
    /// The name of the model that answered.
    pub model: String,
    pub usage: Usage,
    /// Calls and outcomes, as returned by [`ToolCall::without_results`].
    pub calls: Vec<ToolCall>,
    pub thinking: String,
    /// The results of note agents. Missing in older files.
    pub agent_results: Vec<AgentResult>,
    /// The time at which the turn ended. Missing in older files.
    pub ended_at: Option<Timestamp>,
    /// The user stopped the answer, so it can be continued.
    pub is_stopped: bool,
}

/// A turn that ended without an answer. Earlier versions stored stopped answers this way.
#[derive(Debug, Clone, PartialEq)]
pub struct CancelledTurn {
    pub cancelled_at: Timestamp,
    /// The number of messages before the prompt.
    pub messages_before: usize,
    pub prompt: String,
    pub attachments: Vec<Arc<Attachment>>,
    pub partial_answer: String,
    /// Calls and outcomes, as returned by [`ToolCall::without_results`]. Missing in older files.
    pub calls: Vec<ToolCall>,
    /// The program ended during the turn; the user did not cancel it.
    pub was_interrupted: bool,
    /// The number of answered turns before it that it was meant to replace.
    pub replaced_turns: usize,
}

/// The summary sent to the model in place of older messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Compaction {
    #[default]
    Absent,
    /// The summary was dropped. This must be stored explicitly: a missing key would be
    /// restored when the session is merged with its file.
    Dropped,
    Stored(Box<StoredSummary>),
}

/// A summary as stored in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSummary {
    /// `None` if its shape is unknown.
    pub summary: Option<ConversationSummary>,
    /// The previous summary, on which this one is based. Dropping this one restores it.
    pub previous: Option<Box<StoredSummary>>,
    /// The original JSON, unless `summary` and `previous` serialize to exactly the same.
    pub original: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ConversationSummary {
    pub prefix: SummarizedPrefix,
    pub text: String,
    /// The model that wrote it.
    pub model: String,
    pub created_at: Option<Timestamp>,
}

/// The messages covered by a summary: a prefix of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizedPrefix {
    pub message_count: usize,
    /// A digest of the messages, which shows whether another branch or program replaced them.
    pub digest: String,
}

/// A list of records in a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum StoredRecords<T> {
    #[default]
    Absent,
    /// The value is not a list. It becomes the first element once a record is added.
    UnknownShape(Value),
    List(Vec<StoredRecord<T>>),
}

/// One record of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecord<T> {
    /// `None` if its shape is unknown.
    pub record: Option<T>,
    /// The message it belongs to, which determines its branch.
    pub message_index: Option<usize>,
    /// The original JSON, unless `record` serializes to exactly the same.
    pub original: Option<Value>,
}

impl TurnRecord {
    /// A turn that consists only of an answer.
    pub fn new(message_index: usize, model: impl Into<String>) -> Self {
        Self {
            message_index,
            model: model.into(),
            usage: Usage::default(),
            calls: Vec::new(),
            thinking: String::new(),
            agent_results: Vec::new(),
            ended_at: None,
            is_stopped: false,
        }
    }
}

pub trait HasMessageIndex {
    fn message_index(&self) -> usize;
}

impl HasMessageIndex for TurnRecord {
    fn message_index(&self) -> usize {
        self.message_index
    }
}

impl HasMessageIndex for CancelledTurn {
    fn message_index(&self) -> usize {
        self.messages_before
    }
}

impl<T> StoredRecord<T> {
    fn from_unknown(original: Value) -> Self {
        Self {
            record: None,
            message_index: None,
            original: Some(original),
        }
    }

    fn belongs_to(&self, is_wanted: &impl Fn(usize) -> bool) -> bool {
        self.message_index.is_some_and(is_wanted)
    }
}

impl<T> From<Vec<StoredRecord<T>>> for StoredRecords<T> {
    fn from(list: Vec<StoredRecord<T>>) -> Self {
        match list.is_empty() {
            true => Self::Absent,
            false => Self::List(list),
        }
    }
}

impl<T> StoredRecords<T> {
    /// All records with a known shape.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let list = match self {
            Self::List(list) => &list[..],
            Self::Absent | Self::UnknownShape(_) => &[],
        };
        list.iter().filter_map(|stored| stored.record.as_ref())
    }

    fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        let list = match self {
            Self::List(list) => &mut list[..],
            Self::Absent | Self::UnknownShape(_) => &mut [],
        };
        list.iter_mut().filter_map(|stored| stored.record.as_mut())
    }

    /// Changes all records with a known shape. `change` must not change their JSON.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut T)) {
        self.iter_mut().for_each(change);
    }

    pub fn push(&mut self, record: T)
    where
        T: HasMessageIndex,
    {
        let message_index = Some(record.message_index());
        self.list_mut().push(StoredRecord {
            record: Some(record),
            message_index,
            original: None,
        });
    }

    fn list_mut(&mut self) -> &mut Vec<StoredRecord<T>> {
        match self {
            Self::List(list) => return list,
            Self::Absent => *self = Self::List(Vec::new()),
            Self::UnknownShape(value) => {
                *self = Self::List(vec![StoredRecord::from_unknown(value.take())])
            }
        }
        match self {
            Self::List(list) => list,
            _ => unreachable!("just converted to a list"),
        }
    }

    pub(in crate::domain) fn take_matching(&mut self, is_wanted: impl Fn(usize) -> bool) -> Self {
        match self {
            Self::List(list) => {
                let taken = list.extract_if(.., |stored| stored.belongs_to(&is_wanted));
                taken.collect::<Vec<_>>().into()
            }
            Self::Absent | Self::UnknownShape(_) => Self::Absent,
        }
    }

    /// Prepends copies of the records in `other` of messages for which `is_wanted` returns true.
    pub(in crate::domain) fn prepend_from(
        &mut self,
        other: &Self,
        is_wanted: impl Fn(usize) -> bool,
    ) where
        T: Clone,
    {
        let Self::List(other_records) = other else {
            return;
        };
        let wanted = other_records
            .iter()
            .filter(|stored| stored.belongs_to(&is_wanted));
        let copied: Vec<StoredRecord<T>> = wanted.cloned().collect();
        if !copied.is_empty() {
            // A value that was not a list stays the first element.
            let is_list = matches!(self, Self::List(_));
            let position = usize::from(!is_list).min(self.list_mut().len());
            self.list_mut().splice(position..position, copied);
        }
    }

    pub(in crate::domain) fn append(&mut self, other: Self) {
        match other {
            Self::List(records) if !records.is_empty() => self.list_mut().extend(records),
            Self::UnknownShape(value) => self.list_mut().push(StoredRecord::from_unknown(value)),
            Self::Absent | Self::List(_) => {}
        }
    }
}

impl SessionMetadata {
    /// Adds the details of a continuation to the record of its answer, or creates that
    /// record.
    pub fn extend_turn(&mut self, turn: TurnRecord) {
        let mut records = self
            .turns
            .list_mut()
            .iter_mut()
            .rev()
            .filter_map(|stored| stored.record.as_mut());
        let Some(record) = records.find(|record| record.message_index == turn.message_index) else {
            return self.turns.push(turn);
        };
        record.model = turn.model;
        record.usage = record.usage.followed_by(turn.usage);
        record.calls.extend(turn.calls);
        record.agent_results.extend(turn.agent_results);
        match (record.thinking.is_empty(), turn.thinking.is_empty()) {
            (_, true) => {}
            (true, false) => record.thinking = turn.thinking,
            (false, false) => {
                record.thinking = format!("{}\n\n{}", record.thinking, turn.thinking);
            }
        }
        record.ended_at = turn.ended_at.or(record.ended_at);
        record.is_stopped = turn.is_stopped;
    }

    /// The notes that the turns from message `first` on created and that may still be removed.
    pub fn written_notes(&self, first: usize) -> Vec<WrittenNote> {
        let turns = self.turns.iter().filter(|turn| turn.message_index >= first);
        let results = turns.flat_map(|turn| &turn.agent_results);
        results.filter_map(AgentResult::written_note).collect()
    }

    /// Like [`Self::written_notes`], but also releases the notes: undoing the turns again no longer
    /// removes them.
    pub fn take_written_notes(&mut self, first: usize) -> Vec<WrittenNote> {
        let turns = self.turns.iter_mut();
        let turns = turns.filter(|turn| turn.message_index >= first);
        let results = turns.flat_map(|turn| &mut turn.agent_results);
        results.filter_map(AgentResult::take_written_note).collect()
    }

    /// The names of notes that the turns from message `first` on created and that undoing them no
    /// longer removes.
    pub fn released_notes(&self, first: usize) -> Vec<&str> {
        let turns = self.turns.iter().filter(|turn| turn.message_index >= first);
        let results = turns.flat_map(|turn| &turn.agent_results);
        let released = results.filter_map(|result| match result {
            AgentResult::NoteCreated {
                note, sha256: None, ..
            } => Some(note.as_str()),
            _ => None,
        });
        released.collect()
    }

    pub fn add_cancelled(&mut self, turn: CancelledTurn) {
        self.cancelled.push(turn);
        let list = self.cancelled.list_mut();
        if list.len() > CANCELLED_MAX {
            list.remove(0);
        }
    }

    /// Removes cancelled turns, newest first, as long as they have this prompt at this position and
    /// can be removed.
    pub fn remove_failed_attempts(
        &mut self,
        messages_before: usize,
        prompt: &str,
        can_remove: impl Fn(&CancelledTurn) -> bool,
    ) {
        while self.pop_cancelled(|turn| {
            turn.messages_before == messages_before && turn.prompt == prompt && can_remove(turn)
        }) {}
    }

    /// Removes the newest cancelled turn if it has this prompt at this position. Returns false
    /// otherwise.
    pub fn remove_last_cancelled(&mut self, messages_before: usize, prompt: &str) -> bool {
        self.pop_cancelled(|turn| turn.messages_before == messages_before && turn.prompt == prompt)
    }

    fn pop_cancelled(&mut self, is_match: impl Fn(&CancelledTurn) -> bool) -> bool {
        let StoredRecords::List(list) = &mut self.cancelled else {
            return false;
        };
        let removed = list.pop_if(|stored| stored.record.as_ref().is_some_and(is_match));
        removed.is_some()
    }
}
