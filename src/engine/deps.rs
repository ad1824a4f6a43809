//! What the engine is built from.

use crate::config::Home;
use crate::domain::{Banner, ModelConfig, ServerId, ToolMode};
use crate::mcp::ProcessGroups;
use crate::ports::LocalServer;
use crate::protocol::LogLine;
use crate::provider::Provider;
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct EngineDeps {
    pub home: Home,
    /// What [`Home::prepare`] had to say.
    pub banners: Vec<Banner>,
    pub provider: Provider,
    pub built_in: Arc<dyn LocalServer>,
    /// The process groups of MCP servers. Whoever starts the engine holds a clone, to end
    /// them also where the engine does not respond.
    pub process_groups: ProcessGroups,
    /// The log, where one is kept: its lines go to the log pane.
    pub log: Option<(crate::log::LogHandle, mpsc::Receiver<LogLine>)>,
    pub options: EngineOptions,
}

/// What the command line says; it beats the files.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// The name of the model to use.
    pub model: Option<String>,
    pub tool_mode: Option<ToolMode>,
    /// The name of the persona that answers.
    pub persona: Option<String>,
    /// Follow edits of the files while the program runs.
    pub watch: bool,
    /// Start no server and offer no tool.
    pub no_tools: bool,
    /// Write no session.
    pub no_save: bool,
    /// Look for models where the settings list none, and offer them.
    pub offers_models: bool,
    /// Nobody types here: one prompt, from a script perhaps, that the history leaves
    /// out, and nobody to ask about turns of before.
    pub is_one_shot: bool,
    /// Tools that run unasked in this run, by server and name.
    pub allowed_tools: Vec<(ServerId, String)>,
    /// The conversation to begin with.
    pub initial_session: Option<InitialSession>,
    /// The one model that there is, whatever `config.json` lists.
    pub model_override: Option<ModelConfig>,
}

/// The session that the command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitialSession {
    /// The one that changed last.
    Latest,
    /// By its file's name or its title, or the beginning of either.
    Named(String),
}
