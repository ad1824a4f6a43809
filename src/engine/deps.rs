//! Dependencies and options of the engine.

use crate::config::Home;
use crate::domain::{Banner, ModelConfig, SecretRegistry, ServerId, ToolMode};
use crate::mcp::ProcessGroups;
use crate::ports::{LocalServer, NoteService};
use crate::protocol::LogLine;
use crate::provider::Provider;
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct EngineDeps {
    pub home: Home,
    /// The banners from [`Home::prepare`].
    pub banners: Vec<Banner>,
    pub provider: Provider,
    pub built_in_server: Arc<dyn LocalServer>,
    /// Notes for the note agents.
    pub notes: Arc<dyn NoteService>,
    /// The process groups of MCP servers. The caller keeps a clone to kill them if the engine
    /// does not respond.
    pub process_groups: ProcessGroups,
    /// Receives the secrets of the settings, which are removed from all that comes from servers.
    pub secrets: SecretRegistry,
    /// The log, if there is one, and its lines for the log pane.
    pub log: Option<(crate::log::LogHandle, mpsc::Receiver<LogLine>)>,
    pub options: EngineOptions,
}

/// Options from the command line, which override the settings files.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    pub model: Option<String>,
    pub tool_mode: Option<ToolMode>,
    pub persona: Option<String>,
    /// Watch the settings files for edits.
    pub watch: bool,
    /// Start no server and offer no tools.
    pub no_tools: bool,
    /// Save nothing for later runs: no sessions, prompt history, journals or left tasks.
    pub no_save: bool,
    /// If the settings list no models, discover some and offer them.
    pub offers_models: bool,
    /// Answer one prompt and end (`humble ask`). The prompt is not added to the history, and nothing
    /// that earlier runs left is offered, such as unfinished turns.
    pub is_one_shot: bool,
    /// Tools that may run without asking until the program ends, by server and name.
    pub allowed_tools: Vec<(ServerId, String)>,
    /// The session to open at startup; `None` for a new one.
    pub initial_session: Option<InitialSession>,
    /// Replaces all models of `config.json`, as in the demo.
    pub model_override: Option<ModelConfig>,
}

/// The session selected on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitialSession {
    /// The most recently changed session.
    Latest,
    /// A file name, a title, or a part of either.
    Named(String),
}
