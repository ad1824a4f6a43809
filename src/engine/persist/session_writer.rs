//! Writes sessions, one at a time, off the actor: a slow disk delays neither a
//! frame nor an interrupt, and two saves of one session never pass each other. What
//! the disk refuses is kept and tried again, ever more seldom.

use crate::domain::{Session, SessionId};
use crate::store::{Sessions, StoreError};
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
pub struct Epoch(pub u64);

/// Numbers saves in the order in which they were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Ticket(u64);

impl Ticket {
    /// No save comes as late.
    pub const NEVER: Self = Self(u64::MAX);
}

#[derive(Debug)]
pub struct Saved {
    pub epoch: Epoch,
    pub ticket: Ticket,
    pub result: Result<SessionId, StoreError>,
    /// Someone else changed the file meanwhile: this is a fork of it.
    pub fork_of: Option<SessionId>,
}

struct Waiting {
    epoch: Epoch,
    ticket: Ticket,
    session: Session,
}

pub struct SessionWriter {
    sessions: Arc<Sessions>,
    waiting: VecDeque<Waiting>,
    writing: Option<JoinHandle<(Saved, Waiting)>>,
    ids: HashMap<Epoch, SessionId>,
    /// When the first answer of each conversation without a file yet ended: its name
    /// says that, however late the disk takes it.
    ended: HashMap<Epoch, Zoned>,
    tickets: u64,
    /// The disk refused: nothing is tried before.
    retry: Option<Instant>,
    delay: Duration,
}

impl SessionWriter {
    pub fn new(sessions: Arc<Sessions>) -> Self {
        Self {
            sessions,
            waiting: VecDeque::new(),
            writing: None,
            ids: HashMap::new(),
            ended: HashMap::new(),
            tickets: 0,
            retry: None,
            delay: DELAY_MIN,
        }
    }

    /// Saves this state of a conversation, after what is being written now. A disk
    /// that refused before is tried at once.
    pub fn save(&mut self, epoch: Epoch, session: Session) -> Ticket {
        let ticket = self.next_ticket();
        self.tickets += 1;
        self.ended.entry(epoch).or_insert_with(Zoned::now);
        self.waiting.retain(|waiting| waiting.epoch != epoch);
        self.waiting.push_back(Waiting {
            epoch,
            ticket,
            session,
        });
        self.try_now();
        ticket
    }

    /// The ticket of the next save.
    pub fn next_ticket(&self) -> Ticket {
        Ticket(self.tickets + 1)
    }

    /// Tries what the disk refused.
    pub fn try_now(&mut self) {
        self.retry = None;
        self.start();
    }

    fn start(&mut self) {
        if self.writing.is_some() || self.retry.is_some() {
            return;
        }
        let Some(mut waiting) = self.waiting.pop_front() else {
            return;
        };
        // A save before this one may have made the file, or a fork of it.
        if let Some(id) = self.ids.get(&waiting.epoch) {
            waiting.session.id = Some(id.clone());
        }
        let sessions = Arc::clone(&self.sessions);
        let ended = match (&waiting.session.id, self.ended.get(&waiting.epoch)) {
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
    pub async fn saved(&mut self) -> Saved {
        loop {
            if let Some(writing) = &mut self.writing {
                let written = writing.await;
                self.writing = None;
                return match written {
                    Ok((saved, waiting)) => self.written(saved, waiting),
                    Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                };
            }
            match self.retry {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
            self.try_now();
        }
    }

    fn written(&mut self, saved: Saved, waiting: Waiting) -> Saved {
        match &saved.result {
            Ok(id) => {
                self.ids.insert(saved.epoch, id.clone());
                self.delay = DELAY_MIN;
            }
            Err(_) => {
                let newer = |other: &Waiting| other.epoch == waiting.epoch;
                if !self.waiting.iter().any(newer) {
                    self.waiting.push_front(waiting);
                }
                self.retry = Some(Instant::now() + self.delay);
                self.delay = (self.delay * 2).min(DELAY_MAX);
            }
        }
        self.start();
        saved
    }

    /// Has everything been tried that was asked for?
    pub fn is_idle(&self) -> bool {
        self.writing.is_none() && (self.waiting.is_empty() || self.retry.is_some())
    }

    /// What the disk refused.
    pub fn unsaved(self) -> Vec<Session> {
        let waiting = self.waiting.into_iter();
        waiting.map(|waiting| waiting.session).collect()
    }
}

fn write(sessions: &Sessions, waiting: &Waiting, ended: &Zoned) -> Saved {
    let session = &waiting.session;
    let create = || sessions.create(session, ended);
    let (result, fork_of) = match &session.id {
        None => (create(), None),
        Some(id) => match sessions.save(session) {
            Ok(()) => (Ok(id.clone()), None),
            // A file that was changed or broken meanwhile is not ours to replace.
            Err(StoreError::ChangedElsewhere(_) | StoreError::Broken { .. }) => {
                (create(), Some(id.clone()))
            }
            Err(fault) => (Err(fault), None),
        },
    };
    Saved {
        epoch: waiting.epoch,
        ticket: waiting.ticket,
        result,
        fork_of,
    }
}

#[cfg(test)]
mod tests;
