//! Writes sessions, one at a time, off the actor: a slow disk delays neither a
//! frame nor an interrupt, and two saves of one session never pass each other. What
//! the disk refuses is kept and tried again, ever more seldom.

use crate::domain::{Session, SessionId};
use crate::store::{SessionStore, StoreError};
use jiff::Zoned;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// How long a disk that refused is left alone at first, and at most.
const DELAY_MIN: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(60);

/// Tells conversations apart before they have a file. A new number with each one
/// that is begun or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ConversationSeq(pub u64);

/// Numbers saves in the order in which they were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SaveSeq(u64);

impl SaveSeq {
    /// No save comes as late.
    pub const NEVER: Self = Self(u64::MAX);
}

#[derive(Debug)]
pub struct SaveOutcome {
    pub conversation: ConversationSeq,
    pub save: SaveSeq,
    pub result: Result<SessionId, StoreError>,
    /// Someone else changed the file meanwhile: this is a fork of it.
    pub fork_of: Option<SessionId>,
}

struct QueuedSave {
    conversation: ConversationSeq,
    save: SaveSeq,
    session: Session,
}

pub struct SessionWriter {
    sessions: Arc<SessionStore>,
    queue: VecDeque<QueuedSave>,
    writing: Option<JoinHandle<(SaveOutcome, QueuedSave)>>,
    ids: HashMap<ConversationSeq, SessionId>,
    /// When the first answer of each conversation without a file yet ended: its name
    /// says that, however late the disk takes it.
    first_answer_at: HashMap<ConversationSeq, Zoned>,
    last_save: u64,
    /// The disk refused: nothing is tried before.
    retry_at: Option<Instant>,
    delay: Duration,
}

impl SessionWriter {
    pub fn new(sessions: Arc<SessionStore>) -> Self {
        Self {
            sessions,
            queue: VecDeque::new(),
            writing: None,
            ids: HashMap::new(),
            first_answer_at: HashMap::new(),
            last_save: 0,
            retry_at: None,
            delay: DELAY_MIN,
        }
    }

    /// Saves this state of a conversation, after what is being written now. A disk
    /// that refused before is tried at once.
    pub fn save(&mut self, epoch: ConversationSeq, session: Session) -> SaveSeq {
        let ticket = self.next_save();
        self.last_save += 1;
        self.first_answer_at.entry(epoch).or_insert_with(Zoned::now);
        self.queue.retain(|waiting| waiting.conversation != epoch);
        self.queue.push_back(QueuedSave {
            conversation: epoch,
            save: ticket,
            session,
        });
        self.retry_now();
        ticket
    }

    /// The ticket of the next save.
    pub fn next_save(&self) -> SaveSeq {
        SaveSeq(self.last_save + 1)
    }

    /// Tries what the disk refused.
    pub fn retry_now(&mut self) {
        self.retry_at = None;
        self.start();
    }

    fn start(&mut self) {
        if self.writing.is_some() || self.retry_at.is_some() {
            return;
        }
        let Some(mut waiting) = self.queue.pop_front() else {
            return;
        };
        // A save before this one may have made the file, or a fork of it.
        if let Some(id) = self.ids.get(&waiting.conversation) {
            waiting.session.id = Some(id.clone());
        }
        let sessions = Arc::clone(&self.sessions);
        let ended = match (
            &waiting.session.id,
            self.first_answer_at.get(&waiting.conversation),
        ) {
            (None, Some(ended)) => ended.clone(),
            // A fork that a conflict makes is as old as the conflict.
            _ => Zoned::now(),
        };
        self.writing = Some(tokio::task::spawn_blocking(move || {
            (write(&sessions, &waiting, &ended), waiting)
        }));
    }

    /// Waits for the write under way; pending for ever where there is none. Safe
    /// to drop while it waits.
    pub async fn next_saved(&mut self) -> SaveOutcome {
        loop {
            if let Some(writing) = &mut self.writing {
                let written = writing.await;
                self.writing = None;
                return match written {
                    Ok((saved, waiting)) => self.finish_write(saved, waiting),
                    Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                };
            }
            match self.retry_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
            self.retry_now();
        }
    }

    fn finish_write(&mut self, saved: SaveOutcome, waiting: QueuedSave) -> SaveOutcome {
        match &saved.result {
            Ok(id) => {
                self.ids.insert(saved.conversation, id.clone());
                self.delay = DELAY_MIN;
            }
            Err(_) => {
                let newer = |other: &QueuedSave| other.conversation == waiting.conversation;
                if !self.queue.iter().any(newer) {
                    self.queue.push_front(waiting);
                }
                self.retry_at = Some(Instant::now() + self.delay);
                self.delay = (self.delay * 2).min(DELAY_MAX);
            }
        }
        self.start();
        saved
    }

    /// Has everything been tried that was asked for?
    pub fn is_idle(&self) -> bool {
        self.writing.is_none() && (self.queue.is_empty() || self.retry_at.is_some())
    }

    /// What the disk refused.
    pub fn into_unsaved(self) -> Vec<Session> {
        let waiting = self.queue.into_iter();
        waiting.map(|waiting| waiting.session).collect()
    }
}

fn write(sessions: &SessionStore, waiting: &QueuedSave, ended: &Zoned) -> SaveOutcome {
    let session = &waiting.session;
    let create = || sessions.create(session, ended);
    let (result, fork_of) = match &session.id {
        None => (create(), None),
        Some(id) => match sessions.save(session) {
            Ok(()) => (Ok(id.clone()), None),
            // A file that was changed or broken meanwhile is not ours to replace.
            Err(StoreError::ChangedElsewhere(_) | StoreError::Unreadable { .. }) => {
                (create(), Some(id.clone()))
            }
            Err(fault) => (Err(fault), None),
        },
    };
    SaveOutcome {
        conversation: waiting.conversation,
        save: waiting.save,
        result,
        fork_of,
    }
}

#[cfg(test)]
mod tests;
