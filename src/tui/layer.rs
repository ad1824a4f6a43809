//! The contract of whatever opens over the chat: a list, a form, a text, the help. A layer
//! owns its state, draws itself and asks for effects through [`Cx`]; it knows neither the
//! model nor the other features. Adding one takes a folder and the line that opens it.

use crate::domain::id::IdGenerator;
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

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled;

    /// Takes pasted text. Pasted text never decides anything.
    fn paste(&mut self, _text: &str, _cx: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    /// Moves by rows: the wheel, or an arrow or page key that was passed on.
    fn scroll(&mut self, _rows: isize, _shared: SharedUiState) {}

    /// Hears an event of the engine, before anything else takes it in.
    fn handle_event(&mut self, _event: &Event, _cx: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    /// Ctrl+C while nothing runs that it would stop first.
    fn interrupt(&mut self, _cx: &mut UiContext) -> Handled {
        Handled::Closed
    }

    /// When [`Self::tick`] has something to do.
    fn wake_at(&self) -> Option<Duration> {
        None
    }

    fn tick(&mut self, _cx: &mut UiContext) {}

    /// Draws itself and returns the cursor's place in a text field.
    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position>;

    /// The keys that matter now, the most important first.
    fn hints(&self, shared: SharedUiState) -> Vec<String>;

    /// Does it show that there is nothing to list?
    fn shows_empty_list(&self) -> bool {
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
pub struct SharedUiState<'a> {
    pub now: Duration,
    /// Of the terminal, in columns and rows.
    pub size: (u16, u16),
    pub glyphs: Glyphs,
    /// The action that opens the open layer.
    pub open_layer: Option<Action>,
    pub engine: &'a EngineState,
    pub servers: &'a [Server],
    pub transcript: &'a Transcript,
    /// Prompts that were typed, the newest last.
    pub prompts: &'a [String],
}

/// The row of a picker that was taken.
#[derive(Debug, Clone, PartialEq)]
pub enum PickedItem {
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
pub enum UiRequest {
    Send(Command),
    Notify(Notice),
    Copy(String),
    StartDemo,
    /// A call was run although so many rows of it were not drawn.
    RecordUndrawnRows(CallId, usize),
    /// In place of the layer that is open, if any.
    Open(Box<dyn Layer>),
    /// An action of the whole program, not of the pane in focus.
    RunAction(Action),
    /// A command that was typed, and what follows it.
    RunCommand(Action, String),
    Pick(PickedItem),
    /// Puts a prompt into the message, where it can be changed before it is sent.
    SetMessage(String),
    /// Another conversation is asked for: queued prompts must not go into it.
    ReturnQueue,
    ShowServers,
    HideServers,
}

/// What a feature works with: the state that it may read, and its requests.
#[derive(Debug)]
pub struct UiContext<'a> {
    pub shared: SharedUiState<'a>,
    query_ids: &'a mut IdGenerator,
    requests: &'a mut Vec<UiRequest>,
}

impl<'a> UiContext<'a> {
    pub fn new(
        shared: SharedUiState<'a>,
        queries: &'a mut IdGenerator,
        requests: &'a mut Vec<UiRequest>,
    ) -> Self {
        Self {
            shared,
            query_ids: queries,
            requests,
        }
    }

    pub fn request(&mut self, request: UiRequest) {
        self.requests.push(request);
    }

    pub fn send(&mut self, command: Command) {
        self.request(UiRequest::Send(command));
    }

    pub fn notify(&mut self, notice: Notice) {
        self.request(UiRequest::Notify(notice));
    }

    pub fn open(&mut self, layer: impl Layer + 'static) {
        self.request(UiRequest::Open(Box::new(layer)));
    }

    /// Sends text to the terminal's clipboard.
    pub fn copy(&mut self, text: String) {
        if text.is_empty() {
            return self.notify(Notice::info("There is nothing to copy yet."));
        }
        self.request(UiRequest::Copy(text));
        // Whether the terminal took it cannot be known: only the means is named.
        self.notify(Notice::info("Sent to the terminal's clipboard (OSC 52)."));
    }

    /// An id for a question to the engine.
    pub fn next_query_id(&mut self) -> QueryId {
        QueryId(self.query_ids.next_id())
    }
}
