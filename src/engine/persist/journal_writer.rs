//! Writes the journal of the running turn, off the actor: text is batched, calls and the
//! answer are written at once. A journal is kept until a later save of its conversation has
//! succeeded.

use super::session_writer::{ConversationSeq, SaveSeq};
use crate::domain::{PieceKind, ToolState, TurnEvent};
use crate::store::{Journal, JournalRecord, Journals, StoreError};
use jiff::Zoned;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// Minimum time between two writes of text.
const FLUSH_DELAY: Duration = Duration::from_millis(250);
/// How often text is synced to the disk itself.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);
/// How long the end of a turn may wait for its answer to reach the journal.
const HOLD_MAX: Duration = Duration::from_millis(500);
/// Pause before a failed write is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum JournalOp {
    Write(JournalRecord),
    Remove,
    /// Another conversation starts; this journal waits for its save.
    Detach(ConversationSeq, SaveSeq),
}

/// The result of one batch of writes.
struct JournalWriteResult {
    journal: Option<Journal>,
    detached: Vec<(ConversationSeq, SaveSeq, Journal)>,
    /// Operations that were not done, starting with the one that failed.
    remaining_ops: VecDeque<JournalOp>,
    result: Result<(), StoreError>,
}

/// The result of a write, or a warning that it takes too long.
#[derive(Debug, PartialEq)]
pub enum JournalEvent {
    Written,
    Failed(StoreError),
    Slow,
}

pub struct JournalWriter {
    journals: Arc<Journals>,
    /// The journal of the open conversation; None while it is being written.
    journal: Option<Journal>,
    ops: VecDeque<JournalOp>,
    writing: Option<JoinHandle<JournalWriteResult>>,
    write_at: Option<Instant>,
    last_sync: Option<Instant>,
    conversation: ConversationSeq,
    is_turn_open: bool,
    /// The open conversation has, or will have, a journal file.
    has_file: bool,
    /// The save that makes the journal unnecessary.
    needed_until: Option<SaveSeq>,
    detached: Vec<(ConversationSeq, SaveSeq, Journal)>,
    hold_deadline: Option<Instant>,
}

impl JournalWriter {
    pub fn new(journals: Arc<Journals>) -> Self {
        Self {
            journals,
            journal: None,
            ops: VecDeque::new(),
            writing: None,
            write_at: None,
            last_sync: None,
            conversation: ConversationSeq::default(),
            is_turn_open: false,
            has_file: false,
            needed_until: None,
            detached: Vec::new(),
            hold_deadline: None,
        }
    }

    /// Starts a turn of this conversation.
    pub fn begin(&mut self, conversation: ConversationSeq, turn: JournalRecord) {
        self.detach_journal(conversation);
        self.is_turn_open = true;
        self.has_file = true;
        self.push_urgent(JournalOp::Write(turn));
    }

    /// Detaches the journal of the previous conversation, which waits for its own save.
    fn detach_journal(&mut self, conversation: ConversationSeq) {
        let before = std::mem::replace(&mut self.conversation, conversation);
        if before == conversation || !self.has_file {
            return;
        }
        let save = self.needed_until.take().unwrap_or(SaveSeq::NEVER);
        self.has_file = false;
        self.is_turn_open = false;
        self.push_urgent(JournalOp::Detach(before, save));
    }

    /// Records an event of the turn.
    pub fn record_event(&mut self, event: &TurnEvent) {
        if !self.is_turn_open {
            return;
        }
        match event {
            TurnEvent::Delta { piece, kind, text } => self.push_text(piece.0, *kind, text),
            TurnEvent::Reclassified { piece, to } => {
                self.push_urgent(JournalOp::Write(JournalRecord::Reclassified {
                    piece: piece.0,
                    thinking: *to == PieceKind::Thinking,
                }))
            }
            TurnEvent::Restored { piece, text } => {
                self.push_urgent(JournalOp::Write(JournalRecord::Restored {
                    piece: piece.0,
                    text: text.clone(),
                }))
            }
            // Recovery does not need progress.
            TurnEvent::Tool(call) => match call.state {
                ToolState::Running { progress: Some(_) } => {}
                _ => self.push_urgent(JournalOp::Write(JournalRecord::from_call(call))),
            },
            _ => {}
        }
    }

    fn push_text(&mut self, piece: u64, kind: PieceKind, added: &str) {
        let thinking = kind == PieceKind::Thinking;
        match self.ops.back_mut() {
            Some(JournalOp::Write(JournalRecord::Text {
                piece: last, text, ..
            })) if *last == piece => {
                text.push_str(added);
            }
            _ => self.ops.push_back(JournalOp::Write(JournalRecord::Text {
                piece,
                thinking,
                text: added.to_owned(),
            })),
        }
        self.write_at
            .get_or_insert_with(|| Instant::now() + FLUSH_DELAY);
    }

    /// Records the answer. The turn's end is shown once this is on the disk, and the journal
    /// is removed once `save` has succeeded.
    pub fn record_answer(&mut self, answer: JournalRecord, save: SaveSeq) {
        if !std::mem::take(&mut self.is_turn_open) {
            return;
        }
        self.needed_until = Some(save);
        self.hold_deadline = Some(Instant::now() + HOLD_MAX);
        self.push_urgent(JournalOp::Write(answer));
    }

    /// Ends a turn without an answer. Its journal is kept until `until` is saved; without that
    /// it is removed, unless an earlier answer still needs it.
    pub fn end_turn(&mut self, until: Option<SaveSeq>) {
        if !std::mem::take(&mut self.is_turn_open) {
            return;
        }
        self.needed_until = until.or(self.needed_until);
        match self.needed_until {
            Some(_) => self.push_urgent(JournalOp::Write(JournalRecord::Ended)),
            None => self.discard(),
        }
    }

