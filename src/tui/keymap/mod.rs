//! All actions with their default keys, in two tables: [`TABLE`] for the chat and the panes, and
//! [`LAYER_TABLE`] for lists, forms, texts and questions. The palette, the help, command completion
//! and all hints come from them; [`Keymap`] combines them with the keys that the user chose.

mod chord;
mod layer_lookup;
mod layer_table;
pub mod layers;
mod lookup;
mod lost_keys;
mod scope;
mod user_keys;

pub use crate::commands::BindingGroup;
pub use chord::{Chord, KeyProtocol};
pub use layer_table::LAYER_TABLE;
pub use lookup::Keymap;
pub use scope::BindingScope;

use crate::commands::{ArgumentKind, CommandRow};
use crate::tui::input::decode::{latin_key, normalize_key};
use crate::tui::widgets::editor::{Edit, Motion};
use chord::{ALT, ALT_SHIFT, CTRL, CTRL_SHIFT, SHIFT, alt, chord, ctrl, function_key, key};
use crossterm::event::{KeyCode, KeyEvent};
use layers::LayerKey;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A command that works without the screen, too.
    Command(&'static CommandRow),
    Send,
    Interrupt,
    Back,
    NextPane,
    PreviousPane,
    Commands,
    Help,
    ChangeKeys,
    Sessions,
    NewSession,
    Theme,
    Trust,
    ToggleSidebar,
    Thinking,
    ToggleServer,
    Retry,
    Continue,
    Compact,
    EditLast,
    Undo,
    Chat,
    Branches,
    Export,
    RestoreSession,
    Private,
    Raw,
    CopyAnswer,
    EditExternally,
    PageUp,
    PageDown,
    PreviousPrompt,
    NextPrompt,
    ScrollToStart,
    ScrollToEnd,
    Log,
    SearchHistory,
    Attach,
    Detach,
    ServerPrompt,
    Resource,
    Mouse,
    Redraw,
    Suspend,
    Quit,
    Edit(Edit),
    PreviousLine,
    NextLine,
    ToggleFold,
    FoldServer,
    UnfoldServerRow,
    Mcp,
    Tools,
    ImportServers,
    Reconnect,
    Stderr,
    Instructions,
    Withheld,
    Answer,
    CancelCall,
    LeaveCall,
    OpenCall,
    AttachLink,
    CopySelected,
    CopyAsShown,
    SelectLines,
    LinesToStart,
    LinesToEnd,
    Find,
    NextMatch,
    PreviousMatch,
    EditMessage,
    MessageBranches,
    /// Drops the turn whose answer the user stopped.
    DropStopped,
    /// A key of a list, form, text or question.
    Layer(LayerKey),
}

impl Action {
    pub const MODELS: Self = Self::Command(&models::MODELS);
    pub const SET_MODEL: Self = Self::Command(&models::SET_MODEL);
    pub const RENAME: Self = Self::Command(&conversation::RENAME);
    pub const DELETE_SESSION: Self = Self::Command(&conversation::DELETE);
}

#[derive(Debug)]
pub struct Binding {
    pub action: Action,
    /// Unique among all bindings. `keys` in `config.json` uses these names.
    pub name: &'static str,
    pub group: BindingGroup,
    /// The keys unless the user chooses others; [`Keymap`] has those in use.
    pub default_keys: &'static [Chord],
    pub command: Option<&'static str>,
    /// Argument syntax of the command.
    pub usage: &'static str,
    /// How the argument is completed.
    pub argument: ArgumentKind,
    pub description: &'static str,
    /// Other words by which the palette and command completion find the action.
    pub search_words: &'static str,
    pub scope: BindingScope,
    /// Whether its keys without modifiers also act together with Ctrl, Alt or Shift.
    ignores_modifiers: bool,
}

const fn bind(
    action: Action,
    name: &'static str,
    group: BindingGroup,
    scope: BindingScope,
    default_keys: &'static [Chord],
    description: &'static str,
) -> Binding {
    Binding {
        action,
        name,
        group,
        default_keys,
        command: None,
        usage: "",
        argument: ArgumentKind::Free,
        description,
        search_words: "",
        scope,
        ignores_modifiers: false,
    }
}

