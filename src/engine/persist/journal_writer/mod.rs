//! Writes the journal of the running turn in the background. Text is batched; calls and the
//! answer are written at once. A journal is kept until the session file contains its turns.

use super::session_writer::{ConversationSeq, SaveSeq};
use crate::domain::{Attachment, PieceKind, ToolState, TurnEvent};
use crate::store::{AttachmentStore, Journal, JournalRecord, Journals, StoreError};
use jiff::Zoned;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// Text is written this long after the first unwritten delta.
const FLUSH_DELAY: Duration = Duration::from_millis(250);
/// Minimum time between two syncs of text to the disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum time for which the end of a turn is held back while its answer is written to the
/// journal.
const HOLD_TIME_MAX: Duration = Duration::from_millis(500);
const RETRY_DELAY: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum JournalOp {
    Write(JournalRecord),
    /// Save the contents of attached files, which records only name.
    SaveAttachments(AttachmentStore, Vec<Arc<Attachment>>),
    Remove,
    /// Set the journal of the previous conversation aside until this save.
    Detach(ConversationSeq, SaveSeq),
}

struct JournalWriteResult {
    journal: Option<Journal>,
    detached: Vec<(ConversationSeq, SaveSeq, Journal)>,
    /// The operation that failed, and all after it.
    remaining_ops: VecDeque<JournalOp>,
    result: Result<(), StoreError>,
}

/// The result of a batch of writes, or a warning that it takes too long.
#[derive(Debug, PartialEq)]
pub enum JournalEvent {
    Written,
    Failed(StoreError),
    Slow,
}

pub struct JournalWriter {
    journals: Arc<Journals>,
    /// The journal of the open conversation; `None` if it has none, and while a write is running.
    journal: Option<Journal>,
    /// Operations waiting for the next batch.
    ops: VecDeque<JournalOp>,
    running_write: Option<JoinHandle<JournalWriteResult>>,
    write_at: Option<Instant>,
    last_sync_at: Option<Instant>,
    conversation: ConversationSeq,
    is_turn_open: bool,
    /// The open conversation has, or will have, a journal file.
    has_file: bool,
    /// The journal may be removed after this save.
    needed_until: Option<SaveSeq>,
    /// Journals of other conversations, each with the save after which it may be removed.
    detached: Vec<(ConversationSeq, SaveSeq, Journal)>,
    /// While set, the end of a turn is held back, at most until this time.
    hold_deadline: Option<Instant>,
}

impl JournalWriter {
    pub fn new(journals: Arc<Journals>) -> Self {
        Self {
            journals,
            journal: None,
            ops: VecDeque::new(),
            running_write: None,
            write_at: None,
            last_sync_at: None,
            conversation: ConversationSeq::default(),
            is_turn_open: false,
            has_file: false,
            needed_until: None,
            detached: Vec::new(),
            hold_deadline: None,
        }
    }

    /// Saves the contents of attached files before anything that is recorded later.
    pub fn save_attachments(&mut self, store: AttachmentStore, attachments: Vec<Arc<Attachment>>) {
        if !attachments.is_empty() {
            self.push_urgent(JournalOp::SaveAttachments(store, attachments));
        }
    }

    /// Starts a turn of this conversation.
    pub fn begin(&mut self, conversation: ConversationSeq, turn: JournalRecord) {
        self.detach_journal(conversation);
        self.is_turn_open = true;
        self.has_file = true;
        self.push_urgent(JournalOp::Write(turn));
    }

