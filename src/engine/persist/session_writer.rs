//! Writes sessions one at a time in the background, so a slow disk delays neither a frame nor
//! an interrupt, and an older state of a session never replaces a newer one. Failed saves are
//! kept and retried with backoff.

use crate::domain::{Session, SessionId};
use crate::store::{SessionStore, StoreError};
use jiff::Zoned;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// The pause after the first failed save. It doubles with each failure, up to the maximum.
const RETRY_DELAY_MIN: Duration = Duration::from_secs(1);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(60);

/// Identifies a conversation, even before it has a file. Each conversation that is started or
/// opened gets a new number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ConversationSeq(pub u64);

/// Numbers saves in the order in which they were requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SaveSeq(u64);

impl SaveSeq {
    /// A save that never happens: later than all others.
    pub const NEVER: Self = Self(u64::MAX);
}

#[derive(Debug)]
pub struct SaveOutcome {
    pub conversation: ConversationSeq,
    pub save: SaveSeq,
    pub result: Result<SessionId, StoreError>,
    /// The session whose file was changed by another program or could not be read, so that a fork was
    /// saved instead.
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
    running_write: Option<JoinHandle<(SaveOutcome, QueuedSave)>>,
    /// The file of each conversation saved so far.
    ids: HashMap<ConversationSeq, SessionId>,
    /// When the first save of each conversation was requested; for a new one, this is the end of
    /// its first answer. The name of a new file contains this time even if it is written much later.
    first_answer_at: HashMap<ConversationSeq, Zoned>,
    last_save: u64,
    retry_at: Option<Instant>,
    retry_delay: Duration,
}

impl SessionWriter {
    pub fn new(sessions: Arc<SessionStore>) -> Self {
        Self {
            sessions,
            queue: VecDeque::new(),
            running_write: None,
            ids: HashMap::new(),
            first_answer_at: HashMap::new(),
            last_save: 0,
            retry_at: None,
            retry_delay: RETRY_DELAY_MIN,
        }
    }

    /// Queues a save of this state of a conversation, in place of one already queued for it. Failed
    /// saves are retried at once.
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

    pub fn next_save(&self) -> SaveSeq {
        SaveSeq(self.last_save + 1)
    }

    pub fn retry_now(&mut self) {
        self.retry_at = None;
        self.start_write();
    }

    fn start_write(&mut self) {
        if self.running_write.is_some() || self.retry_at.is_some() {
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
        let created_at = match (
            &queued.session.id,
            self.first_answer_at.get(&queued.conversation),
        ) {
            (None, Some(first_answer_at)) => first_answer_at.clone(),
            // A fork made because of a conflict gets the time of the conflict.
            _ => Zoned::now(),
        };
        self.running_write = Some(tokio::task::spawn_blocking(move || {
            (write(&sessions, &queued, &created_at), queued)
        }));
    }

    /// Waits for the result of the next write, including retries; pending forever if nothing is
    /// queued. Cancel-safe.
    pub async fn next_saved(&mut self) -> SaveOutcome {
        loop {
            if let Some(running_write) = &mut self.running_write {
                let result = running_write.await;
                self.running_write = None;
                return match result {
                    Ok((outcome, queued)) => self.finish_write(outcome, queued),
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

    fn finish_write(&mut self, outcome: SaveOutcome, queued: QueuedSave) -> SaveOutcome {
        match &outcome.result {
            Ok(id) => {
                self.ids.insert(outcome.conversation, id.clone());
                self.retry_delay = RETRY_DELAY_MIN;
            }
            Err(_) => {
                let is_newer = |other: &QueuedSave| other.conversation == queued.conversation;
                if !self.queue.iter().any(is_newer) {
                    self.queue.push_front(queued);
                }
                self.retry_at = Some(Instant::now() + self.retry_delay);
                self.retry_delay = (self.retry_delay * 2).min(RETRY_DELAY_MAX);
            }
        }
        self.start_write();
        outcome
    }

    /// Whether no write is running or due. Saves behind a failed one wait for its retry.
    pub fn is_idle(&self) -> bool {
        self.running_write.is_none() && (self.queue.is_empty() || self.retry_at.is_some())
    }

    /// The sessions whose saves failed.
    pub fn into_unsaved(self) -> Vec<Session> {
        let queued = self.queue.into_iter();
        queued.map(|queued| queued.session).collect()
    }
}

/// Saves a session, in a new file named after `created_at` if it has none or its file must not be
/// replaced.
fn write(sessions: &SessionStore, queued: &QueuedSave, created_at: &Zoned) -> SaveOutcome {
    let session = &queued.session;
    let create = || sessions.create(session, created_at);
    let (result, fork_of) = match &session.id {
        None => (create(), None),
        Some(id) => match sessions.save(session) {
            Ok(()) => (Ok(id.clone()), None),
            // A file that another program changed, or that is unreadable, must not be replaced.
            Err(StoreError::ChangedElsewhere(_) | StoreError::Unreadable { .. }) => {
                (create(), Some(id.clone()))
            }
            Err(error) => (Err(error), None),
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
