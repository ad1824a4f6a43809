//! The full-screen front end. It knows the engine only as a sender of commands
//! and a receiver of events. Each feature owns its state in a folder of its own and
//! knows neither the others nor the hub: `model` holds their states, `update` routes
//! messages to them, `view` draws them. `event_loop` and `terminal` are the rim that
//! does I/O. What opens over the chat implements `layer::Layer`.

mod advice;
mod chat;
mod composer;
mod conversation;
mod demo_tour;
mod dialog;
mod engine_state;
mod event_loop;
mod help;
mod history_search;
mod input;
pub mod keymap;
mod layer;
mod layout;
mod log;
mod models;
pub mod msg;
mod notices;
mod palette;
mod panes;
mod probe_progress;
mod screen;
mod servers;
mod sessions;
mod settings;
pub mod terminal;
mod theme;
mod trust;
pub mod ui_model;
mod update;
pub mod view;
mod widgets;

pub use event_loop::{ScreenExit, TuiError, run};
pub use msg::{Msg, UiEffect, UiInput};
pub use terminal::restore;
pub use ui_model::UiModel;
pub use update::update;

use crate::domain::Redactor;
use std::path::PathBuf;

/// What the screen is told at its start.
#[derive(Debug, Clone, Default)]
pub struct TuiOptions {
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
    pub redact: RedactFn,
    /// Lead through the keys, with these prompts typed ahead (`humble demo`).
    pub tour_prompts: Option<TourPrompts>,
}

/// Removes secrets from a text. Must not block: the panic hook calls it.
#[derive(Debug, Clone, Copy)]
pub struct RedactFn(pub fn(&str) -> String);

impl Default for RedactFn {
    fn default() -> Self {
        Self(|text| Redactor::default().redact(text))
    }
}

/// What the guide types for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TourPrompts {
    /// Leads to a call of a tool and to an answer worth looking at.
    pub question: &'static str,
    /// Leads to an answer that is long enough to be stopped.
    pub story: &'static str,
    /// Leads to how a real model is connected.
    pub setup: &'static str,
}
