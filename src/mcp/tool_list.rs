//! The result of `tools/list`.

use crate::domain::Tool;

/// The tools of a server, and one line for each that was omitted.
pub struct ListedTools {
    pub tools: Vec<Tool>,
    pub omitted: Vec<String>,
}
