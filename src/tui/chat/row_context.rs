//! What rows of the chat need to know beside their entry.

use crate::domain::CallId;
use crate::tui::chat::timing::TurnTiming;
use std::collections::HashMap;
use std::time::Duration;

pub struct RowContext<'a> {
    pub now: Duration,
    pub timing: &'a TurnTiming,
    /// Calls that were run unread, with the rows that were not drawn.
    pub undrawn_rows: &'a HashMap<CallId, usize>,
    /// The line that keys act on, where the pane has the focus.
    pub selected: Option<usize>,
}
