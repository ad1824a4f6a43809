//! Layer 3: one background actor owns the model streams, the server sessions and the
//! conversation. Front ends communicate with it over two channels and share nothing else.
//!
//! `actor` contains the select loop and the routing. The state is divided among owners,
//! structs with private fields. An owner's methods receive the shared state as an argument
//! (`cx`) and return work for other owners as data. No owner imports the actor.
//!
//! | module | owns |
//! |---|---|
//! | `turn` | one turn from prompt to answer, as a pure state machine |
//! | `turn_driver` | the I/O of a turn: reply stream, timers, argument check, calls |
//! | `active_turn` | the conversation's running turn: its driver and its session data |
//! | `agents` | note agents, which act on some prompts; the open note |
//! | `approval` | which calls may run; the only constructor of `ApprovedCall` (pure) |
//! | `context` | request assembly and the model's context limit (pure) |
//! | `models` | the selected model; server catalogs, adding and pulling models |
//! | `tool_offer` | the tools that requests offer, in a stable order |
//! | `trust` | remembered decisions, pinned tool definitions, server instructions |
//! | `injection_guard` | untrusted text of the conversation; detects calls copied from it |
//! | `result_images` | the images of tool results (pure) |
//! | `server_requests` | requests from MCP servers to the user, such as forms |
//! | `sessions` | the open conversation, its branches, the list of sessions |
//! | `persist` | session files, the journal, recovery after a crash |
//! | `settings` | active settings, reload of edited files, personas, the system prompt |
//! | `probe` | the test that finds the tool-call dialect a model follows |
//! | `completion` | one-off questions that built-in tools and servers ask a model |
//! | `argument_checker` | schema checks on a blocking thread, with a deadline |
//! | `attachments` | reading and finding files to attach |
//! | `imports` | finding and adding servers of other clients |
//! | `server_content` | loading prompts and resources of servers |
//! | `sign_in` | the sign-in to a server that waits for the user |
//!
//! Shared by the owners: `cx` (outbox, banners, questions, jobs), `outbox` (events queued for
//! the front end), `questions`, `job_set` and `jobs` (pending questions, running jobs and their results), `failures`
//! (logging of failures), `deps` (dependencies and options of the engine).

mod active_turn;
mod actor;
mod agents;
pub mod approval;
mod argument_checker;
mod attachments;
mod completion;
mod context;
mod cx;
mod deps;
pub mod failures;
mod imports;
pub mod injection_guard;
mod job_set;
mod jobs;
mod models;
mod new_servers;
mod outbox;
mod persist;
mod probe;
mod questions;
pub mod result_images;
mod server_content;
mod server_requests;
mod sessions;
mod settings;
mod sign_in;
pub mod tool_offer;
mod trust;
pub mod turn;
mod turn_driver;

pub use argument_checker::ArgumentChecker;
pub use completion::OneShotCompletion;
pub use deps::{EngineDeps, EngineOptions, InitialSession};
pub use models::catalog::list_timeout;
pub use models::pull::{pull_failed, remove_failed};
pub use probe::{DialectProbe, ProbeEvent};

use crate::config::ConfigLoad;
use crate::protocol::{COMMAND_QUEUE_MAX, Command, EVENT_QUEUE_MAX, Event};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A running engine.
pub struct EngineHandle {
    pub commands: mpsc::Sender<Command>,
    pub events: mpsc::Receiver<Event>,
    /// Ends after a shutdown command, or when the front end drops `commands` or `events`.
    pub task: JoinHandle<()>,
}

/// Starts the engine. Reads the settings files before it returns, and so before the first
/// frame is drawn. Every later edit by the user is therefore an external edit, which needs
/// consent if it grants permissions.
pub fn spawn(deps: EngineDeps) -> EngineHandle {
    let (commands, command_receiver) = mpsc::channel(COMMAND_QUEUE_MAX);
    let (event_sender, events) = mpsc::channel(EVENT_QUEUE_MAX);
    let files = ConfigLoad::from_files(&deps.home);
    let task = tokio::spawn(actor::run(deps, files, command_receiver, event_sender));
    EngineHandle {
        commands,
        events,
        task,
    }
}
