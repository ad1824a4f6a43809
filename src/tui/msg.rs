//! What comes into the core and what it asks for in return. Time enters as data:
//! nothing in `update` reads a clock.

use crate::protocol::{Command, Event};
use crossterm::event::{KeyEvent, MouseEvent};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Msg {
    /// Time since the program began.
    pub now: Duration,
    pub input: UiInput,
}

impl Msg {
    pub fn new(at: Duration, input: UiInput) -> Self {
        Self { now: at, input }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum UiInput {
    Key(KeyEvent),
    /// A bracketed paste, whole.
    Paste(String),
    /// Characters that came faster than a person types: a terminal without
    /// bracketed paste sends a paste so.
    Burst(String),
    Mouse(MouseEvent),
    Resize {
        width: u16,
        height: u16,
    },
    /// The terminal gained or lost the focus.
    Focus(bool),
    Engine(Box<Event>),
    /// [`crate::tui::Model::wake`] has come.
    Tick,
    /// What came back from `$EDITOR`, or why nothing did.
    EditorClosed(Result<String, String>),
    /// The engine had no room for this command.
    CommandRejected(Box<Command>),
}

/// What the core wants done. The rim does it.
#[derive(Debug, Clone, PartialEq)]
pub enum UiEffect {
    Send(Command),
    /// Restore the terminal, stop the process, and come back.
    Suspend,
    /// Draw everything anew.
    Repaint,
    /// Put this into the terminal's clipboard (OSC 52).
    Copy(String),
    /// Let the person edit this text in `$VISUAL` or `$EDITOR`.
    OpenEditor(String),
    /// Take the mouse, or leave it to the terminal's own selection.
    CaptureMouse(bool),
    /// Call the person back to a terminal that lost the focus (OSC 9, bell).
    Notify(&'static str),
    /// Shut the engine down and leave.
    Quit,
    /// The same, and start the demo.
    StartDemo,
}
