//! Personas: alternative system prompts, each optionally with its own set of tools.

use super::OfferedTool;
use serde::Serialize;

/// A system prompt that replaces `system_prompt.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// The name the user selects; raw if it comes from a file name.
    pub name: String,
    /// A one-line description, raw.
    pub about: String,
    /// The text without front matter, or the reason it is unusable.
    pub text: Result<String, String>,
    /// The tools offered; `None` means all.
    pub tools: Option<Vec<ToolName>>,
}

/// A tool as a persona names it: `tool` or `server/tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolName {
    pub server: Option<String>,
    pub tool: String,
}

/// A persona in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaSummary {
    pub name: String,
    /// The description, or the reason it is unusable.
    pub about: String,
    pub usable: bool,
}

impl Persona {
    pub fn summary(&self) -> PersonaSummary {
        PersonaSummary {
            name: self.name.clone(),
            about: match &self.text {
                Ok(_) => self.about.clone(),
                Err(why) => format!("cannot be used: {why}"),
            },
            usable: self.text.is_ok(),
        }
    }

    /// Whether the persona allows this tool.
    pub fn offers(&self, offered: &OfferedTool) -> bool {
        let Some(tools) = &self.tools else {
            return true;
        };
        tools.iter().any(|name| name.means(offered))
    }
}

impl ToolName {
    /// Parses `tool` or `server/tool`; `None` if a part is empty.
    pub fn parse(written: &str) -> Option<Self> {
        let (server, tool) = match written.split_once('/') {
            Some((server, tool)) => (Some(server.trim()), tool.trim()),
            None => (None, written.trim()),
        };
        let whole = !tool.is_empty() && server != Some("");
        whole.then(|| Self {
            server: server.map(str::to_owned),
            tool: tool.to_owned(),
        })
    }

    pub fn means(&self, offered: &OfferedTool) -> bool {
        let server = self.server.as_deref();
        self.tool == offered.tool.name
            && server.is_none_or(|server| server == offered.server.as_str())
    }

    /// The spelling in the persona's file.
    pub fn written(&self) -> String {
        match &self.server {
            Some(server) => format!("{server}/{}", self.tool),
            None => self.tool.clone(),
        }
    }
}
