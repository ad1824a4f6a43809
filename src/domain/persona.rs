//! Personas: system prompts of their own, each with its own set of tools where it
//! names one (S4.4).

use super::OfferedTool;
use serde::Serialize;

/// A system prompt that takes the place of `system_prompt.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// What a person picks; raw where it is the name of a file.
    pub name: String,
    /// One line that says what it is, raw.
    pub about: String,
    /// The text without its front matter, or why there is none.
    pub text: Result<String, String>,
    /// The tools that are offered, where it names any; else all are.
    pub tools: Option<Vec<ToolName>>,
}

/// A tool as a persona names it: `tool`, or `server/tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolName {
    pub server: Option<String>,
    pub tool: String,
}

/// A persona as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaSummary {
    pub name: String,
    /// What it is, or why it cannot be used.
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

    /// Does this persona let the model have the tool?
    pub fn offers(&self, offered: &OfferedTool) -> bool {
        let Some(tools) = &self.tools else {
            return true;
        };
        tools.iter().any(|name| name.means(offered))
    }
}

impl ToolName {
    /// Reads `tool` or `server/tool`; `None` where a part of it is empty.
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

    /// Is it this tool that is meant?
    pub fn means(&self, offered: &OfferedTool) -> bool {
        let server = self.server.as_deref();
        self.tool == offered.tool.name
            && server.is_none_or(|server| server == offered.server.as_str())
    }

    /// As the file spells it.
    pub fn written(&self) -> String {
        match &self.server {
            Some(server) => format!("{server}/{}", self.tool),
            None => self.tool.clone(),
        }
    }
}
