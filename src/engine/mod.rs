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
pub mod approval;
mod argument_checker;
mod commands;
mod context;
mod cx;
mod deps;
pub mod failures;
pub mod injection_guard;
mod job_results;
mod jobs;
mod models;
mod outbox;
mod outside;
mod persist;
mod persona;
mod probe;
mod prompt;
mod questions;
mod server_commands;
mod session_switch;
mod sessions;
mod shutdown;
pub mod trust;
pub mod turn;
mod turn_driver;
mod turn_outputs;
mod turns;

pub use argument_checker::ArgumentChecker;
pub use deps::{EngineDeps, InitialSession, Options};
pub use models::pull::{pull_failed, remove_failed};
pub use probe::{Probe, ProbeNews};

use crate::config::Read;
use crate::protocol::{COMMANDS_MAX, Command, EVENTS_MAX, Event};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

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
pub fn spawn(deps: EngineDeps) -> Handle {
    let (commands, from_front_end) = mpsc::channel(COMMANDS_MAX);
    let (to_front_end, events) = mpsc::channel(EVENTS_MAX);
    let files = Read::files(&deps.home);
    let task = tokio::spawn(actor::run(deps, files, from_front_end, to_front_end));
    Handle {
        commands,
        events,
        task,
    }
}
