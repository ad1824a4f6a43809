//! Context for drawing chat rows, besides the entry itself.

use crate::domain::CallId;
use crate::tui::chat::timing::TurnTiming;
use std::collections::HashMap;
use std::time::Duration;

pub struct RowContext<'a> {
    pub now: Duration,
    pub timing: &'a TurnTiming,
    /// Calls that ran before all their rows were drawn, with the number of undrawn rows.
    pub undrawn_rows: &'a HashMap<CallId, usize>,
    /// The selected line, if the pane has the focus.
    pub selected: Option<usize>,
}