/// The binding of a command without default keys.
const fn command(row: &'static CommandRow) -> Binding {
    Binding {
        command: Some(row.name),
        usage: row.usage,
        argument: row.argument,
        search_words: row.search_words,
        ..bind(
            Action::Command(row),
            row.binding,
            row.group,
            BindingScope::Always,
            &[],
            row.description,
        )
    }
}

impl Binding {
    const fn command(mut self, command: &'static str, usage: &'static str) -> Self {
        self.command = Some(command);
        self.usage = usage;
        self
    }

    const fn argument(mut self, argument: ArgumentKind) -> Self {
        self.argument = argument;
        self
    }

    const fn found_by(mut self, search_words: &'static str) -> Self {
        self.search_words = search_words;
        self
    }

    const fn any_modifiers(mut self) -> Self {
        self.ignores_modifiers = true;
        self
    }

    /// The command, if it does nothing without an argument.
    pub fn command_that_needs_argument(&self) -> Option<&'static str> {
        let is_required = !self.usage.is_empty() && !self.usage.starts_with('[');
        self.command.filter(|_| is_required)
    }
}

use crate::commands::{arguments as words, conversation, models, notes, settings};
use {Action as A, ArgumentKind as Arg, BindingGroup as G, BindingScope as Scope, KeyCode as K};

