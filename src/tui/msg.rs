//! The inputs and effects of `update`. Each input carries its time; `update` never reads a
//! clock.

use crate::protocol::{Command, Event};
use crate::tui::clipboard::{CopyReport, CopyRequest};
use crate::tui::theme::TerminalBackground;
use crossterm::event::{KeyEvent, MouseEvent};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Msg {
    /// Time since the program started.
    pub now: Duration,
    pub input: UiInput,
}

impl Msg {
    pub fn new(now: Duration, input: UiInput) -> Self {
        Self { now, input }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum UiInput {
    Key(KeyEvent),
    /// A complete bracketed paste.
    Paste(String),
    /// Characters that arrived faster than anyone types: a paste in a terminal without
    /// bracketed paste.
    Burst(String),
    Mouse(MouseEvent),
    Resize {
        width: u16,
        height: u16,
    },
    /// Whether the terminal has the focus.
    Focus(bool),
    /// The terminal's reply to [`UiEffect::QueryBackground`].
    Background(TerminalBackground),
    Engine(Box<Event>),
    /// The deadline of [`crate::tui::UiModel::next_wake`] has passed.
    Tick,
    /// The text from `$EDITOR`, or why editing failed.
    EditorClosed(Result<String, String>),
    Copied(CopyReport),
    /// The engine's queue was full, so this command was not sent.
    CommandRejected(Box<Command>),
}

/// An effect that `update` returns and the event loop performs.
#[derive(Debug, Clone, PartialEq)]
pub enum UiEffect {
    Send(Command),
    /// Restore the terminal, suspend the process, and reclaim the terminal on resume.
    Suspend,
    Repaint,
    /// Ask the terminal for its background color; [`UiInput::Background`] is the reply.
    QueryBackground,
    /// Copy to the clipboard; [`UiInput::Copied`] reports the result.
    Copy(CopyRequest),
    /// Open this text in `$VISUAL` or `$EDITOR`.
    OpenEditor(String),
    /// Open this web address in the default browser.
    OpenBrowser(String),
    /// Capture the mouse, or leave it to the terminal's own selection.
    CaptureMouse(bool),
    /// Alert the user in a terminal without focus (OSC 9 and bell).
    Notify(&'static str),
    Quit,
    /// Quit and start the demo.
    StartDemo,
}
