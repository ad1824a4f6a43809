//! The result of `tools/list`.

use crate::domain::Tool;
use std::time::Duration;

/// The tools of a server, and for each omitted tool, a line that names the reason.
pub struct ListedTools {
    pub tools: Vec<Tool>,
    pub omitted: Vec<String>,
    /// How long the list stays valid, if the server states it.
    pub ttl: Option<Duration>,
}
