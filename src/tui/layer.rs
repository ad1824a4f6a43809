//! The contract for everything that opens over the chat: a list, a form, a text, the help.
//! A layer owns its state, draws itself and requests effects through [`UiContext`]. It
//! knows neither the model nor other features, so adding a layer takes one folder and one
//! line that opens it.

use crate::domain::id::Mint;
use crate::domain::{
    CallId, ModelRef, Notice, QueryId, Server, ServerId, Think, ToolMode, Transcript,
};
use crate::protocol::{BranchSummary, Command, Event};
use crate::tui::engine_state::EngineState;
use crate::tui::keymap::Action;
use crate::tui::theme::Glyphs;
use crate::tui::widgets::painter::Painter;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use std::fmt;
use std::time::Duration;

/// Result of passing a key or event to a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    Consumed,
    /// The layer does not handle it. The caller may then close the layer (Esc, or the key
    /// that opens it) or scroll it.
    PassedOn,
    /// The layer is done and must be dropped.
    Closed,
}

pub trait Layer: fmt::Debug {
    /// The action that opens this layer.
    fn action(&self) -> Option<Action> {
        None
    }

    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled;

    /// Handles pasted text, which must never confirm anything.
    fn paste(&mut self, _text: &str, _cx: &mut Cx) -> Handled {
        Handled::PassedOn
    }

    /// Scrolls by rows: mouse wheel, or an arrow or page key that the layer did not handle.
    fn scroll(&mut self, _rows: isize, _shared: Shared) {}

    /// Sees each engine event before any other feature.
    fn event(&mut self, _event: &Event, _cx: &mut Cx) -> Handled {
        Handled::PassedOn
    }

    /// Ctrl+C with no running work for it to stop first.
    fn interrupt(&mut self, _cx: &mut Cx) -> Handled {
        Handled::Closed
    }

    /// When to call [`Self::tick`] next.
    fn wake(&self) -> Option<Duration> {
        None
    }

    fn tick(&mut self, _cx: &mut Cx) {}

    /// Draws the layer and returns the cursor position if a text field has the focus.
    fn draw(&mut self, area: LayerArea, shared: Shared, pen: &mut Painter) -> Option<Position>;

    /// Hints for the keys that are useful now, most important first.
    fn hints(&self, shared: Shared) -> Vec<String>;

    /// Whether the layer shows an empty list.
    fn is_empty(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy)]
pub struct LayerArea {
    pub body: Rect,
    /// The chat alone, for short lists that should not cover the side panes.
    pub chat: Rect,
}

/// State of other features that a layer may read.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    pub now: Duration,
    /// Terminal size in columns and rows.
    pub size: (u16, u16),
    pub glyphs: Glyphs,
    /// Action of the open layer.
    pub opened: Option<Action>,
    pub engine: &'a EngineState,
    pub servers: &'a [Server],
    pub transcript: &'a Transcript,
    /// Earlier prompts, newest last.
    pub prompts: &'a [String],
}

#[derive(Debug, Clone, PartialEq)]
pub enum Picked {
    Model(ModelRef),
    Server(ServerId),
    /// The call to cancel.
    Call(CallId),
    Mode(ToolMode),
    Think(Think),
    /// `None` selects the plain system prompt.
    Persona(Option<String>),
    Branch(BranchSummary),
}

/// An effect that a feature requests. Requests run in order after the feature returns.
#[derive(Debug)]
pub enum Request {
    Send(Command),
    Notify(Notice),
    Copy(String),
    StartDemo,
    /// The user ran a call while this many of its rows had never been drawn.
    RanUnread(CallId, usize),
    /// Replaces the open layer, if any.
    Open(Box<dyn Layer>),
    /// A global action, not one of the focused pane.
    Run(Action),
    /// A typed command and its argument.
    Command(Action, String),
    Pick(Picked),
    /// Puts a prompt into the message editor without sending it.
    SetMessage(String),
    /// Another session is about to open: queued prompts must not go into it.
    HoldQueue,
    ShowServers,
    HideServers,
}

/// A feature's access to the rest of the program: readable state and requests.
#[derive(Debug)]
pub struct Cx<'a> {
    pub shared: Shared<'a>,
    queries: &'a mut Mint,
    requests: &'a mut Vec<Request>,
}

impl<'a> Cx<'a> {
    pub fn new(shared: Shared<'a>, queries: &'a mut Mint, requests: &'a mut Vec<Request>) -> Self {
        Self {
            shared,
            queries,
            requests,
        }
    }

    pub fn ask(&mut self, request: Request) {
        self.requests.push(request);
    }

    pub fn send(&mut self, command: Command) {
        self.ask(Request::Send(command));
    }

    pub fn notify(&mut self, notice: Notice) {
        self.ask(Request::Notify(notice));
    }

    pub fn open(&mut self, layer: impl Layer + 'static) {
        self.ask(Request::Open(Box::new(layer)));
    }

    /// Copies text to the terminal's clipboard.
    pub fn copy(&mut self, text: String) {
        if text.is_empty() {
            return self.notify(Notice::info("Nothing to copy yet."));
        }
        self.ask(Request::Copy(text));
        // OSC 52 has no acknowledgement, so the notice claims only that the text was sent.
        self.notify(Notice::info("Sent to the terminal's clipboard (OSC 52)."));
    }

    /// A fresh id for a query to the engine.
    pub fn query(&mut self) -> QueryId {
        QueryId(self.queries.mint())
    }
}
