//! The result of `tools/list`.

use crate::domain::Tool;

/// The tools of a server, and a line for each omitted tool that names the reason.
pub struct ListedTools {
    pub tools: Vec<Tool>,
    pub omitted: Vec<String>,
}
