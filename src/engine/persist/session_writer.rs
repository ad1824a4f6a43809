//! Writes sessions one at a time, off the actor: a slow disk delays neither a frame nor an
//! interrupt, and two saves of one session never overtake each other. Failed saves are kept
//! and retried with backoff.

use crate::domain::{Session, SessionId};
use crate::store::{SessionStore, StoreError};
use jiff::Zoned;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// The pause after a failed save, at first and at most.
const DELAY_MIN: Duration = Duration::from_secs(1);
const DELAY_MAX: Duration = Duration::from_secs(60);

/// Identifies conversations before they have a file. Each one that is started or opened gets a
/// new number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ConversationSeq(pub u64);

/// Numbers saves in the order of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SaveSeq(u64);

impl SaveSeq {
    /// Later than any save.
    pub const NEVER: Self = Self(u64::MAX);
}

#[derive(Debug)]
pub struct SaveOutcome {
    pub conversation: ConversationSeq,
    pub save: SaveSeq,
    pub result: Result<SessionId, StoreError>,
    /// Another program changed the file, so a fork of it was saved.
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
    /// When the first answer of each conversation without a file ended. The file name contains
    /// this time, however late the disk accepts it.
    first_answer_at: HashMap<ConversationSeq, Zoned>,
    last_save: u64,
    /// A save failed; there is no attempt before this time.
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

    /// Saves this state of a conversation after the running write. A failed save is retried at
    /// once.
    pub fn save(&mut self, conversation: ConversationSeq, session: Session) -> SaveSeq {
        let save = self.next_save();
        self.last_save += 1;
        self.first_answer_at
            .entry(conversation)
            .or_insert_with(Zoned::now);
        self.queue
            .retain(|queued| queued.conversation != conversation);
        self.queue.push_back(QueuedSave {
            conversation,
            save,
            session,
        });
        self.retry_now();
        save
    }

    /// The number of the next save.
    pub fn next_save(&self) -> SaveSeq {
        SaveSeq(self.last_save + 1)
    }

    /// Retries failed saves now.
    pub fn retry_now(&mut self) {
        self.retry_at = None;
        self.start();
    }

    fn start(&mut self) {
        if self.writing.is_some() || self.retry_at.is_some() {
            return;
        }
        let Some(mut queued) = self.queue.pop_front() else {
            return;
        };
        // An earlier save may have created the file, or a fork of it.
        if let Some(id) = self.ids.get(&queued.conversation) {
            queued.session.id = Some(id.clone());
        }
        let sessions = Arc::clone(&self.sessions);
        let ended = match (
            &queued.session.id,
            self.first_answer_at.get(&queued.conversation),
        ) {
            (None, Some(ended)) => ended.clone(),
            // A fork made by a conflict is dated by the conflict.
            _ => Zoned::now(),
        };
        self.writing = Some(tokio::task::spawn_blocking(move || {
            (write(&sessions, &queued, &ended), queued)
        }));
    }

    /// Waits for the running write; pending forever without one. Cancel-safe.
    pub async fn next_saved(&mut self) -> SaveOutcome {
        loop {
            if let Some(writing) = &mut self.writing {
                let written = writing.await;
                self.writing = None;
                return match written {
                    Ok((saved, queued)) => self.finish_write(saved, queued),
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

    fn finish_write(&mut self, saved: SaveOutcome, queued: QueuedSave) -> SaveOutcome {
        match &saved.result {
            Ok(id) => {
                self.ids.insert(saved.conversation, id.clone());
                self.delay = DELAY_MIN;
            }
            Err(_) => {
                let newer = |other: &QueuedSave| other.conversation == queued.conversation;
                if !self.queue.iter().any(newer) {
                    self.queue.push_front(queued);
                }
                self.retry_at = Some(Instant::now() + self.delay);
                self.delay = (self.delay * 2).min(DELAY_MAX);
            }
        }
        self.start();
        saved
    }

    /// Whether every requested save was attempted.
    pub fn is_idle(&self) -> bool {
        self.writing.is_none() && (self.queue.is_empty() || self.retry_at.is_some())
    }

    /// The sessions whose saves failed.
    pub fn into_unsaved(self) -> Vec<Session> {
        let queued = self.queue.into_iter();
        queued.map(|queued| queued.session).collect()
    }
}

fn write(sessions: &SessionStore, queued: &QueuedSave, ended: &Zoned) -> SaveOutcome {
    let session = &queued.session;
    let create = || sessions.create(session, ended);
    let (result, fork_of) = match &session.id {
        None => (create(), None),
        Some(id) => match sessions.save(session) {
            Ok(()) => (Ok(id.clone()), None),
            // A file that another program changed or corrupted must not be replaced.
            Err(StoreError::ChangedElsewhere(_) | StoreError::Unreadable { .. }) => {
                (create(), Some(id.clone()))
            }
            Err(fault) => (Err(fault), None),
        },
    };
    SaveOutcome {
        conversation: queued.conversation,
        save: queued.save,
        result,
        fork_of,
    }
}

#[cfg(test)]
mod tests;