    /// Removes the journal of the open conversation.
    pub fn discard(&mut self) {
        self.is_turn_open = false;
        self.needed_until = None;
        self.hold_deadline = None;
        let is_ours = |op: &JournalOp| matches!(op, JournalOp::Write(_));
        self.ops.retain(|op| !is_ours(op));
        if std::mem::take(&mut self.has_file) {
            self.push_urgent(JournalOp::Remove);
        }
    }

    /// Keeps the journal of an earlier run, whose text is now in this conversation, until the
    /// save.
    pub fn adopt(&mut self, conversation: ConversationSeq, until: SaveSeq, journal: Journal) {
        self.detached.push((conversation, until, journal));
    }

    /// Removes the journals that waited for this save.
    pub fn session_saved(&mut self, conversation: ConversationSeq, save: SaveSeq) {
        let is_saved =
            |owner: ConversationSeq, until: SaveSeq| owner == conversation && until <= save;
        if !self.is_turn_open
            && self
                .needed_until
                .is_some_and(|until| is_saved(self.conversation, until))
        {
            self.discard();
        }
        let (saved, unsaved): (Vec<_>, Vec<_>) = std::mem::take(&mut self.detached)
            .into_iter()
            .partition(|(owner, until, _)| is_saved(*owner, *until));
        self.detached = unsaved;
        if !saved.is_empty() {
            // Removal is quick, so nothing waits for it.
            tokio::task::spawn_blocking(|| {
                saved
                    .into_iter()
                    .for_each(|(_, _, journal)| journal.remove());
            });
        }
    }

    /// Whether the end of a turn must be held back.
    pub fn is_holding_events(&self) -> bool {
        self.hold_deadline.is_some()
    }

    /// Whether there is nothing left to write.
    pub fn is_idle(&self) -> bool {
        self.writing.is_none() && self.ops.is_empty()
    }

    /// Whether every unsaved answer is in a journal on the disk.
    pub fn has_all_answers_on_disk(&self) -> bool {
        self.is_idle() && self.has_file && self.journal.is_some()
    }

    fn push_urgent(&mut self, op: JournalOp) {
        self.ops.push_back(op);
        self.write_at = Some(Instant::now());
    }

    /// Waits for the next write to be due or to finish. Cancel-safe.
    pub async fn next_event(&mut self) -> JournalEvent {
        loop {
            let due = self.write_at.filter(|_| self.writing.is_none());
            let wake = [due, self.hold_deadline].into_iter().flatten().min();
            let (writing, waiting) = (self.writing.as_mut(), wake.is_some());
            let alarm = sleep_until(wake.unwrap_or_else(Instant::now));
            tokio::select! {
                written = async { match writing {
                    Some(writing) => writing.await,
                    None => std::future::pending().await,
                }} => {
                    self.writing = None;
                    return match written {
                        Ok(written) => self.finish_write(written),
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    };
                }
                () = alarm, if waiting => {
                    let now = Instant::now();
                    if due.is_some_and(|due| due <= now) {
                        self.start();
                    } else if self.hold_deadline.take_if(|hold| *hold <= now).is_some() {
                        return JournalEvent::Slow;
                    }
                }
            }
        }
    }

    fn start(&mut self) {
        self.write_at = None;
        let (ops, journal) = (std::mem::take(&mut self.ops), self.journal.take());
        let (journals, now) = (Arc::clone(&self.journals), Instant::now());
        let is_text = |op: &JournalOp| matches!(op, JournalOp::Write(JournalRecord::Text { .. }));
        let is_sync_due = self
            .last_sync
            .is_none_or(|synced| now >= synced + SYNC_INTERVAL);
        let sync = is_sync_due || !ops.iter().all(is_text);
        if sync {
            self.last_sync = Some(now);
        }
        self.writing = Some(tokio::task::spawn_blocking(move || {
            write(&journals, journal, ops, sync)
        }));
    }

    fn finish_write(&mut self, written: JournalWriteResult) -> JournalEvent {
        self.journal = written.journal;
        self.detached.extend(written.detached);
        let failed = written.result.err();
        for op in written.remaining_ops.into_iter().rev() {
            self.ops.push_front(op);
        }
        if failed.is_some() && !self.ops.is_empty() {
            self.write_at = Some(Instant::now() + RETRY_DELAY);
        }
        let answers = |op: &JournalOp| matches!(op, JournalOp::Write(JournalRecord::Answer { .. }));
        if failed.is_some() || !self.ops.iter().any(answers) {
            self.hold_deadline = None;
        }
        failed.map_or(JournalEvent::Written, JournalEvent::Failed)
    }
}

fn write(
    journals: &Journals,
    mut journal: Option<Journal>,
    mut ops: VecDeque<JournalOp>,
    sync: bool,
) -> JournalWriteResult {
    let mut detached = Vec::new();
    let mut result = Ok(());
    while let Some(op) = ops.pop_front() {
        let done = match (&op, &mut journal) {
            (JournalOp::Write(record), Some(journal)) => journal.append(record),
            (JournalOp::Write(record @ JournalRecord::Turn { .. }), slot) => journals
                .create(record, &Zoned::now())
                .map(|begun| *slot = Some(begun)),
            (JournalOp::Write(_), None) => Ok(()),
            (JournalOp::Remove, slot) => {
                slot.take().into_iter().for_each(Journal::remove);
                Ok(())
            }
            (JournalOp::Detach(conversation, until), slot) => {
                detached.extend(slot.take().map(|journal| (*conversation, *until, journal)));
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
    JournalWriteResult {
        journal,
        detached,
        remaining_ops: ops,
        result,
    }
}

#[cfg(test)]
mod tests;