// One row per binding. Commands are sorted by how often they are used. The palette and the
// completion list keep this order, and so does the help within each group.
#[rustfmt::skip]
pub const TABLE: &[Binding] = &[
    bind(A::Send, "send", G::Writing, Scope::Message, &[key(K::Enter)], "Send the message"),
    bind(A::Edit(Edit::Newline), "newline", G::Writing, Scope::Message, &[chord(K::Enter, ALT), chord(K::Enter, SHIFT), ctrl('j')], "Insert a line break"),
    bind(A::Interrupt, "interrupt", G::Conversation, Scope::Always, &[ctrl('c')], "Stop the turn, clear the message, or quit"),
    bind(A::Commands, "commands", G::Program, Scope::Always, &[ctrl('p')], "Find a command"),
    bind(A::Back, "back", G::Moving, Scope::Always, &[key(K::Esc)], "Close or go back"),
    command(&models::SET_MODEL),
    command(&models::MODELS),
    bind(A::Sessions, "sessions", G::Conversation, Scope::Always, &[ctrl('o'), function_key(4)], "Open an earlier conversation").command("/sessions", "[WORDS]").found_by("history resume load previous chats archive past recent"),
    bind(A::NewSession, "new", G::Conversation, Scope::Always, &[], "Start a new conversation").command("/new", "").found_by("reset start chat forget"),
    bind(A::NewSession, "clear", G::Conversation, Scope::Always, &[], "Start a new conversation").command("/clear", ""),
    bind(A::Help, "help", G::Program, Scope::Always, &[function_key(1)], "Show all keys and commands").command("/help", "").found_by("shortcuts hotkeys manual about"),
    bind(A::ChangeKeys, "keys", G::Program, Scope::Always, &[], "Show how to change keys").command("/keys", "").found_by("shortcuts rebind remap keybinding customize settings hotkeys preferences"),
    command(&settings::SET_TOOL_MODE),
    bind(A::Mcp, "mcp", G::Tools, Scope::Always, &[], "List servers and tools, or manage one").command("/mcp", "[NAME [retry|log|on|off]]").argument(Arg::Server(words::SERVER_WORDS)).found_by("mcp add server plugins extensions connectors login signin restart reconnect"),
    bind(A::Tools, "tools", G::Tools, Scope::Always, &[], "List, pin and switch tools").command("/tools", "[WORDS]").argument(Arg::Words(words::TOOLS_WORDS)).found_by("mcp diet annotations read-only held back plugins functions"),
    bind(A::ImportServers, "import", G::Tools, Scope::Always, &[], "Import MCP servers from other clients").command("/import", "").found_by("claude desktop cursor vscode code add server mcp"),
    bind(A::Answer, "answer", G::Conversation, Scope::Always, &[alt('q')], "Open a server's question").command("/answer", "").found_by("form elicitation request"),
    bind(A::Retry, "retry", G::Conversation, Scope::Always, &[alt('r')], "Retry the last prompt").command("/retry", "").found_by("again regenerate redo repeat"),
    bind(A::EditLast, "edit-last", G::Conversation, Scope::Always, &[], "Edit and resend the last prompt").command("/edit", "").found_by("change"),
    bind(A::CopyAnswer, "copy", G::Conversation, Scope::Pane, &[ctrl('y')], "Copy the last answer, or a call's result").command("/copy", "[call]").argument(Arg::Words(words::COPY_WORDS)).found_by("clipboard yank code"),
    bind(A::Find, "find", G::Moving, Scope::Always, &[ctrl('f')], "Find in the chat").command("/find", "[TEXT]").found_by("search text"),
    bind(A::Undo, "undo", G::Conversation, Scope::Always, &[], "Undo the last turn").command("/undo", "").found_by("delete remove back revert rollback"),
    command(&notes::NOTE),
    command(&notes::NOTES),
    bind(A::Chat, "chat", G::Conversation, Scope::Always, &[], "Send a prompt without the note agents").command("/chat", "PROMPT"),
    command(&models::THINK),
    command(&settings::PERSONA),
    bind(A::Trust, "trust", G::Tools, Scope::Always, &[], "Review and revoke tool permissions").command("/trust", "").found_by("allow allowed always never approve permission revoke security safety block deny ban"),
    bind(A::ToggleServer, "toggle-mcp", G::Tools, Scope::Always, &[], "Switch a server on or off").command("/toggle-mcp", "[NUMBER|NAME]").argument(Arg::Server(&[])).found_by("enable disable"),
    bind(A::Continue, "continue", G::Conversation, Scope::Always, &[alt('c')], "Continue a truncated answer").command("/continue", "").found_by("more resume"),
    command(&settings::CONTEXT),
    bind(A::Command(&settings::CONTEXT), "tokens", G::Conversation, Scope::Always, &[], "Show what fills the model's context").command("/tokens", ""),
    bind(A::Compact, "compact", G::Conversation, Scope::Always, &[], "Summarize older messages to free context").command("/compact", "").found_by("shorten context tokens usage summary shrink compress"),
    bind(A::Attach, "attach", G::Writing, Scope::Always, &[ctrl('v')], "Paste an image; with a path, attach the file").command("/attach", "[PATH]").found_by("image picture file upload paste clipboard screenshot photo document"),
    bind(A::ServerPrompt, "prompt", G::Writing, Scope::Always, &[], "Use a server prompt or a template").command("/prompt", "[SERVER:PROMPT [VALUES]]").argument(Arg::ServerPrompt).found_by("mcp template own saved snippet macro"),
    bind(A::Resource, "resource", G::Writing, Scope::Always, &[], "Attach a server resource").command("/resource", "[SERVER:URI]").argument(Arg::ServerResource).found_by("mcp file data"),
    bind(A::Detach, "detach", G::Writing, Scope::Always, &[alt('x')], "Remove an attached file").command("/detach", "[NUMBER|NAME]").argument(Arg::AttachedFile).found_by("image file"),
    bind(A::SearchHistory, "recall", G::Writing, Scope::Always, &[ctrl('r')], "Search earlier prompts").found_by("history"),
    bind(A::EditExternally, "editor", G::Writing, Scope::Always, &[ctrl('g')], "Edit the message in $EDITOR"),
    command(&conversation::RENAME),
    command(&conversation::FORK),
    bind(A::Export, "export", G::Conversation, Scope::Always, &[], "Export this conversation to a file").command("/export", "[md|json|html] [PATH] [--last N] [--answers]").argument(Arg::Words(words::EXPORT_WORDS)).found_by("save markdown html write download chat print share archive transcript"),
    command(&conversation::DELETE),
    bind(A::RestoreSession, "restore-conversation", G::Conversation, Scope::Always, &[], "Undo /delete: restore that conversation").found_by("undelete deleted trash chat back"),
    bind(A::Branches, "branches", G::Conversation, Scope::Always, &[], "Switch to another branch").command("/branches", "[NUMBER]").found_by("versions alternatives earlier answer variants"),
    bind(A::Private, "private", G::Conversation, Scope::Always, &[], "Do not save this conversation").command("/private", "[off]").argument(Arg::Words(words::PRIVATE_WORDS)).found_by("incognito temporary secret anonymous hidden"),
    bind(A::ToggleSidebar, "sidebar", G::Screen, Scope::Always, &[function_key(2), ctrl('b')], "Show or hide the servers").command("/sidebar", "").found_by("pane panel"),
    bind(A::Thinking, "thinking", G::Screen, Scope::Always, &[function_key(3), ctrl('t')], "Show or hide the thinking").command("/thinking", "").found_by("reasoning"),
    bind(A::Raw, "raw", G::Screen, Scope::Always, &[function_key(5)], "Switch between raw and rendered answers").command("/raw", "").found_by("markdown source"),
    bind(A::CancelCall, "cancel", G::Tools, Scope::Always, &[], "Cancel one running call").command("/cancel", "[NUMBER|TOOL]").argument(Arg::RunningCall).found_by("stop abort kill"),
    bind(A::LeaveCall, "leave", G::Conversation, Scope::Always, &[alt('l')], "Leave a running task, and go on without it").command("/leave", "[NUMBER|TOOL]").argument(Arg::RunningCall).found_by("background task detach wait"),
    bind(A::Log, "log", G::Program, Scope::Always, &[function_key(12)], "Show the log, or a trace of the last answer").command("/log", "[answer]").argument(Arg::Words(words::LOG_WORDS)).found_by("errors debug console verbose bug diagnose"),
    bind(A::Theme, "theme", G::Screen, Scope::Always, &[], "Change the theme").command("/theme", "[NAME]").argument(Arg::Theme).found_by("color colour dark light scheme appearance"),
    bind(A::Mouse, "mouse", G::Screen, Scope::Always, &[alt('m')], "Mouse capture on or off (off: select as usual)").command("/mouse", "").found_by("select text"),
    command(&settings::RELOAD),
    command(&settings::PROBE),
    command(&settings::SYSTEM_PROMPT),
    bind(A::Redraw, "redraw", G::Screen, Scope::Always, &[ctrl('l')], "Redraw"),
    bind(A::Suspend, "suspend", G::Program, Scope::Always, &[ctrl('z')], "Suspend humble"),
    bind(A::Quit, "exit", G::Program, Scope::Always, &[], "Quit; all MCP sessions are closed").command("/exit", "").found_by("close leave bye"),
    bind(A::Quit, "quit", G::Program, Scope::Always, &[], "Quit; all MCP sessions are closed").command("/quit", ""),
    bind(A::NextPane, "next-pane", G::Moving, Scope::Always, &[key(K::Tab)], "Next pane"),
    bind(A::PreviousPane, "previous-pane", G::Moving, Scope::Always, &[chord(K::Tab, SHIFT)], "Previous pane"),
    bind(A::PageUp, "page-up", G::Moving, Scope::Always, &[key(K::PageUp)], "Scroll up a page"),
    bind(A::PageDown, "page-down", G::Moving, Scope::Always, &[key(K::PageDown)], "Scroll down a page"),
    bind(A::PreviousPrompt, "previous-prompt", G::Moving, Scope::Always, &[chord(K::Up, CTRL), chord(K::Up, ALT)], "Go to your previous message in the chat"),
    bind(A::NextPrompt, "next-prompt", G::Moving, Scope::Always, &[chord(K::Down, CTRL), chord(K::Down, ALT)], "Go to your next message in the chat"),
    bind(A::ScrollToStart, "to-start", G::Moving, Scope::Pane, &[chord(K::Home, CTRL)], "Scroll to the start"),
    bind(A::ScrollToEnd, "to-end", G::Moving, Scope::Pane, &[chord(K::End, CTRL)], "Scroll to the end and follow"),
    bind(A::Edit(Edit::Move(Motion::Up)), "up", G::Writing, Scope::Message, &[key(K::Up)], "Up / previous in history"),
    bind(A::Edit(Edit::Move(Motion::Down)), "down", G::Writing, Scope::Message, &[key(K::Down)], "Down / next in history"),
    bind(A::Edit(Edit::Move(Motion::WordLeft)), "word-left", G::Editing, Scope::Message, &[alt('b'), chord(K::Left, CTRL), chord(K::Left, ALT)], "Move a word left"),
    bind(A::Edit(Edit::Move(Motion::WordRight)), "word-right", G::Editing, Scope::Message, &[alt('f'), chord(K::Right, CTRL), chord(K::Right, ALT)], "Move a word right"),
    bind(A::Edit(Edit::Move(Motion::LineStart)), "line-start", G::Editing, Scope::Message, &[ctrl('a'), key(K::Home)], "Move to the start of the line"),
    bind(A::Edit(Edit::Move(Motion::LineEnd)), "line-end", G::Editing, Scope::Message, &[ctrl('e'), key(K::End)], "Move to the end of the line"),
    bind(A::Edit(Edit::KillToBlank), "delete-to-space", G::Editing, Scope::Message, &[ctrl('w')], "Delete back to the space before the word"),
    bind(A::Edit(Edit::KillWordLeft), "delete-word", G::Editing, Scope::Message, &[chord(K::Backspace, ALT), chord(K::Backspace, CTRL)], "Delete the word to the left"),
    bind(A::Edit(Edit::KillWordRight), "delete-word-right", G::Editing, Scope::Message, &[alt('d'), chord(K::Delete, CTRL), chord(K::Delete, ALT)], "Delete the word to the right"),
    bind(A::Edit(Edit::KillToStart), "delete-to-start", G::Editing, Scope::Message, &[ctrl('u')], "Delete to the start of the line"),
    bind(A::Edit(Edit::KillToEnd), "delete-to-end", G::Editing, Scope::Message, &[ctrl('k')], "Delete to the end of the line"),
    bind(A::Edit(Edit::Backspace), "backspace", G::Editing, Scope::Message, &[key(K::Backspace), ctrl('h'), chord(K::Backspace, SHIFT)], "Delete to the left"),
    bind(A::Edit(Edit::Delete), "delete", G::Editing, Scope::Message, &[key(K::Delete), ctrl('d')], "Delete to the right"),
    bind(A::Edit(Edit::Move(Motion::Left)), "left", G::Editing, Scope::Message, &[key(K::Left)], "Move left"),
    bind(A::Edit(Edit::Move(Motion::Right)), "right", G::Editing, Scope::Message, &[key(K::Right)], "Move right"),
    bind(A::Edit(Edit::Undo), "undo-edit", G::Editing, Scope::Message, &[ctrl('_'), ctrl('/')], "Undo"),
    bind(A::Edit(Edit::Redo), "redo-edit", G::Editing, Scope::Message, &[alt('_')], "Redo"),
    bind(A::Edit(Edit::Select(Motion::Left)), "select-left", G::Editing, Scope::Message, &[chord(K::Left, SHIFT)], "Select to the left"),
    bind(A::Edit(Edit::Select(Motion::Right)), "select-right", G::Editing, Scope::Message, &[chord(K::Right, SHIFT)], "Select to the right"),
    bind(A::Edit(Edit::Select(Motion::Up)), "select-up", G::Editing, Scope::Message, &[chord(K::Up, SHIFT)], "Select up"),
    bind(A::Edit(Edit::Select(Motion::Down)), "select-down", G::Editing, Scope::Message, &[chord(K::Down, SHIFT)], "Select down"),
    bind(A::Edit(Edit::Select(Motion::WordLeft)), "select-word-left", G::Editing, Scope::Message, &[chord(K::Left, CTRL_SHIFT), chord(K::Left, ALT_SHIFT)], "Select a word to the left"),
    bind(A::Edit(Edit::Select(Motion::WordRight)), "select-word-right", G::Editing, Scope::Message, &[chord(K::Right, CTRL_SHIFT), chord(K::Right, ALT_SHIFT)], "Select a word to the right"),
    bind(A::Edit(Edit::Select(Motion::LineStart)), "select-to-line-start", G::Editing, Scope::Message, &[chord(K::Home, SHIFT)], "Select to the start of the line"),
    bind(A::Edit(Edit::Select(Motion::LineEnd)), "select-to-line-end", G::Editing, Scope::Message, &[chord(K::End, SHIFT)], "Select to the end of the line"),
    bind(A::Edit(Edit::Select(Motion::TextStart)), "select-to-start", G::Editing, Scope::Message, &[chord(K::Home, CTRL_SHIFT)], "Select to the start of the message"),
    bind(A::Edit(Edit::Select(Motion::TextEnd)), "select-to-end", G::Editing, Scope::Message, &[chord(K::End, CTRL_SHIFT)], "Select to the end of the message"),
    bind(A::Edit(Edit::SelectAll), "select-all", G::Editing, Scope::Message, &[alt('a')], "Select the whole message"),
    bind(A::Edit(Edit::Copy), "copy-selection", G::Editing, Scope::Message, &[alt('w')], "Copy the selection").found_by("clipboard"),
    bind(A::Edit(Edit::Cut), "cut", G::Editing, Scope::Message, &[ctrl('x')], "Cut the selection").found_by("clipboard delete"),
    bind(A::Edit(Edit::Yank), "yank", G::Editing, Scope::Message, &[ctrl('y')], "Paste the text that was cut last (yank)").found_by("insert clipboard"),
    bind(A::Edit(Edit::YankEarlier), "yank-earlier", G::Editing, Scope::Message, &[alt('y')], "Replace the yanked text with an earlier cut"),
    bind(A::Edit(Edit::Unfold), "unfold-paste", G::Editing, Scope::Message, &[alt('u')], "Unfold or fold a paste"),
    bind(A::Edit(Edit::Move(Motion::TextStart)), "text-start", G::Editing, Scope::Message, &[chord(K::Home, CTRL)], "Move to the start of the message"),
    bind(A::Edit(Edit::Move(Motion::TextEnd)), "text-end", G::Editing, Scope::Message, &[chord(K::End, CTRL)], "Move to the end of the message"),
    bind(A::ToggleServer, "toggle", G::ServersPane, Scope::Servers, &[key(K::Char(' '))], "Switch the server or tool on or off"),
    bind(A::NextMatch, "next-match", G::Chat, Scope::Matches, &[key(K::Char('n')), key(K::Enter)], "Go to the next match"),
    bind(A::PreviousMatch, "previous-match", G::Chat, Scope::Matches, &[chord(K::Char('n'), SHIFT), chord(K::Enter, SHIFT)], "Go to the previous match"),
    bind(A::PreviousLine, "previous-line", G::Chat, Scope::Pane, &[key(K::Up)], "Select the previous message, block or call"),
    bind(A::NextLine, "next-line", G::Chat, Scope::Pane, &[key(K::Down)], "Select the next message, block or call"),
    bind(A::ToggleFold, "unfold", G::Chat, Scope::Pane, &[key(K::Enter), key(K::Char(' '))], "Unfold or fold the selected line").found_by("expand collapse call thinking"),
    bind(A::CopySelected, "copy-selected", G::Chat, Scope::ChatStop, &[key(K::Char('y'))], "Copy the selection, as source"),
    bind(A::CopyAsShown, "copy-as-shown", G::Chat, Scope::ChatStop, &[chord(K::Char('y'), SHIFT)], "Copy the selection, as shown"),
    bind(A::SelectLines, "select-lines", G::Chat, Scope::ChatStop, &[key(K::Char('v'))], "Select lines from here on"),
    bind(A::LinesToStart, "lines-to-start", G::Chat, Scope::Lines, &[key(K::Home), key(K::Char('g'))], "Extend the lines to the start of the message"),
    bind(A::LinesToEnd, "lines-to-end", G::Chat, Scope::Lines, &[key(K::End), chord(K::Char('g'), SHIFT)], "Extend the lines to the end of the message"),
    bind(A::EditMessage, "edit-message", G::Chat, Scope::ChatStop, &[key(K::Char('e'))], "Edit the message; sending makes a branch"),
    bind(A::MessageBranches, "message-branches", G::Chat, Scope::ChatStop, &[key(K::Char('b'))], "List the message's other branches"),
    bind(A::DropStopped, "drop-stopped", G::Chat, Scope::ChatStop, &[key(K::Char('u'))], "Drop the turn, if you stopped its answer"),
    bind(A::OpenCall, "open-call", G::Chat, Scope::CallLine, &[key(K::Char('o'))], "Show the full call"),
    bind(A::AttachLink, "attach-link", G::Chat, Scope::CallLine, &[key(K::Char('l'))], "Attach a resource that the result links to"),
    bind(A::CancelCall, "cancel-call", G::Chat, Scope::CallLine, &[key(K::Char('c'))], "Cancel this running call"),
    bind(A::UnfoldServerRow, "unfold-row", G::ServersPane, Scope::Servers, &[key(K::Right)], "Unfold the selected line"),
    bind(A::FoldServer, "fold", G::ServersPane, Scope::Servers, &[key(K::Left)], "Collapse this server"),
    bind(A::ScrollToStart, "first-server", G::ServersPane, Scope::Servers, &[key(K::Home)], "Go to the first server"),
    bind(A::ScrollToEnd, "last-row", G::ServersPane, Scope::Servers, &[key(K::End)], "Go to the last row"),
    bind(A::Reconnect, "reconnect", G::ServersPane, Scope::Servers, &[key(K::Char('r'))], "Restart or reconnect"),
    bind(A::Stderr, "stderr", G::ServersPane, Scope::Servers, &[key(K::Char('l'))], "Show the server's stderr"),
    bind(A::Instructions, "instructions", G::ServersPane, Scope::Servers, &[key(K::Char('i'))], "Show the server's instructions"),
    bind(A::Withheld, "withheld", G::ServersPane, Scope::Servers, &[key(K::Char('w'))], "Show how a withheld tool changed"),
];

