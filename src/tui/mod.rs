//! The full-screen front end. It knows the engine only as a sender of commands
//! and a receiver of events. Routing (`update`), state (`model`) and drawing
//! (`view`) are kept apart; `run` and `terminal` are the rim that does I/O.

pub mod advice;
pub mod chat;
pub mod composer;
pub mod conversation;
pub mod demo_tour;
pub mod dialog;
pub mod engine_state;
pub mod event_loop;
pub mod help;
pub mod history_search;
pub mod input;
pub mod keymap;
pub mod layer;
pub mod layout;
pub mod log;
pub mod model;
pub mod models;
pub mod msg;
pub mod notices;
pub mod palette;
pub mod panes;
pub mod probe;
pub mod screen;
pub mod servers;
pub mod sessions;
pub mod settings;
pub mod terminal;
pub mod theme;
pub mod trust;
mod update;
pub mod view;
pub mod widgets;

pub use crate::tui::event_loop::{Exit, TuiError, run};
pub use crate::tui::model::Model;
pub use crate::tui::msg::{Effect, Input, Msg};
pub use crate::tui::terminal::restore;
pub use crate::tui::update::update;

use crate::domain::Redactor;
use std::path::PathBuf;

/// What the screen is told at its start.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// ASCII stand-ins for all glyphs (`ui.ascii`).
    pub ascii: bool,
    /// `NO_COLOR` is set: emphasis without colours.
    pub no_color: bool,
    /// Leave the terminal's enhanced keys alone (`ui.keyboardProtocol: off`).
    pub plain_keys: bool,
    /// Where the report of a panic is written; without it the report goes to
    /// stderr.
    pub panic_report: Option<PathBuf>,
    /// Applied to that report.
    pub redact: Redact,
    /// Lead through the keys, with these prompts typed ahead (`humble demo`).
    pub guide: Option<Prompts>,
}

/// Removes secrets from a text. Must not block: the panic hook calls it.
#[derive(Debug, Clone, Copy)]
pub struct Redact(pub fn(&str) -> String);

impl Default for Redact {
    fn default() -> Self {
        Self(|text| Redactor::default().redacted(text))
    }
}

/// What the guide types for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prompts {
    /// Leads to a call of a tool and to an answer worth looking at.
    pub question: &'static str,
    /// Leads to an answer that is long enough to be stopped.
    pub story: &'static str,
    /// Leads to how a real model is connected.
    pub connect: &'static str,
}
