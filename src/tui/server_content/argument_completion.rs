//! Values that a server suggests for the argument being typed: when to request them, and which one
//! is selected.

use crate::domain::QueryId;
use std::sync::Arc;
use std::time::Duration;

/// Typing must pause for this long before values are requested.
const DEBOUNCE: Duration = Duration::from_millis(150);

#[derive(Debug, Default)]
pub(super) struct FieldCompletion {
    /// When to request values for the field with the focus.
    due_at: Option<Duration>,
    /// The last request. Answers to earlier ones are ignored.
    requested: Option<QueryId>,
    values: Arc<Vec<String>>,
    selected: Option<usize>,
}

impl FieldCompletion {
    /// Drops the values after the text or the focus changed. Schedules a request if `requests_again`.
    pub fn reset(&mut self, now: Duration, requests_again: bool) {
        *self = Self {
            due_at: requests_again.then(|| now + DEBOUNCE),
            ..Self::default()
        };
    }

    /// Hides the values until the text or the focus changes.
    pub fn close(&mut self) {
        *self = Self::default();
    }

    pub fn due_at(&self) -> Option<Duration> {
        self.due_at
    }

    /// Returns true once when a request is due.
    pub fn take_due(&mut self, now: Duration) -> bool {
        self.due_at.take_if(|due_at| *due_at <= now).is_some()
    }

    pub fn set_requested(&mut self, query: QueryId) {
        self.requested = Some(query);
    }

    /// Stores an answer. A single value that is already typed in full is not listed.
    pub fn handle_values(&mut self, query: QueryId, values: &Arc<Vec<String>>, typed: &str) {
        let is_typed = values.len() == 1 && values[0] == typed;
        if self.requested == Some(query) && !is_typed {
            self.values = Arc::clone(values);
        }
    }

    pub fn values(&self) -> &[String] {
        &self.values
    }

    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    pub fn select_next(&mut self) {
        let next = self.selected.map_or(0, |selected| selected + 1);
        self.selected = Some(next.min(self.values.len().saturating_sub(1)));
    }

    /// Moves up; above the first value nothing is selected. Returns whether a value was selected
    /// before.
    pub fn select_previous(&mut self) -> bool {
        let had_selection = self.selected.is_some();
        self.selected = self.selected.and_then(|selected| selected.checked_sub(1));
        had_selection
    }

    /// The selected value, or the first one if `takes_first`.
    pub fn choice(&self, takes_first: bool) -> Option<String> {
        let index = self.selected.or(takes_first.then_some(0))?;
        self.values.get(index).cloned()
    }
}
