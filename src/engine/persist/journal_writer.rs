//! Keeps the journal of the turn under way, off the actor: words are gathered
//! for a moment, calls and the answer are written at once. A journal stays until a
//! save that came after it has succeeded.

use super::session_writer::{Epoch, Ticket};
use crate::domain::{PieceKind, ToolState, TurnEvent};
use crate::store::{Journal, Journals, Record, StoreError};
use jiff::Zoned;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// The least time between two writes of words.
const GATHER: Duration = Duration::from_millis(250);
/// How often words are put on the disk itself, not only into the system's cache.
const SYNC_EVERY: Duration = Duration::from_secs(2);
/// How long the end of a turn may wait for its answer to be in the journal.
const HOLD_MAX: Duration = Duration::from_millis(500);
/// How long a disk that refused is left alone.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum Op {
    Write(Record),
    Remove,
    /// Another conversation begins; this one's journal waits for its save.
    Leave(Epoch, Ticket),
}

/// What one piece of work came to.
struct Written {
    journal: Option<Journal>,
    left: Vec<(Epoch, Ticket, Journal)>,
    /// What could not be done, the first that failed in front.
    undone: VecDeque<Op>,
    result: Result<(), StoreError>,
}

/// What happened: the journal was written, or could not be, or is slow.
#[derive(Debug, PartialEq)]
pub enum Step {
    Written,
    Failed(StoreError),
    Slow,
}

pub struct JournalWriter {
    journals: Arc<Journals>,
    /// The journal of the present conversation, while it is not being written.
    journal: Option<Journal>,
    ops: VecDeque<Op>,
    writing: Option<JoinHandle<Written>>,
    due: Option<Instant>,
    synced: Option<Instant>,
    epoch: Epoch,
    under_way: bool,
    /// There is, or will be, a file of the present conversation.
    is_kept: bool,
    /// The save that makes it needless.
    needed: Option<Ticket>,
    left: Vec<(Epoch, Ticket, Journal)>,
    hold: Option<Instant>,
}

impl JournalWriter {
    pub fn new(journals: Arc<Journals>) -> Self {
        Self {
            journals,
            journal: None,
            ops: VecDeque::new(),
            writing: None,
            due: None,
            synced: None,
            epoch: Epoch::default(),
            under_way: false,
            is_kept: false,
            needed: None,
            left: Vec::new(),
            hold: None,
        }
    }

    /// A turn of this conversation begins.
    pub fn begin(&mut self, epoch: Epoch, turn: Record) {
        self.leave(epoch);
        self.under_way = true;
        self.is_kept = true;
        self.now(Op::Write(turn));
    }

    /// The journal of another conversation waits for a save of its own.
    fn leave(&mut self, epoch: Epoch) {
        let before = std::mem::replace(&mut self.epoch, epoch);
        if before == epoch || !self.is_kept {
            return;
        }
        let ticket = self.needed.take().unwrap_or(Ticket::NEVER);
        self.is_kept = false;
        self.under_way = false;
        self.now(Op::Leave(before, ticket));
    }

    /// Takes down what happens in the turn.
    pub fn note(&mut self, event: &TurnEvent) {
        if !self.under_way {
            return;
        }
        match event {
            TurnEvent::Delta { piece, kind, text } => self.words(piece.0, *kind, text),
            TurnEvent::Reclassified { piece, to } => self.now(Op::Write(Record::Turned {
                piece: piece.0,
                thinking: *to == PieceKind::Thinking,
            })),
            TurnEvent::Restored { piece, text } => self.now(Op::Write(Record::Restored {
                piece: piece.0,
                text: text.clone(),
            })),
            // Progress is of no use to whoever finds it later.
            TurnEvent::Tool(call) => match call.state {
                ToolState::Running { progress: Some(_) } => {}
                _ => self.now(Op::Write(Record::call(call))),
            },
            _ => {}
        }
    }

    fn words(&mut self, piece: u64, kind: PieceKind, words: &str) {
        let thinking = kind == PieceKind::Thinking;
        match self.ops.back_mut() {
            Some(Op::Write(Record::Words {
                piece: last, text, ..
            })) if *last == piece => {
                text.push_str(words);
            }
            _ => self.ops.push_back(Op::Write(Record::Words {
                piece,
                thinking,
                text: words.to_owned(),
            })),
        }
        self.due.get_or_insert_with(|| Instant::now() + GATHER);
    }

    /// The turn was answered: its end is told once this is on the disk, and the
    /// journal goes once the save with this ticket has succeeded.
    pub fn answered(&mut self, answer: Record, ticket: Ticket) {
        if !std::mem::take(&mut self.under_way) {
            return;
        }
        self.needed = Some(ticket);
        self.hold = Some(Instant::now() + HOLD_MAX);
        self.now(Op::Write(answer));
    }

    /// The turn ended without an answer. Its journal stays until the save with this
    /// ticket; without one it goes, unless an earlier answer still needs it.
    pub fn ended(&mut self, until: Option<Ticket>) {
        if !std::mem::take(&mut self.under_way) {
            return;
        }
        self.needed = until.or(self.needed);
        match self.needed {
            Some(_) => self.now(Op::Write(Record::Ended)),
            None => self.discard(),
        }
    }

