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
    pub description: String,
    /// The text without its front matter, or why there is none.
    pub text: Result<String, String>,
    /// The tools that are offered, where it names any; else all are.
    pub tools: Option<Vec<ToolSelector>>,
}

/// A tool as a persona names it: `tool`, or `server/tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSelector {
    pub server: Option<String>,
    pub tool: String,
}

/// A persona as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaSummary {
    pub name: String,
    /// What it is, or why it cannot be used.
    #[serde(rename = "about")]
    pub description: String,
    #[serde(rename = "usable")]
    pub is_usable: bool,
}

impl Persona {
    pub fn summary(&self) -> PersonaSummary {
        PersonaSummary {
            name: self.name.clone(),
            description: match &self.text {
                Ok(_) => self.description.clone(),
                Err(why) => format!("cannot be used: {why}"),
            },
            is_usable: self.text.is_ok(),
        }
    }

    /// Does this persona let the model have the tool?
    pub fn allows_tool(&self, offered: &OfferedTool) -> bool {
        let Some(tools) = &self.tools else {
            return true;
        };
        tools.iter().any(|name| name.matches(offered))
    }
}

impl ToolSelector {
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
    pub fn matches(&self, offered: &OfferedTool) -> bool {
        let server = self.server.as_deref();
        self.tool == offered.tool.name
            && server.is_none_or(|server| server == offered.server.as_str())
    }

    /// As the file spells it.
    pub fn qualified_name(&self) -> String {
        match &self.server {
            Some(server) => format!("{server}/{}", self.tool),
            None => self.tool.clone(),
        }
    }
}
