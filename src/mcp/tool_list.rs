//! What a server answered to `tools/list`.

use crate::domain::Tool;

/// The tools of a server, and a line for each that was left out.
pub struct ListedTools {
    pub tools: Vec<Tool>,
    pub omitted: Vec<String>,
}