    /// Nothing of the present conversation is to stay here.
    pub fn discard(&mut self) {
        self.under_way = false;
        self.needed = None;
        self.hold = None;
        let is_ours = |op: &Op| matches!(op, Op::Write(_));
        self.ops.retain(|op| !is_ours(op));
        if std::mem::take(&mut self.is_kept) {
            self.now(Op::Remove);
        }
    }

    /// A journal of an earlier run whose words are in this conversation now.
    pub fn adopt(&mut self, epoch: Epoch, until: Ticket, journal: Journal) {
        self.left.push((epoch, until, journal));
    }

    /// A save succeeded: what waited for it goes.
    pub fn saved(&mut self, epoch: Epoch, ticket: Ticket) {
        let is_saved = |of: Epoch, until: Ticket| of == epoch && until <= ticket;
        if !self.under_way && self.needed.is_some_and(|until| is_saved(self.epoch, until)) {
            self.discard();
        }
        let left = std::mem::take(&mut self.left);
        let (gone, left): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|(of, until, _)| is_saved(*of, *until));
        self.left = left;
        if !gone.is_empty() {
            // Few and small: what is removed off the actor is nobody's to wait for.
            tokio::task::spawn_blocking(|| {
                gone.into_iter()
                    .for_each(|(_, _, journal)| journal.remove());
            });
        }
    }

    /// Is the end of a turn to wait?
    pub fn holds(&self) -> bool {
        self.hold.is_some()
    }

    /// Is everything written that can be?
    pub fn is_idle(&self) -> bool {
        self.writing.is_none() && self.ops.is_empty()
    }

    /// Is each answer that was not saved in a journal on the disk?
    pub fn has_all(&self) -> bool {
        self.is_idle() && self.is_kept && self.journal.is_some()
    }

    fn now(&mut self, op: Op) {
        self.ops.push_back(op);
        self.due = Some(Instant::now());
    }

    /// Waits for the next thing to do, and does it. Safe to drop while it waits.
    pub async fn step(&mut self) -> Step {
        loop {
            let due = self.due.filter(|_| self.writing.is_none());
            let wake = [due, self.hold].into_iter().flatten().min();
            let (writing, waiting) = (self.writing.as_mut(), wake.is_some());
            let alarm = sleep_until(wake.unwrap_or_else(Instant::now));
            tokio::select! {
                written = async { match writing {
                    Some(writing) => writing.await,
                    None => std::future::pending().await,
                }} => {
                    self.writing = None;
                    return match written {
                        Ok(written) => self.take(written),
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    };
                }
                () = alarm, if waiting => {
                    let now = Instant::now();
                    if due.is_some_and(|due| due <= now) {
                        self.start();
                    } else if self.hold.take_if(|hold| *hold <= now).is_some() {
                        return Step::Slow;
                    }
                }
            }
        }
    }

    fn start(&mut self) {
        self.due = None;
        let (ops, journal) = (std::mem::take(&mut self.ops), self.journal.take());
        let (journals, now) = (Arc::clone(&self.journals), Instant::now());
        let is_words = |op: &Op| matches!(op, Op::Write(Record::Words { .. }));
        let is_stale = self.synced.is_none_or(|synced| now >= synced + SYNC_EVERY);
        let sync = is_stale || !ops.iter().all(is_words);
        if sync {
            self.synced = Some(now);
        }
        self.writing = Some(tokio::task::spawn_blocking(move || {
            write(&journals, journal, ops, sync)
        }));
    }

    fn take(&mut self, written: Written) -> Step {
        self.journal = written.journal;
        self.left.extend(written.left);
        let failed = written.result.err();
        for op in written.undone.into_iter().rev() {
            self.ops.push_front(op);
        }
        if failed.is_some() && !self.ops.is_empty() {
            self.due = Some(Instant::now() + RETRY);
        }
        let answers = |op: &Op| matches!(op, Op::Write(Record::Answer { .. }));
        if failed.is_some() || !self.ops.iter().any(answers) {
            self.hold = None;
        }
        failed.map_or(Step::Written, Step::Failed)
    }
}

fn write(
    journals: &Journals,
    mut journal: Option<Journal>,
    mut ops: VecDeque<Op>,
    sync: bool,
) -> Written {
    let mut left = Vec::new();
    let mut result = Ok(());
    while let Some(op) = ops.pop_front() {
        let done = match (&op, &mut journal) {
            (Op::Write(record), Some(journal)) => journal.append(record),
            (Op::Write(record @ Record::Turn { .. }), slot) => journals
                .begin(record, &Zoned::now())
                .map(|begun| *slot = Some(begun)),
            (Op::Write(_), None) => Ok(()),
            (Op::Remove, slot) => {
                slot.take().into_iter().for_each(Journal::remove);
                Ok(())
            }
            (Op::Leave(epoch, until), slot) => {
                left.extend(slot.take().map(|journal| (*epoch, *until, journal)));
                Ok(())
            }
        };
        if done.is_err() {
            result = done;
            ops.push_front(op);
            break;
        }
    }
    if let (Ok(()), true, Some(journal)) = (&result, sync, &journal) {
        result = journal.sync();
    }
    Written {
        journal,
        left,
        undone: ops,
        result,
    }
}

#[cfg(test)]
mod tests;
