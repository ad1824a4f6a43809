//! State needed to draw a chat row, in addition to the entry itself.

use crate::domain::CallId;
use crate::tui::chat::timing::TurnTiming;
use std::collections::HashMap;
use std::time::Duration;

pub struct RowContext<'a> {
    pub now: Duration,
    pub timing: &'a TurnTiming,
    /// The number of undrawn rows of each call that ran before all its arguments were drawn.
    pub undrawn_rows: &'a HashMap<CallId, usize>,
    /// The call that the open dialog is about.
    pub asked_call: Option<CallId>,
    /// The calls decided so far in the open dialog, and whether they will run.
    pub decided_calls: &'a [(CallId, bool)],
    /// The name of the key that asks the last prompt again.
    pub ask_again_key: Option<&'a str>,
    /// The name of the key that continues an incomplete answer.
    pub continue_key: Option<&'a str>,
    /// The name of the key that drops a turn whose answer was stopped.
    pub drop_key: Option<&'a str>,
    /// Whether to mark the rows of the selected stop, because the pane has the focus.
    pub marks_stop: bool,
}
