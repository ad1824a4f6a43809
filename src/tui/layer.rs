//! The trait for everything that opens over the chat: a list, a form, a text viewer, the help. A
//! layer owns its state, draws itself and requests effects through [`UiContext`]. It accesses
//! neither `UiModel` nor other features, so a new layer needs one folder and one line that opens
//! it.

use crate::commands::{CommandRow, PickRow, Wanted};
use crate::domain::attachment::ReadAttachment;
use crate::domain::id::IdGenerator;
use crate::domain::theme::{ThemeChoice, ThemeSettings};
use crate::domain::{
    CallId, Notice, QueryId, RecentCommands, Server, ServerId, SessionId, ToolCall, Transcript,
};
use crate::front_end::conversation_state::ConversationState;
use crate::front_end::engine_state::EngineState;
use crate::protocol::{BranchSummary, Command, Event};
use crate::text::markdown::MarkdownGlyphs;
use crate::tui::attachments::file::AttachedFile;
use crate::tui::clipboard::CopyRequest;
use crate::tui::keymap::{Action, Keymap};
use crate::tui::panes::Focus;
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
    /// The layer ignored the input. The caller may then close the layer (Esc, or the key that
    /// opens it) or scroll it.
    PassedOn,
    /// The layer is finished; the caller drops it.
    Closed,
}

pub trait Layer: fmt::Debug {
    /// The action that opens this layer.
    fn action(&self) -> Option<Action> {
        None
    }

    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled;

    /// Handles pasted text. A paste must never confirm anything.
    fn paste(&mut self, _text: &str, _cx: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    /// Scrolls by rows (negative: up) when the mouse wheel turns, or when [`Self::handle_key`]
    /// passed on an arrow or page key.
    fn scroll(&mut self, _rows: isize, _shared: SharedUiState) {}

    /// Requests the contents of the row that a scroll selected.
    fn load_selected(&mut self, _cx: &mut UiContext) {}

    /// Handles a click: in a list, the first one selects a row and the next one acts on it.
    fn click(&mut self, _at: Position, _cx: &mut UiContext) -> Handled {
        Handled::Consumed
    }

    /// Receives each engine event before any other feature.
    fn handle_event(&mut self, _event: &Event, _cx: &mut UiContext) -> Handled {
        Handled::PassedOn
    }

    /// Handles a Ctrl+C that found nothing running to stop, and no visible dialog.
    fn interrupt(&mut self, _cx: &mut UiContext) -> Handled {
        Handled::Closed
    }

    fn wake_at(&self) -> Option<Duration> {
        None
    }

    fn tick(&mut self, _cx: &mut UiContext) {}

    /// Preferred number of rows of a popup below its title; `None` if the layer takes the whole
    /// screen. The number should not change while the user types in the popup.
    fn popup_rows(&self, _shared: SharedUiState) -> Option<u16> {
        None
    }

    /// Draws the layer and returns the cursor position if a text field has the focus.
    fn draw(
        &mut self,
        area: LayerArea,
        shared: SharedUiState,
        pen: &mut Painter,
    ) -> Option<Position>;

    /// Hints for the keys that are useful now, most important first.
    fn hints(&self, shared: SharedUiState) -> Vec<String>;

    /// The theme to show while this layer is open.
    fn previewed_theme(&self, _shared: SharedUiState) -> Option<&ThemeChoice> {
        None
    }

    /// The layer that this one was opened over, which is open again once this one closes.
    fn take_below(&mut self) -> Option<Box<dyn Layer>> {
        None
    }

    fn shows_empty_list(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy)]
pub struct LayerArea {
    /// The area between header and message, without the notices, for layers that are not popups.
    pub body: Rect,
    /// The area for a popup, directly above the message.
    pub popup: Rect,
}

/// State of other features that a layer may read.
#[derive(Debug, Clone, Copy)]
pub struct SharedUiState<'a> {
    pub now: Duration,
    /// Terminal size in columns and rows.
    pub size: (u16, u16),
    pub glyphs: Glyphs,
    pub markdown_glyphs: MarkdownGlyphs,
    pub open_layer: Option<Action>,
    /// The pane that gets the keys once no layer is open.
    pub focus: Focus,
    pub keymap: &'a Keymap,
    /// The program's folder.
    pub home: &'a str,
    pub engine: &'a EngineState,
    pub conversation: &'a ConversationState,
    /// Why a new prompt has to wait.
    pub busy: Option<Busy>,
    pub themes: &'a ThemeSettings,
    pub servers: &'a [Server],
    pub transcript: &'a Transcript,
    /// The call selected in the chat, if that has the focus.
    pub selected_call: Option<CallId>,
    /// Earlier prompts, newest last.
    pub prompts: &'a [String],
    pub recent_commands: &'a RecentCommands,
    /// The files of the message.
    pub attached_files: &'a [AttachedFile],
}

