//! Personas: alternative system prompts, each optionally with its own set of tools.

use super::OfferedTool;
use serde::Serialize;

/// A system prompt that replaces `system_prompt.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persona {
    /// The name by which the user selects it; unsanitized, because it may come from a file name.
    pub name: String,
    /// A one-line description, unsanitized.
    pub description: String,
    /// The prompt without its front matter, or the reason the persona is unusable.
    pub text: Result<String, String>,
    /// The tools to offer; `None` means all.
    pub tools: Option<Vec<ToolSelector>>,
}

/// A persona's reference to a tool: `tool` or `server/tool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSelector {
    pub server: Option<String>,
    pub tool: String,
}

/// A persona as listed for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaSummary {
    pub name: String,
    /// The description, or the reason the persona is unusable.
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

    /// All fields but the name as one text: each of them can change the model's behavior.
    pub fn as_reviewed(&self) -> String {
        let Self {
            name: _,
            description,
            text,
            tools,
        } = self;
        let tools = match tools {
            None => "all".to_owned(),
            Some(tools) => {
                let names = tools.iter().map(ToolSelector::qualified_name);
                names.collect::<Vec<_>>().join(", ")
            }
        };
        let text = match text {
            Ok(text) => text.clone(),
            Err(why) => format!("(cannot be used: {why})"),
        };
        format!("description: {description}\ntools: {tools}\n{text}")
    }

    /// Whether the persona offers this tool to the model.
    pub fn allows_tool(&self, offered: &OfferedTool) -> bool {
        let Some(tools) = &self.tools else {
            return true;
        };
        tools.iter().any(|selector| selector.matches(offered))
    }
}

impl ToolSelector {
    /// Parses `tool` or `server/tool`; `None` if a part is empty.
    pub fn parse(text: &str) -> Option<Self> {
        let (server, tool) = match text.split_once('/') {
            Some((server, tool)) => (Some(server.trim()), tool.trim()),
            None => (None, text.trim()),
        };
        let is_valid = !tool.is_empty() && server != Some("");
        is_valid.then(|| Self {
            server: server.map(str::to_owned),
            tool: tool.to_owned(),
        })
    }

    pub fn matches(&self, offered: &OfferedTool) -> bool {
        let server = self.server.as_deref();
        self.tool == offered.tool.name
            && server.is_none_or(|server| server == offered.server.as_str())
    }

    /// The name as written in the persona's file: `tool` or `server/tool`.
    pub fn qualified_name(&self) -> String {
        match &self.server {
            Some(server) => format!("{server}/{}", self.tool),
            None => self.tool.clone(),
        }
    }
}
