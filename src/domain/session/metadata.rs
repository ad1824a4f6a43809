//! Session data other than messages. Values unknown to this version are kept as opaque JSON
//! next to the typed part, so saving never loses them. Only `store` reads and writes them.

use super::super::{ToolCall, Usage};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// The most cancelled turns kept; the oldest is dropped first.
const CANCELLED_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionMetadata {
    /// The title set by the user.
    pub title: Option<String>,
    pub turns: Records<TurnRecord>,
    pub cancelled: Records<CancelledTurn>,
    pub compaction: Compaction,
    /// Keys from other programs and later versions.
    pub extra: Map<String, Value>,
}

/// Details of a turn other than its prompt and answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// The index of the answer among the messages.
    pub message: usize,
    /// The name of the model that answered.
    pub model: String,
    pub usage: Usage,
    /// Calls and outcomes, as returned by [`ToolCall::without_results`].
    pub tools: Vec<ToolCall>,
    pub thinking: String,
    /// The end of the turn. Missing in older files.
    pub at: Option<Timestamp>,
}

/// A turn that ended without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CancelledTurn {
    pub at: Timestamp,
    /// The number of earlier messages.
    pub after: usize,
    pub prompt: String,
    pub words: String,
    /// The program ended during the turn; the user did not stop it.
    pub interrupted: bool,
    /// It was meant to replace the last answered turn.
    pub replaces: bool,
}

/// The summary sent to the model in place of older messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Compaction {
    #[default]
    Never,
    /// The summary was dropped. This must be stored explicitly: a missing key would be
    /// restored when the session is merged with its file.
    Dropped,
    Stored(Box<StoredSummary>),
}

/// A summary as stored in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSummary {
    /// `None` if its shape is unknown.
    pub summary: Option<Summary>,
    /// The previous summary, which this one is based on and which returns when this one is
    /// dropped.
    pub before: Option<Box<StoredSummary>>,
    /// The original JSON, unless `summary` and `previous` serialize to exactly the same.
    pub original: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub covers: CompactedRange,
    pub text: String,
    /// The model that wrote it.
    pub model: String,
    pub at: Option<Timestamp>,
}

/// The messages covered by a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactedRange {
    /// Counted from the start of the conversation.
    pub messages: usize,
    /// Detects whether another branch or program has replaced the messages.
    pub digest: String,
}

/// A list of records in a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Records<T> {
    #[default]
    Absent,
    /// A value of another shape. It becomes the first element once a record is added.
    Foreign(Value),
    List(Vec<Stored<T>>),
}

/// One record of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored<T> {
    /// `None` if its shape is unknown.
    pub record: Option<T>,
    /// The message it belongs to, which determines its branch.
    pub place: Option<usize>,
    /// The original JSON, unless `record` serializes to exactly the same.
    pub original: Option<Value>,
}

impl TurnRecord {
    /// A turn with nothing but an answer.
    pub fn new(message: usize, model: impl Into<String>) -> Self {
        Self {
            message,
            model: model.into(),
            usage: Usage::default(),
            tools: Vec::new(),
            thinking: String::new(),
            at: None,
        }
    }
}

/// A record that belongs to a message.
pub trait Placed {
    fn place(&self) -> usize;
}

impl Placed for TurnRecord {
    fn place(&self) -> usize {
        self.message
    }
}

impl Placed for CancelledTurn {
    fn place(&self) -> usize {
        self.after
    }
}

impl<T> Stored<T> {
    fn unknown(original: Value) -> Self {
        Self {
            record: None,
            place: None,
            original: Some(original),
        }
    }

    fn is_in(&self, wanted: &impl Fn(usize) -> bool) -> bool {
        self.place.is_some_and(wanted)
    }
}

impl<T> From<Vec<Stored<T>>> for Records<T> {
    fn from(list: Vec<Stored<T>>) -> Self {
        match list.is_empty() {
            true => Self::Absent,
            false => Self::List(list),
        }
    }
}

impl<T> Records<T> {
    /// All records with a known shape.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let list = match self {
            Self::List(list) => &list[..],
            Self::Absent | Self::Foreign(_) => &[],
        };
        list.iter().filter_map(|stored| stored.record.as_ref())
    }

    pub fn push(&mut self, record: T)
    where
        T: Placed,
    {
        let place = Some(record.place());
        self.list().push(Stored {
            record: Some(record),
            place,
            original: None,
        });
    }

    fn list(&mut self) -> &mut Vec<Stored<T>> {
        match self {
            Self::List(list) => return list,
            Self::Absent => *self = Self::List(Vec::new()),
            Self::Foreign(value) => *self = Self::List(vec![Stored::unknown(value.take())]),
        }
        match self {
            Self::List(list) => list,
            _ => unreachable!("just converted to a list"),
        }
    }

    /// Removes and returns the records of the wanted messages.
    pub(in crate::domain) fn take(&mut self, wanted: impl Fn(usize) -> bool) -> Self {
        match self {
            Self::List(list) => {
                let taken = list.extract_if(.., |stored| stored.is_in(&wanted));
                taken.collect::<Vec<_>>().into()
            }
            Self::Absent | Self::Foreign(_) => Self::Absent,
        }
    }

    /// Prepends copies of the records in `other` for the wanted messages.
    pub(in crate::domain) fn prepend_from(&mut self, other: &Self, wanted: impl Fn(usize) -> bool)
    where
        T: Clone,
    {
        let Self::List(other) = other else { return };
        let wanted = other.iter().filter(|stored| stored.is_in(&wanted));
        let copied: Vec<Stored<T>> = wanted.cloned().collect();
        if !copied.is_empty() {
            let is_list = matches!(self, Self::List(_));
            let at = usize::from(!is_list).min(self.list().len());
            self.list().splice(at..at, copied);
        }
    }

    pub(in crate::domain) fn append(&mut self, other: Self) {
        match other {
            Self::List(more) if !more.is_empty() => self.list().extend(more),
            Self::Foreign(value) => self.list().push(Stored::unknown(value)),
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
            .list()
            .iter_mut()
            .rev()
            .filter_map(|stored| stored.record.as_mut());
        let Some(first) = records.find(|first| first.message == turn.message) else {
            return self.turns.push(turn);
        };
        first.model = turn.model;
        let output = [first.usage.output, turn.usage.output]
            .into_iter()
            .flatten();
        first.usage = Usage {
            input: turn.usage.input.or(first.usage.input),
            output: output.reduce(|first, second| first + second),
        };
        first.tools.extend(turn.tools);
        match (first.thinking.is_empty(), turn.thinking.is_empty()) {
            (_, true) => {}
            (true, false) => first.thinking = turn.thinking,
            (false, false) => first.thinking = format!("{}\n\n{}", first.thinking, turn.thinking),
        }
        first.at = turn.at.or(first.at);
    }

    pub fn add_cancelled(&mut self, turn: CancelledTurn) {
        self.cancelled.push(turn);
        let list = self.cancelled.list();
        if list.len() > CANCELLED_MAX {
            list.remove(0);
        }
    }

    /// Removes the newest cancelled turn if it matches. Returns false otherwise.
    pub fn drop_cancelled(&mut self, after: usize, prompt: &str) -> bool {
        let Records::List(list) = &mut self.cancelled else {
            return false;
        };
        let is_match = |turn: &CancelledTurn| turn.after == after && turn.prompt == prompt;
        let dropped = list.pop_if(|stored| stored.record.as_ref().is_some_and(is_match));
        dropped.is_some()
    }
}