impl<'a> SharedUiState<'a> {
    /// The running calls, in the order in which `/cancel` numbers them. Visits only the entries
    /// of the running turn.
    pub fn running_calls(&self) -> impl Iterator<Item = &'a ToolCall> + use<'a> {
        self.transcript.running_calls()
    }
}

/// What a new prompt has to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    pub reason: &'static str,
    /// Whether the key that interrupts ends it.
    pub can_be_stopped: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PickedItem {
    /// A row of a command's list.
    Row(Box<PickRow>),
    Theme(ThemeChoice),
    Branch(BranchSummary),
}

/// An effect that a feature requests. Requests run in order after the feature returns.
#[derive(Debug)]
pub enum UiRequest {
    Send(Command),
    Notify(Notice),
    /// Shows, until the next key, why a key did nothing.
    NotifyAboutKey(Notice),
    /// Shows why a new prompt has to wait, while that is so.
    NotifyAboutActivity(Notice),
    /// Shows a notice about the text in the message, at most until that is sent.
    NotifyAboutMessage(Notice),
    Copy(CopyRequest),
    /// Edits a text of the open dialog in `$EDITOR`.
    EditExternally(String),
    OpenBrowser(String),
    StartDemo,
    /// The user ran a call with this many rows that had never been drawn.
    RecordUndrawnRows(CallId, usize),
    /// Replaces the open layer, if any.
    Open(Box<dyn Layer>),
    /// Closes the open layer, whatever it shows.
    CloseLayer,
    /// Runs a global action; an action of the focused pane must not be requested.
    RunAction(Action),
    /// The user chose or typed the command with this name.
    RememberCommand(String),
    /// Runs a typed command with its argument.
    RunCommand(&'static CommandRow, String),
    /// Does what a command asked for and only the whole screen can do.
    CarryOut(Wanted),
    /// Puts a command into the message editor, for the user to add its argument.
    TypeCommand(&'static str),
    Pick(PickedItem),
    /// The user waits for this server to connect.
    AwaitServer(ServerId),
    /// Sends a prompt, or queues it, as if the user had typed it.
    SubmitPrompt(String),
    /// Puts a prompt into the message editor without sending it.
    SetMessage(String),
    /// Puts an earlier prompt into the message editor, folded if it is long.
    RecallPrompt(String),
    /// Shows the first match of this text once the session is open.
    FindWhenOpened(SessionId, String),
    /// Sends a server prompt with its files, or adds it to the message.
    TakeServerPrompt {
        text: String,
        files: Vec<ReadAttachment>,
        is_sent: bool,
    },
}

/// Lets a feature read shared state and request effects.
#[derive(Debug)]
pub struct UiContext<'a> {
    pub shared: SharedUiState<'a>,
    query_ids: &'a mut IdGenerator,
    requests: &'a mut Vec<UiRequest>,
}

impl<'a> UiContext<'a> {
    pub fn new(
        shared: SharedUiState<'a>,
        query_ids: &'a mut IdGenerator,
        requests: &'a mut Vec<UiRequest>,
    ) -> Self {
        Self {
            shared,
            query_ids,
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

    pub fn notify_about_key(&mut self, notice: Notice) {
        self.request(UiRequest::NotifyAboutKey(notice));
    }

    pub fn open(&mut self, layer: impl Layer + 'static) {
        self.request(UiRequest::Open(Box::new(layer)));
    }

    /// Copies text to the clipboard; a notice reports how. `name` describes the text, such as
    /// `the last answer`.
    pub fn copy(&mut self, name: &str, text: String) {
        if text.is_empty() {
            return self.notify(Notice::info("Nothing to copy yet."));
        }
        let name = name.to_owned();
        self.request(UiRequest::Copy(CopyRequest { name, text }));
    }

    /// A fresh id for a query to the engine.
    pub fn next_query_id(&mut self) -> QueryId {
        QueryId(self.query_ids.next_id())
    }
}
