//! Writes sessions, one at a time, off the actor: a slow disk delays neither a
//! frame nor an interrupt, and two saves of one session never pass each other.

use crate::domain::{Session, SessionId};
use crate::store::{Sessions, StoreError};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Tells conversations apart before they have a file. A new number with each one
/// that is begun or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Epoch(pub u64);

pub struct Saved {
    pub epoch: Epoch,
    pub result: Result<SessionId, StoreError>,
    /// Someone else changed the file meanwhile: this is a fork of it (S1.5).
    pub fork_of: Option<SessionId>,
}

pub struct Saver {
    sessions: Arc<Sessions>,
    waiting: VecDeque<(Epoch, Session)>,
    writing: Option<JoinHandle<Saved>>,
    ids: HashMap<Epoch, SessionId>,
}

impl Saver {
    pub fn new(sessions: Arc<Sessions>) -> Self {
        Self {
            sessions,
            waiting: VecDeque::new(),
            writing: None,
            ids: HashMap::new(),
        }
    }

    /// Saves this state of a conversation, after what is being written now.
    pub fn save(&mut self, epoch: Epoch, session: Session) {
        self.waiting.retain(|(of, _)| *of != epoch);
        self.waiting.push_back((epoch, session));
        self.start();
    }

    fn start(&mut self) {
        if self.writing.is_some() {
            return;
        }
        let Some((epoch, mut session)) = self.waiting.pop_front() else {
            return;
        };
        // A save before this one may have made the file, or a fork of it.
        if let Some(id) = self.ids.get(&epoch) {
            session.id = Some(id.clone());
        }
        let sessions = Arc::clone(&self.sessions);
        let now = jiff::Zoned::now();
        self.writing = Some(tokio::task::spawn_blocking(move || {
            write(&sessions, epoch, &session, &now)
        }));
    }

    /// Waits for the write under way; pending for ever where there is none. Safe
    /// to drop while it waits.
    pub async fn saved(&mut self) -> Saved {
        let Some(writing) = &mut self.writing else {
            return std::future::pending().await;
        };
        let saved = writing.await;
        self.writing = None;
        match saved {
            Ok(saved) => {
                if let Ok(id) = &saved.result {
                    self.ids.insert(saved.epoch, id.clone());
                }
                self.start();
                saved
            }
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    pub fn is_idle(&self) -> bool {
        self.writing.is_none() && self.waiting.is_empty()
    }
}

fn write(sessions: &Sessions, epoch: Epoch, session: &Session, now: &jiff::Zoned) -> Saved {
    let create = || sessions.create(session, now);
    let (result, fork_of) = match &session.id {
        None => (create(), None),
        Some(id) => match sessions.save(session) {
            Ok(()) => (Ok(id.clone()), None),
            Err(StoreError::ChangedElsewhere(_)) => (create(), Some(id.clone())),
            Err(fault) => (Err(fault), None),
        },
    };
    Saved {
        epoch,
        result,
        fork_of,
    }
}
