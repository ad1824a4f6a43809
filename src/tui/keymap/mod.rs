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

use crate::commands::{
    COMMANDS, CommandRow, calls, conversation, models, screen, servers, turns, writing,
};
use crate::tui::input::decode::{latin_key, normalize_key};
use crate::tui::widgets::editor::{Edit, Motion};
use chord::{ALT, ALT_SHIFT, CTRL, CTRL_SHIFT, SHIFT, alt, chord, ctrl, key};
use crossterm::event::{KeyCode, KeyEvent};
use layers::LayerKey;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The function of a command.
    Command(&'static CommandRow),
    Send,
    Interrupt,
    Back,
    NextPane,
    PreviousPane,
    Commands,
    ToggleServer,
    RestoreSession,
    EditExternally,
    PageUp,
    PageDown,
    PreviousPrompt,
    NextPrompt,
    ScrollToStart,
    ScrollToEnd,
    SearchHistory,
    Redraw,
    Suspend,
    Edit(Edit),
    PreviousLine,
    NextLine,
    ToggleFold,
    FoldServer,
    UnfoldServerRow,
    Reconnect,
    Stderr,
    Instructions,
    Withheld,
    CancelCall,
    OpenCall,
    AttachLink,
    CopySelected,
    CopyAsShown,
    SelectLines,
    LinesToStart,
    LinesToEnd,
    NextMatch,
    PreviousMatch,
    EditMessage,
    MessageBranches,
    /// Drops the turn whose answer the user stopped.
    DropStopped,
    /// A key of a list, form, text or question.
    Layer(LayerKey),
}

/// The commands that hints name and that layers belong to.
impl Action {
    pub const ANSWER: Self = Self::Command(&turns::ANSWER);
    pub const CONTINUE: Self = Self::Command(&turns::CONTINUE);
    pub const DELETE_SESSION: Self = Self::Command(&conversation::DELETE);
    pub const DETACH: Self = Self::Command(&writing::DETACH);
    pub const EXIT: Self = Self::Command(&screen::EXIT);
    pub const EXPORT: Self = Self::Command(&conversation::EXPORT);
    pub const FIND: Self = Self::Command(&screen::FIND);
    pub const HELP: Self = Self::Command(&screen::HELP);
    pub const IMPORT: Self = Self::Command(&servers::IMPORT);
    pub const KEYS: Self = Self::Command(&screen::KEYS);
    pub const LEAVE: Self = Self::Command(&calls::LEAVE);
    pub const LOG: Self = Self::Command(&screen::LOG);
    pub const MCP: Self = Self::Command(&servers::MCP);
    pub const MODELS: Self = Self::Command(&models::MODELS);
    pub const MOUSE: Self = Self::Command(&screen::MOUSE);
    pub const PROMPT: Self = Self::Command(&writing::PROMPT);
    pub const RAW: Self = Self::Command(&screen::RAW);
    pub const RESOURCE: Self = Self::Command(&writing::RESOURCE);
    pub const RETRY: Self = Self::Command(&turns::RETRY);
    pub const SESSIONS: Self = Self::Command(&conversation::SESSIONS);
    pub const SET_MODEL: Self = Self::Command(&models::SET_MODEL);
    pub const SIDEBAR: Self = Self::Command(&screen::SIDEBAR);
    pub const THINKING: Self = Self::Command(&screen::THINKING);
    pub const TOOLS: Self = Self::Command(&servers::TOOLS);
    pub const TRUST: Self = Self::Command(&servers::TRUST);
}

#[derive(Debug, Clone)]
pub struct Binding {
    pub action: Action,
    /// Unique among all bindings. `keys` in `config.json` uses these names.
    pub name: &'static str,
    pub group: BindingGroup,
    /// The keys unless the user chooses others; [`Keymap`] has those in use.
    pub default_keys: &'static [Chord],
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
        description,
        search_words: "",
        scope,
        ignores_modifiers: false,
    }
}

/// The binding of a command. Its keys live as long as the program.
fn command(row: &'static CommandRow) -> Binding {
    let keys = row.keys.iter().filter_map(|key| key.parse().ok());
    let keys: Vec<Chord> = keys.collect();
    let scope = match row.keys_spare_message {
        true => BindingScope::Pane,
        false => BindingScope::Always,
    };
    let action = Action::Command(row);
    bind(
        action,
        row.binding,
        row.group,
        scope,
        keys.leak(),
        row.description,
    )
    .found_by(row.search_words)
}

impl Binding {
    const fn found_by(mut self, search_words: &'static str) -> Self {
        self.search_words = search_words;
        self
    }

    const fn any_modifiers(mut self) -> Self {
        self.ignores_modifiers = true;
        self
    }

    pub fn command(&self) -> Option<&'static CommandRow> {
        match self.action {
            Action::Command(row) => Some(row),
            _ => None,
        }
    }

    /// Whether `keys` in `config.json` may name it so: by its name, or by another name of its command.
    fn has_name(&self, name: &str) -> bool {
        let mut aliases = self.command().map_or(&[][..], |row| row.aliases).iter();
        self.name == name || aliases.any(|alias| alias[1..] == *name)
    }
}

use {Action as A, BindingGroup as G, BindingScope as Scope, KeyCode as K};

/// The keys of a message and then the commands come first: the palette and the help keep this order.
pub static TABLE: LazyLock<Vec<Binding>> = LazyLock::new(|| {
    let commands = COMMANDS.iter().map(|row| command(row));
    let first = FIRST_KEYS.iter().cloned().chain(commands);
    first.chain(OTHER_KEYS.iter().cloned()).collect()
});

#[rustfmt::skip]
const FIRST_KEYS: &[Binding] = &[
    bind(A::Send, "send", G::Writing, Scope::Message, &[key(K::Enter)], "Send the message"),
    bind(A::Edit(Edit::Newline), "newline", G::Writing, Scope::Message, &[chord(K::Enter, ALT), chord(K::Enter, SHIFT), ctrl('j')], "Insert a line break"),
    bind(A::Interrupt, "interrupt", G::Conversation, Scope::Always, &[ctrl('c')], "Stop the turn, clear the message, or quit"),
    bind(A::Commands, "commands", G::Program, Scope::Always, &[ctrl('p')], "Find a command"),
    bind(A::Back, "back", G::Moving, Scope::Always, &[key(K::Esc)], "Close or go back"),
];

// One row per binding. The help keeps the order within each group.
#[rustfmt::skip]
const OTHER_KEYS: &[Binding] = &[
    bind(A::SearchHistory, "recall", G::Writing, Scope::Always, &[ctrl('r')], "Search earlier prompts").found_by("history"),
    bind(A::EditExternally, "editor", G::Writing, Scope::Always, &[ctrl('g')], "Edit the message in $EDITOR"),
    bind(A::RestoreSession, "restore-conversation", G::Conversation, Scope::Always, &[], "Undo /delete: restore that conversation").found_by("undelete deleted trash chat back"),
    bind(A::Redraw, "redraw", G::Screen, Scope::Always, &[ctrl('l')], "Redraw"),
    bind(A::Suspend, "suspend", G::Program, Scope::Always, &[ctrl('z')], "Suspend humble"),
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

#[cfg(test)]
mod layer_tests;
#[cfg(test)]
mod tests;