/// A letter typed with Shift, as the table writes it.
fn shifted_letter(event: KeyEvent) -> Option<Chord> {
    let (KeyCode::Char(c), modifiers) = normalize_key(event) else {
        return None;
    };
    let is_shifted = c.is_ascii_uppercase() || event.modifiers.contains(SHIFT);
    (modifiers.is_empty() && is_shifted).then(|| chord(K::Char(latin_key(c)), SHIFT))
}

/// Like [`normalize_key`], but a letter without Ctrl or Alt also becomes the lower-case Latin letter on
/// its key.
pub fn normalize_chord(event: KeyEvent) -> Chord {
    let (code, modifiers) = normalize_key(event);
    let code = match code {
        KeyCode::Char(c) if modifiers.is_empty() => KeyCode::Char(latin_key(c)),
        code => code,
    };
    Chord { code, modifiers }
}

/// All bindings, in the order of the documentation.
pub fn all_bindings() -> impl Iterator<Item = &'static Binding> {
    TABLE.iter().chain(LAYER_TABLE)
}

/// The first binding of an action in [`TABLE`].
pub fn binding_for(action: Action) -> Option<&'static Binding> {
    TABLE.iter().find(|binding| binding.action == action)
}

/// All bindings with a command, in table order.
pub fn commands() -> impl Iterator<Item = (&'static str, &'static Binding)> {
    TABLE
        .iter()
        .filter_map(|binding| Some((binding.command?, binding)))
}

/// The other commands of the same action, such as `/clear` for `/new`. They can be typed but
/// are not listed.
pub fn command_aliases(listed: &'static Binding) -> impl Iterator<Item = &'static str> {
    commands()
        .filter(move |(_, other)| other.action == listed.action && other.name != listed.name)
        .map(|(alias, _)| alias)
}

/// The commands that lists show: the first of each action.
pub fn listed_commands() -> impl Iterator<Item = (&'static str, &'static Binding)> {
    commands().filter(|(_, binding)| {
        let first = commands().find(|(_, other)| other.action == binding.action);
        first.is_some_and(|(_, first)| first.name == binding.name)
    })
}

/// The command of this name, in any letter case.
pub fn find_command(name: &str) -> Option<(&'static str, &'static Binding)> {
    let name = name.to_lowercase();
    commands().find(|(command, _)| *command == name)
}

#[cfg(test)]
mod layer_tests;
#[cfg(test)]
mod tests;
