//! Writes sessions one at a time in the background, so a slow disk delays neither a frame nor
//! an interrupt, and an older state of a session never replaces a newer one. Failed saves are
//! kept and retried with backoff, and do not delay the saves of other conversations.

use crate::domain::session::SessionChoices;
use crate::domain::{Session, SessionId};
use crate::store::{SavedChoices, SessionStore, StoreError};
use jiff::Zoned;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// The pause before the first retry. It doubles with each further one, up to the maximum.
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
    /// `None` if nothing was saved.
    pub choices: Option<SavedChoices>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct QueuedSave {
    pub conversation: ConversationSeq,
    pub save: SaveSeq,
    pub session: Arc<Session>,
    /// The user's choices as last read from the file.
    pub read: SessionChoices,
}

pub struct SessionWriter {
    sessions: Arc<SessionStore>,
    /// Saves that have not been attempted yet, or are being retried.
    queue: VecDeque<QueuedSave>,
    /// Failed saves, which wait for the next retry.
    failed: VecDeque<QueuedSave>,
    running_write: Option<(QueuedSave, JoinHandle<SaveOutcome>)>,
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
            failed: VecDeque::new(),
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
    pub fn save(
        &mut self,
        conversation: ConversationSeq,
        session: Session,
        read: SessionChoices,
    ) -> SaveSeq {
        let save = self.next_save();
        self.last_save += 1;
        self.first_answer_at
            .entry(conversation)
            .or_insert_with(Zoned::now);
        for saves in [&mut self.queue, &mut self.failed] {
            saves.retain(|queued| queued.conversation != conversation);
        }
        self.queue.push_back(QueuedSave {
            conversation,
            save,
            session: Arc::new(session),
            read,
        });
        self.retry_now();
        save
    }

    pub fn next_save(&self) -> SaveSeq {
        SaveSeq(self.last_save + 1)
    }

    /// Retries failed saves now, after those that have not been attempted yet.
    pub fn retry_now(&mut self) {
        self.retry_at = None;
        self.queue.append(&mut self.failed);
        self.start_write();
    }

    fn start_write(&mut self) {
        if self.running_write.is_some() {
            return;
        }
        let Some(mut queued) = self.queue.pop_front() else {
            return;
        };
        // An earlier save may have created the file, or a fork of it.
        if let Some(id) = self.ids.get(&queued.conversation) {
            Arc::make_mut(&mut queued.session).id = Some(id.clone());
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
        let written = queued.clone();
        let write = move || write(&sessions, &written, &created_at);
        self.running_write = Some((queued, tokio::task::spawn_blocking(write)));
    }

    /// Waits for the result of the next write, including retries; pending forever if nothing is
    /// queued. Cancel-safe.
    pub async fn next_saved(&mut self) -> SaveOutcome {
        loop {
            if let Some((queued, write)) = &mut self.running_write {
                let result = write.await;
                let queued = queued.clone();
                self.running_write = None;
                return match result {
                    Ok(outcome) => self.finish_write(outcome, queued),
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
                    self.failed.push_back(queued);
                }
            }
        }
        // One conversation may fail for a reason of its own, so the others are attempted first.
        self.start_write();
        if self.is_idle() && !self.failed.is_empty() {
            self.retry_at = Some(Instant::now() + self.retry_delay);
            self.retry_delay = (self.retry_delay * 2).min(RETRY_DELAY_MAX);
        }
        outcome
    }

    /// Whether no write is running or due. Saves behind a failed one wait for its retry.
    pub fn is_idle(&self) -> bool {
        self.running_write.is_none() && self.queue.is_empty()
    }

    /// The saves that failed, are still running or were not attempted.
    pub fn into_unsaved(self) -> Vec<QueuedSave> {
        let running = self.running_write.map(|(queued, _)| queued);
        let mut unsaved: Vec<_> = self.queue.into_iter().chain(self.failed).collect();
        // A newer state of the conversation may be queued.
        let running = running.filter(|running| {
            let mut saves = unsaved.iter();
            !saves.any(|queued| queued.conversation == running.conversation)
        });
        unsaved.extend(running);
        unsaved
    }
}

/// Saves a session, in a new file named after `created_at` if it has none or its file must not be
/// replaced.
fn write(sessions: &SessionStore, queued: &QueuedSave, created_at: &Zoned) -> SaveOutcome {
    let session = &queued.session;
    let create = || sessions.create(session, created_at);
    let created = SavedChoices::unchanged(session.metadata.choices());
    let (result, fork_of, choices) = match &session.id {
        None => (create(), None, created),
        Some(id) => match sessions.save_since(session, &queued.read) {
            Ok(choices) => (Ok(id.clone()), None, choices),
            // A file that another program changed, or that is unreadable, must not be replaced.
            Err(StoreError::ChangedElsewhere(_) | StoreError::Unreadable { .. }) => {
                (create(), Some(id.clone()), created)
            }
            Err(error) => (Err(error), None, created),
        },
    };
    SaveOutcome {
        conversation: queued.conversation,
        save: queued.save,
        choices: result.is_ok().then_some(choices),
        result,
        fork_of,
    }
}

#[cfg(test)]
mod tests;
