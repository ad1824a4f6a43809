//! The full-screen front end. It sees the engine only as a command sender and an event receiver.
//! Each feature owns its state in its own folder and knows neither the other features nor
//! [`UiModel`]: `ui_model` holds the states of all features, `update` routes inputs and events to
//! them, `view` draws them. Only `event_loop` and `terminal` do I/O. Everything that opens over the
//! chat implements `layer::Layer`.

mod attachments;
pub(crate) mod chat;
pub mod clipboard;
mod command_cx;
mod composer;
mod demo_tour;
pub(crate) mod dialog;
mod elicitation;
mod event_loop;
mod help;
mod history_search;
mod imports;
mod input;
pub mod interrupt_state;
pub mod keymap;
mod layer;
mod layout;
mod log;
pub(crate) mod models;
pub mod msg;
mod notices;
pub(crate) mod palette;
mod panes;
mod probe_progress;
mod screen;
mod screen_end;
mod server_content;
pub(crate) mod servers;
mod sessions;
pub(crate) mod settings;
mod templates;
pub mod terminal;
mod theme;
pub(crate) mod trust;
pub mod ui_model;
mod update;
pub mod view;
pub mod widgets;

pub use event_loop::run;
pub use msg::{Msg, UiEffect, UiInput};
pub use screen_end::{ScreenEnd, ScreenExit, TuiError};
pub use terminal::restore;
pub use ui_model::UiModel;
pub use update::update;

use crate::domain::theme::ThemeSettings;
use crate::domain::{KeySettings, SecretRegistry};
use std::path::PathBuf;
use std::sync::Arc;

/// Settings for the start of the screen. Only the keys may change later.
#[derive(Debug, Clone, Default)]
pub struct TuiOptions {
    /// Use ASCII instead of Unicode glyphs (`ui.ascii`).
    pub ascii: bool,
    /// `NO_COLOR` is set: use emphasis but no colors.
    pub no_color: bool,
    /// The terminal promises 16 million colors (`COLORTERM`).
    pub has_true_color: bool,
    /// The theme (`ui.theme`) and the theme files, until the engine reports others.
    pub themes: Arc<ThemeSettings>,
    /// Leave the terminal's enhanced keyboard protocol disabled
    /// (`ui.keyboardProtocol: off`).
    pub plain_keys: bool,
    /// The keys that the user changed (`keys`), until the engine reports others.
    pub keys: Arc<KeySettings>,
    /// The sidebar opens only on request (`ui.sidebar: closed`).
    pub is_sidebar_closed: bool,
    /// The program's folder, for texts that name its files.
    pub home: String,
    /// The file for panic reports; `None` means stderr.
    pub panic_report: Option<PathBuf>,
    /// Removes secrets from panic reports.
    pub redact: RedactFn,
    /// The command line names a conversation, which the engine is opening.
    pub opens_session: bool,
    /// Recognizes prompts that need no model.
    pub needs_no_model: NeedsNoModelFn,
    /// Show the demo tour with these prompts (`humble demo`).
    pub tour_prompts: Option<TourPrompts>,
}

/// Removes secrets from a text. Called by the panic hook, so it must not block.
#[derive(Debug, Clone, Copy)]
pub struct RedactFn(pub fn(&str) -> String);

impl Default for RedactFn {
    fn default() -> Self {
        Self(|text| SecretRegistry::default().redact(text))
    }
}

/// Whether a prompt is answered without a model, such as a search of notes.
#[derive(Debug, Clone, Copy)]
pub struct NeedsNoModelFn(pub fn(&str) -> bool);

impl Default for NeedsNoModelFn {
    fn default() -> Self {
        Self(|_| false)
    }
}

/// Prompts that the demo tour types for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TourPrompts {
    /// Triggers a tool call and an answer with rich formatting.
    pub question: &'static str,
    /// Triggers an answer long enough to be stopped.
    pub story: &'static str,
    /// Asks how to connect a real model.
    pub setup: &'static str,
}
