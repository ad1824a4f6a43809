//! The calls whose tasks go on when the call is dropped.

use crate::domain::CallId;
use crate::sync::lock_ignoring_poison;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct KeptTasks(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    keeps_all: bool,
    calls: HashSet<CallId>,
}

impl KeptTasks {
    /// From now on, no dropped call cancels its task.
    pub fn keep_all(&self) {
        lock_ignoring_poison(&self.0).keeps_all = true;
    }

    /// Dropping this call does not cancel its task.
    pub fn keep(&self, call: CallId) {
        lock_ignoring_poison(&self.0).calls.insert(call);
    }

    /// Removes a dropped call. Returns whether its task goes on.
    pub fn take(&self, call: CallId) -> bool {
        let mut kept = lock_ignoring_poison(&self.0);
        kept.calls.remove(&call) || kept.keeps_all
    }
}
