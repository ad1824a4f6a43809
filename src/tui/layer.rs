//! The contract of whatever opens over the chat: a list, a form, a text, the help. A layer
//! owns its state, draws itself and asks for effects through [`Cx`]; it knows neither the
//! model nor the other features. Adding one takes a folder and the line that opens it.

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

/// What became of a key or an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    Consumed,
    /// The layer has no use for it. A key then closes the layer (Esc, or the key that
    /// opens it) or scrolls it.
    PassedOn,
    /// The layer is done.
    Closed,
}

pub trait Layer: fmt::Debug {
    /// The action that opens it.
    fn action(&self) -> Option<Action> {
        None
    }

    fn key(&mut self, key: KeyEvent, cx: &mut Cx) -> Handled;

    /// Takes pasted text. Pasted text never decides anything.
    fn paste(&mut self, _text: &str, _cx: &mut Cx) -> Handled {
        Handled::PassedOn
    }

    /// Moves by rows: the wheel, or an arrow or page key that was passed on.
    fn scroll(&mut self, _rows: isize, _shared: Shared) {}

    /// Hears an event of the engine, before anything else takes it in.
    fn event(&mut self, _event: &Event, _cx: &mut Cx) -> Handled {
        Handled::PassedOn
    }

    /// Ctrl+C while nothing runs that it would stop first.
    fn interrupt(&mut self, _cx: &mut Cx) -> Handled {
        Handled::Closed
    }

    /// When [`Self::tick`] has something to do.
    fn wake(&self) -> Option<Duration> {
        None
    }

    fn tick(&mut self, _cx: &mut Cx) {}

    /// Draws itself and returns the cursor's place in a text field.
    fn draw(&mut self, area: LayerArea, shared: Shared, pen: &mut Painter) -> Option<Position>;

    /// The keys that matter now, the most important first.
    fn hints(&self, shared: Shared) -> Vec<String>;

    /// Does it show that there is nothing to list?
    fn is_empty(&self) -> bool {
        false
    }
}

/// Where a layer may draw.
#[derive(Debug, Clone, Copy)]
pub struct LayerArea {
    /// Chat and side panes.
    pub body: Rect,
    /// The chat alone, for short lists that should cut no other pane.
    pub chat: Rect,
}

/// State of others that a layer may read.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    pub now: Duration,
    /// Of the terminal, in columns and rows.
    pub size: (u16, u16),
    pub glyphs: Glyphs,
    /// The action that opens the open layer.
    pub opened: Option<Action>,
    pub engine: &'a EngineState,
    pub servers: &'a [Server],
    pub transcript: &'a Transcript,
    /// Prompts that were typed, the newest last.
    pub prompts: &'a [String],
}

/// The row of a picker that was taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Picked {
    Model(ModelRef),
    Server(ServerId),
    /// A call to cancel.
    Call(CallId),
    Mode(ToolMode),
    Think(Think),
    /// None is the system prompt.
    Persona(Option<String>),
    Branch(BranchSummary),
}

/// What a feature asks of the rest of the program. Requests are carried out in order,
/// after the feature has returned.
#[derive(Debug)]
pub enum Request {
    Send(Command),
    Notify(Notice),
    Copy(String),
    StartDemo,
    /// A call was run although so many rows of it were not drawn.
    RanUnread(CallId, usize),
    /// In place of the layer that is open, if any.
    Open(Box<dyn Layer>),
    /// An action of the whole program, not of the pane in focus.
    Run(Action),
    /// A command that was typed, and what follows it.
    Command(Action, String),
    Pick(Picked),
    /// Puts a prompt into the message, where it can be changed before it is sent.
    SetMessage(String),
    /// Another conversation is asked for: queued prompts must not go into it.
    HoldQueue,
    ShowServers,
    HideServers,
}

/// What a feature works with: the state that it may read, and its requests.
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

    /// Sends text to the terminal's clipboard.
    pub fn copy(&mut self, text: String) {
        if text.is_empty() {
            return self.notify(Notice::info("There is nothing to copy yet."));
        }
        self.ask(Request::Copy(text));
        // Whether the terminal took it cannot be known: only the means is named.
        self.notify(Notice::info("Sent to the terminal's clipboard (OSC 52)."));
    }

    /// An id for a question to the engine.
    pub fn query(&mut self) -> QueryId {
        QueryId(self.queries.mint())
    }
}
