//! What a session holds besides its messages. Everything that this version does not know in a file is
//! kept as an opaque value beside the typed part, so that saving never loses it; only `store` reads and
//! writes these values.

use super::super::{ToolCall, Usage};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Cancelled turns that are kept at most; the oldest goes first.
const CANCELLED_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionMetadata {
    /// The title that the user gave.
    pub title: Option<String>,
    pub turns: Records<TurnRecord>,
    pub cancelled: Records<CancelledTurn>,
    pub compaction: Compaction,
    /// Keys of other programs and of later versions.
    pub extra: Map<String, Value>,
}

/// What a turn left besides its prompt and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// The index of the answer among the messages.
    pub message: usize,
    /// The name of the model that answered.
    pub model: String,
    pub usage: Usage,
    /// Calls and how they ended, as [`ToolCall::without_results`] makes them.
    pub tools: Vec<ToolCall>,
    pub thinking: String,
    /// When it ended. Older files do not have it.
    pub at: Option<Timestamp>,
}

/// A turn that ended without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CancelledTurn {
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

/// The summary that the model is sent in place of the older messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Compaction {
    #[default]
    Never,
    /// It was taken back, which the file must say: a key that is merely gone would come back when
    /// the session is merged with its file.
    Dropped,
    Stored(Box<StoredSummary>),
}

/// A summary as it is in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSummary {
    /// `None` where its shape is unknown.
    pub summary: Option<Summary>,
    /// The one that this one was made from: it takes over again when this one is taken back.
    pub before: Option<Box<StoredSummary>>,
    /// As it was read, where `summary` and `before` alone would not be written the same.
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

/// The messages that a summary stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactedRange {
    /// Counted from the start of the conversation.
    pub messages: usize,
    /// Tells whether they are still the same: another branch may have taken their
    /// place, or another program.
    pub digest: String,
}

/// A list of records in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Records<T> {
    #[default]
    Absent,
    /// A value of another shape stands in its place. It becomes the first element of the list once
    /// there is one.
    Foreign(Value),
    List(Vec<Stored<T>>),
}

/// One record of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored<T> {
    /// `None` where its shape is unknown.
    pub record: Option<T>,
    /// The message that it belongs to, which decides the branch that it goes to.
    pub place: Option<usize>,
    /// As it was read, where `record` alone would not be written the same.
    pub original: Option<Value>,
}

impl TurnRecord {
    /// A turn that left nothing but its answer.
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
    /// Those that are understood.
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
            _ => unreachable!("made a list just above"),
        }
    }

    /// Takes out those that belong to the wanted messages.
    pub(in crate::domain) fn take(&mut self, wanted: impl Fn(usize) -> bool) -> Self {
        match self {
            Self::List(list) => {
                let taken = list.extract_if(.., |stored| stored.is_in(&wanted));
                taken.collect::<Vec<_>>().into()
            }
            Self::Absent | Self::Foreign(_) => Self::Absent,
        }
    }

    /// Puts copies of those of `other` that belong to the wanted messages in front.
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
    /// Adds what a continued answer took to the record of its first half, which is added where there
    /// is none.
    pub fn extend_turn(&mut self, turn: TurnRecord) {
        let records = self.turns.list().iter_mut().rev();
        let mut records = records.filter_map(|stored| stored.record.as_mut());
        let Some(first) = records.find(|first| first.message == turn.message) else {
            return self.turns.push(turn);
        };
        first.model = turn.model;
        let output = [first.usage.output, turn.usage.output]
            .into_iter()
            .flatten();
        first.usage = Usage {
            input: turn.usage.input.or(first.usage.input),
            output: output.reduce(|one, other| one + other),
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

    /// Removes the newest cancelled turn if this was its prompt, `after` messages. False where it was
    /// another one.
    pub fn drop_cancelled(&mut self, after: usize, prompt: &str) -> bool {
        let Records::List(list) = &mut self.cancelled else {
            return false;
        };
        let is_it = |turn: &CancelledTurn| turn.after == after && turn.prompt == prompt;
        let dropped = list.pop_if(|stored| stored.record.as_ref().is_some_and(is_it));
        dropped.is_some()
    }
}
