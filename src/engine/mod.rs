//! Floor 3: one background actor owns model streams, server sessions and the
//! conversation. Front ends speak to it over two channels, and share nothing else.
//!
//! `actor` is the select loop, `commands` what a front end asks (`choosing` models,
//! modes and servers, `conversation` sessions), `perform` runs the turn's effects;
//! `asking` puts questions that are not the turn's; `outside` follows edits of the
//! files; `stock` asks servers what they have, `pulling` changes that; `journalist`,
//! `saver` and `saving` write, `unfinished` offers what was left; `turn`, `approval`,
//! `window` and `context` are pure.

mod active_turn;
mod actor;
mod adding;
pub mod approval;
mod argument_checker;
mod asking;
mod branching;
mod choosing;
mod closing;
mod commands;
mod compacting;
pub mod context;
mod context_budget;
mod conversation;
mod costly;
pub mod failures;
mod instructions;
mod journalist;
mod outbox;
mod outside;
mod persona;
mod pins;
mod probe;
mod prompt;
mod pulling;
pub mod quotes;
mod recall;
mod record;
mod saver;
mod saving;
mod stock;
mod trusting;
pub mod turn;
mod turn_driver;
mod turn_outputs;
mod unfinished;
pub mod window;

pub use argument_checker::ArgumentChecker;
pub use probe::{Probe, ProbeNews};
pub use pulling::{pull_failed, remove_failed};

use crate::config::{Home, Read};
use crate::domain::{Banner, ModelConfig, ServerId, ToolMode};
use crate::mcp::ProcessGroups;
use crate::ports::LocalServer;
use crate::protocol::{COMMANDS_MAX, Command, EVENTS_MAX, Event, LogLine};
use crate::provider::Provider;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What the engine is made of.
pub struct Parts {
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
    pub options: Options,
}

/// What the command line says; it beats the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
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
    pub one_turn: bool,
    /// Tools that run unasked in this run, by server and name.
    pub allow: Vec<(ServerId, String)>,
    /// The conversation to begin with.
    pub open: Option<Open>,
    /// The one model that there is, whatever `config.json` lists.
    pub stand_in: Option<ModelConfig>,
}

/// A conversation that the command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Open {
    /// The one that changed last.
    Latest,
    /// By its file's name or its title, or the beginning of either.
    Named(String),
}

/// A running engine.
pub struct Handle {
    pub commands: mpsc::Sender<Command>,
    pub events: mpsc::Receiver<Event>,
    /// Ends after [`Command::Shutdown`], or when `commands` is dropped.
    pub task: JoinHandle<()>,
}

/// Starts the engine. The files are read before this returns, and so before the first
/// frame: whatever is edited once the program can be seen to run is an edit from
/// outside, and a wider `trust.json` then waits for a key.
pub fn spawn(parts: Parts) -> Handle {
    let (commands, from_front_end) = mpsc::channel(COMMANDS_MAX);
    let (to_front_end, events) = mpsc::channel(EVENTS_MAX);
    let files = Read::files(&parts.home);
    let task = tokio::spawn(actor::run(parts, files, from_front_end, to_front_end));
    Handle {
        commands,
        events,
        task,
    }
}
