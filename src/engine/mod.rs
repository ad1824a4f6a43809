//! Floor 3: one background actor owns model streams, server sessions and the
//! conversation. Front ends speak to it over two channels, and share nothing else.
//!
//! `actor` is the select loop and the routing. Everything else belongs to an owner: a struct
//! with private fields whose methods get what they share as an argument (`cx`) and return what
//! concerns other owners as data. No owner imports the actor.
//!
//! | module | owns |
//! |---|---|
//! | `turn` | one turn from prompt to answer, as a pure state machine |
//! | `turn_driver` | what runs for a turn: reply stream, timers, argument check, calls |
//! | `active_turn` | the conversation's turn under way: its driver and its place in the session |
//! | `approval` | which calls may run; the only maker of `ApprovedCall` (pure) |
//! | `context` | what is sent, and whether it fits into the model's context (pure) |
//! | `models` | which model answers; catalogs of servers, adding, pulling |
//! | `trust` | remembered decisions, pinned tool definitions, instructions of servers |
//! | `injection_guard` | untrusted text, to recognize calls that were copied from it |
//! | `sessions` | the open conversation, its branches, the list of sessions |
//! | `persist` | session files, the journal, recovery after a crash |
//! | `settings` | settings in force, reload of edited files, personas, the system prompt |
//! | `probe` | finding out which tool-call dialect a model follows |
//! | `argument_checker` | checking arguments on a thread that may block, with a deadline |
//!
//! Shared by them: `cx` (the way out, banners, questions, jobs), `outbox` (events on their
//! way to the front end), `questions` and `jobs` (what an answer or a background job leads
//! to), `failures` (failures in the log), `deps` (what the engine is built from).

mod active_turn;
mod actor;
pub mod approval;
mod argument_checker;
mod context;
mod cx;
mod deps;
pub mod failures;
pub mod injection_guard;
mod jobs;
mod models;
mod outbox;
mod persist;
mod probe;
mod questions;
mod sessions;
mod settings;
mod trust;
pub mod turn;
mod turn_driver;

pub use argument_checker::ArgumentChecker;
pub use deps::{EngineDeps, EngineOptions, InitialSession};
pub use models::catalog::list_time_max;
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
    /// Ends after [`Command::Shutdown`], or when `commands` is dropped.
    pub task: JoinHandle<()>,
}

/// Starts the engine. The files are read before this returns, and so before the first
/// frame: whatever is edited once the program can be seen to run is an edit from
/// outside, and a wider `trust.json` then waits for a key.
pub fn spawn(deps: EngineDeps) -> EngineHandle {
    let (commands, from_front_end) = mpsc::channel(COMMAND_QUEUE_MAX);
    let (to_front_end, events) = mpsc::channel(EVENT_QUEUE_MAX);
    let files = ConfigLoad::from_files(&deps.home);
    let task = tokio::spawn(actor::run(deps, files, from_front_end, to_front_end));
    EngineHandle {
        commands,
        events,
        task,
    }
}
