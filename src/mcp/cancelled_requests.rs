//! Requests that were cancelled lately, to notice a server that goes on working on one.

use crate::sync::lock_ignoring_poison;
use rmcp::model::RequestId;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const REMEMBERED_MAX: usize = 64;
/// An answer this soon after the cancellation crossed it on the way.
const LATE_AFTER: Duration = Duration::from_secs(1);
/// A cancellation takes less time to be written.
const RECENT: Duration = Duration::from_millis(100);

/// With the tool and the time of each, the oldest first.
#[derive(Debug, Default)]
pub struct CancelledRequests(Mutex<VecDeque<(RequestId, String, Instant)>>);

impl CancelledRequests {
    pub fn add(&self, request: RequestId, tool: String) {
        let mut cancelled = lock_ignoring_poison(&self.0);
        if cancelled.len() == REMEMBERED_MAX {
            cancelled.pop_front();
        }
        cancelled.push_back((request, tool, Instant::now()));
    }

    /// Was one added so lately that the server may not have been told?
    pub fn has_recent(&self) -> bool {
        let cancelled = lock_ignoring_poison(&self.0);
        let last = cancelled.back();
        last.is_some_and(|(.., since)| since.elapsed() < RECENT)
    }

    /// The tool of a cancelled request that is answered all the same, too late for the two to have
    /// crossed.
    pub fn take_late(&self, answered: &RequestId) -> Option<String> {
        let mut cancelled = lock_ignoring_poison(&self.0);
        let index = cancelled.iter().position(|(id, ..)| id == answered)?;
        let (_, tool, since) = cancelled.remove(index)?;
        (since.elapsed() > LATE_AFTER).then_some(tool)
    }
}
