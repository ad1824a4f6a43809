//! The result of `tools/list`.

use crate::domain::Tool;
use std::time::Duration;

/// The tools of a server, and lines that name the omitted ones and the reasons.
pub struct ListedTools {
    pub tools: Vec<Tool>,
    pub omitted: Vec<String>,
    /// How long the list stays valid, if the server states it.
    pub ttl: Option<Duration>,
}
