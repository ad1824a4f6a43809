//! Recently cancelled requests, for detecting servers that keep working on them.

use crate::sync::lock_ignoring_poison;
use rmcp::model::RequestId;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const ENTRIES_MAX: usize = 64;
/// A response that arrives within this time of the cancellation merely crossed it in transit.
const LATE_AFTER: Duration = Duration::from_secs(1);
/// A cancellation this recent may not have been written yet.
const RECENT: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct CancelledRequests {
    /// Each request with its tool and the time of its cancellation, oldest first.
    requests: Mutex<VecDeque<(RequestId, String, Instant)>>,
    /// When the last cancellation was queued, of a request or of a task.
    last_at: Mutex<Option<Instant>>,
}

impl CancelledRequests {
    pub fn add(&self, request: RequestId, tool: String) {
        self.note_cancellation();
        let mut cancelled = lock_ignoring_poison(&self.requests);
        if cancelled.len() == ENTRIES_MAX {
            cancelled.pop_front();
        }
        cancelled.push_back((request, tool, Instant::now()));
    }

    /// Records that a cancellation has been queued.
    pub fn note_cancellation(&self) {
        *lock_ignoring_poison(&self.last_at) = Some(Instant::now());
    }

    /// Whether a cancellation was queued so recently that it may not have been written yet.
    pub fn has_recent(&self) -> bool {
        let last_at = *lock_ignoring_poison(&self.last_at);
        last_at.is_some_and(|last_at| last_at.elapsed() < RECENT)
    }

    /// Removes the entry of an answered request. Returns its tool if the answer came too late to
    /// have merely crossed the cancellation.
    pub fn take_late(&self, answered: &RequestId) -> Option<String> {
        let mut cancelled = lock_ignoring_poison(&self.requests);
        let index = cancelled.iter().position(|(id, ..)| id == answered)?;
        let (_, tool, cancelled_at) = cancelled.remove(index)?;
        (cancelled_at.elapsed() > LATE_AFTER).then_some(tool)
    }
}
