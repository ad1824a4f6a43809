//! Which tasks go on when their call is dropped, and which may take longer.

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
    /// The calls whose tasks the user left running. No later run knows them.
    left: HashSet<CallId>,
}

impl KeptTasks {
    /// From now on, a dropped call cancels its task only if the user left that running.
    pub fn keep_all(&self) {
        lock_ignoring_poison(&self.0).keeps_all = true;
    }

    pub fn leave(&self, call: CallId) {
        lock_ignoring_poison(&self.0).left.insert(call);
    }

    pub fn is_left(&self, call: CallId) -> bool {
        lock_ignoring_poison(&self.0).left.contains(&call)
    }

    /// Removes a dropped call. Returns whether its task goes on.
    pub fn take(&self, call: CallId) -> bool {
        let mut kept = lock_ignoring_poison(&self.0);
        !kept.left.remove(&call) && kept.keeps_all
    }
}