    fn detach_journal(&mut self, conversation: ConversationSeq) {
        let previous = std::mem::replace(&mut self.conversation, conversation);
        if previous == conversation || !self.has_file {
            return;
        }
        let save = self.needed_until.take().unwrap_or(SaveSeq::NEVER);
        self.has_file = false;
        self.is_turn_open = false;
        self.push_urgent(JournalOp::Detach(previous, save));
    }

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
            // Progress is not needed for recovery.
            TurnEvent::Tool(call) => match call.state {
                ToolState::Running { progress: Some(_) } => {}
                _ => self.push_urgent(JournalOp::Write(JournalRecord::from_call(call))),
            },
            _ => {}
        }
    }

    fn push_text(&mut self, piece: u64, kind: PieceKind, added: &str) {
        let is_thinking = kind == PieceKind::Thinking;
        match self.ops.back_mut() {
            Some(JournalOp::Write(JournalRecord::Text {
                piece: last, text, ..
            })) if *last == piece => {
                text.push_str(added);
            }
            _ => self.ops.push_back(JournalOp::Write(JournalRecord::Text {
                piece,
                thinking: is_thinking,
                text: added.to_owned(),
            })),
        }
        self.write_at
            .get_or_insert_with(|| Instant::now() + FLUSH_DELAY);
    }

    /// Records the answer, and keeps the journal until `save` has succeeded. The end of the turn is held
    /// back until the answer is on disk, unless the user stopped it: nobody takes such an answer for
    /// complete, and the message must accept keys at once.
    pub fn record_answer(&mut self, answer: JournalRecord, save: SaveSeq) {
        if !std::mem::take(&mut self.is_turn_open) {
            return;
        }
        self.needed_until = Some(save);
        if !matches!(answer, JournalRecord::Answer { stopped: true, .. }) {
            self.hold_deadline = Some(Instant::now() + HOLD_TIME_MAX);
        }
        self.push_urgent(JournalOp::Write(answer));
    }

    /// Ends a turn without an answer. Its journal is kept until the save `until`, which contains
    /// its partial answer. Without one, the journal is removed unless an earlier answer still
    /// needs it.
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
        self.ops.retain(|op| !matches!(op, JournalOp::Write(_)));
        if std::mem::take(&mut self.has_file) {
            self.push_urgent(JournalOp::Remove);
        }
    }

    /// Keeps the journal of an earlier run until the save `until`. Its text is already in this
    /// conversation.
    pub fn adopt(&mut self, conversation: ConversationSeq, until: SaveSeq, journal: Journal) {
        self.detached.push((conversation, until, journal));
    }

    /// Continues the journal of an earlier run with the turns of this conversation. Returns the
    /// journal if another one is in use.
    pub fn continue_journal(
        &mut self,
        conversation: ConversationSeq,
        journal: Journal,
    ) -> Result<(), Journal> {
        self.detach_journal(conversation);
        if !self.is_idle() || self.has_file {
            return Err(journal);
        }
        self.journal = Some(journal);
        self.has_file = true;
        Ok(())
    }

    /// Removes the journals that waited for this save.
    pub fn handle_session_saved(&mut self, conversation: ConversationSeq, save: SaveSeq) {
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
            // Nothing depends on the removal, so nothing waits for it.
            tokio::task::spawn_blocking(|| {
                saved
                    .into_iter()
                    .for_each(|(_, _, journal)| journal.remove());
            });
        }
    }

    /// Whether the end of a turn is being held back.
    pub fn is_holding_events(&self) -> bool {
        self.hold_deadline.is_some()
    }

    /// Whether there is nothing left to write.
    pub fn is_idle(&self) -> bool {
        self.running_write.is_none() && self.ops.is_empty()
    }

    /// Whether a journal on disk has the answer that this save contains. A journal lacks other
    /// changes, such as a new title.
    pub fn contains(&self, conversation: ConversationSeq, save: SaveSeq) -> bool {
        let is_in_open = self.journal.is_some()
            && (self.conversation, self.needed_until) == (conversation, Some(save));
        let mut detached = self.detached.iter();
        let is_in_any = is_in_open
            || detached.any(|(owner, until, _)| (*owner, *until) == (conversation, save));
        self.is_idle() && is_in_any
    }

    /// Retries a failed write now instead of after a pause.
    pub fn retry_now(&mut self) {
        self.write_at = (!self.ops.is_empty()).then(Instant::now);
    }

    fn push_urgent(&mut self, op: JournalOp) {
        self.ops.push_back(op);
        self.write_at = Some(Instant::now());
    }

    /// Starts writes when they are due, and waits until one finishes or takes too long.
    /// Cancel-safe.
    pub async fn next_event(&mut self) -> JournalEvent {
        loop {
            let write_at = self.write_at.filter(|_| self.running_write.is_none());
            let wake_at = [write_at, self.hold_deadline].into_iter().flatten().min();
            let running_write = self.running_write.as_mut();
            let timer = sleep_until(wake_at.unwrap_or_else(Instant::now));
            tokio::select! {
                result = async { match running_write {
                    Some(write) => write.await,
                    None => std::future::pending().await,
                }} => {
                    self.running_write = None;
                    return match result {
                        Ok(written) => self.finish_write(written),
                        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                    };
                }
                () = timer, if wake_at.is_some() => {
                    let now = Instant::now();
                    if write_at.is_some_and(|write_at| write_at <= now) {
                        self.start_write();
                    } else if self.hold_deadline.take_if(|deadline| *deadline <= now).is_some() {
                        return JournalEvent::Slow;
                    }
                }
            }
        }
    }

    fn start_write(&mut self) {
        self.write_at = None;
        let (ops, journal) = (std::mem::take(&mut self.ops), self.journal.take());
        let (journals, now) = (Arc::clone(&self.journals), Instant::now());
        let is_text = |op: &JournalOp| matches!(op, JournalOp::Write(JournalRecord::Text { .. }));
        let is_sync_due = self
            .last_sync_at
            .is_none_or(|synced_at| now >= synced_at + SYNC_INTERVAL);
        let must_sync = is_sync_due || !ops.iter().all(is_text);
        if must_sync {
            self.last_sync_at = Some(now);
        }
        self.running_write = Some(tokio::task::spawn_blocking(move || {
            write(&journals, journal, ops, must_sync)
        }));
    }

    fn finish_write(&mut self, written: JournalWriteResult) -> JournalEvent {
        self.journal = written.journal;
        self.detached.extend(written.detached);
        let error = written.result.err();
        for op in written.remaining_ops.into_iter().rev() {
            self.ops.push_front(op);
        }
        if error.is_some() && !self.ops.is_empty() {
            self.write_at = Some(Instant::now() + RETRY_DELAY);
        }
        let is_answer =
            |op: &JournalOp| matches!(op, JournalOp::Write(JournalRecord::Answer { .. }));
        if error.is_some() || !self.ops.iter().any(is_answer) {
            self.hold_deadline = None;
        }
        error.map_or(JournalEvent::Written, JournalEvent::Failed)
    }
}

/// Carries out operations until one fails.
fn write(
    journals: &Journals,
    mut journal: Option<Journal>,
    mut ops: VecDeque<JournalOp>,
    must_sync: bool,
) -> JournalWriteResult {
    let mut detached = Vec::new();
    let mut result = Ok(());
    while let Some(op) = ops.pop_front() {
        let op_result = match (&op, &mut journal) {
            (JournalOp::Write(record), Some(journal)) => journal.append(record),
            (JournalOp::Write(record @ JournalRecord::Turn { .. }), slot) => journals
                .create(record, &Zoned::now())
                .map(|created| *slot = Some(created)),
            (JournalOp::Write(_), None) => Ok(()),
            (JournalOp::SaveAttachments(store, attachments), _) => store.save(attachments),
            (JournalOp::Remove, slot) => {
                slot.take().into_iter().for_each(Journal::remove);
                Ok(())
            }
            (JournalOp::Detach(conversation, until), slot) => {
                detached.extend(slot.take().map(|journal| (*conversation, *until, journal)));
                Ok(())
            }
        };
        if op_result.is_err() {
            result = op_result;
            ops.push_front(op);
            break;
        }
    }
    if let (Ok(()), true, Some(journal)) = (&result, must_sync, &journal) {
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
