//! The slash commands: one row each, with its function, for the screen and for `--linear`. A function
//! parses the argument, resolves names, refuses and sends; what differs between the front ends is how
//! they ask for what is missing ([`Wanted`]). The screen's key table adds the actions that are only
//! about the screen.

pub mod arguments;
pub mod conversation;
pub mod conversation_state;
pub mod engine_state;
mod group;
pub mod models;
pub mod notes;
pub mod settings;
mod wanted;

pub use arguments::ArgumentKind;
pub use group::BindingGroup;
pub use wanted::{PickList, PickRow, View, Wanted};

use crate::domain::{Notice, Transcript};
use crate::protocol::Command;
use conversation_state::ConversationState;
use engine_state::EngineState;

/// A command, and everything that help, completion, the palette and the documentation say about it.
#[derive(Debug)]
pub struct CommandRow {
    /// With its slash.
    pub name: &'static str,
    /// Unique among all bindings. `keys` in `config.json` uses these names.
    pub binding: &'static str,
    pub group: BindingGroup,
    /// Argument syntax.
    pub usage: &'static str,
    /// How the argument is completed.
    pub argument: ArgumentKind,
    pub description: &'static str,
    /// Other words by which it is found.
    pub search_words: &'static str,
    pub run: fn(&mut dyn CommandCx, &str),
}

impl CommandRow {
    /// A row for `/NAME` without argument; other fields replace the defaults.
    pub const fn new(
        name: &'static str,
        binding: &'static str,
        group: BindingGroup,
        description: &'static str,
        run: fn(&mut dyn CommandCx, &str),
    ) -> Self {
        Self {
            name,
            binding,
            group,
            usage: "",
            argument: ArgumentKind::Free,
            description,
            search_words: "",
            run,
        }
    }

    const fn usage(mut self, usage: &'static str, argument: ArgumentKind) -> Self {
        self.usage = usage;
        self.argument = argument;
        self
    }

    const fn found_by(mut self, search_words: &'static str) -> Self {
        self.search_words = search_words;
        self
    }

    /// `Usage: /note [PATH|off]`.
    pub fn usage_notice(&self) -> Notice {
        Notice::warning(format!("Usage: {} {}", self.name, self.usage))
    }
}

impl PartialEq for CommandRow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CommandRow {}

/// What a command may read and do.
pub trait CommandCx {
    fn state(&self) -> CommandState<'_>;
    fn send(&mut self, command: Command);
    fn notify(&mut self, notice: Notice);
    /// Says why a command that changes the conversation has to wait. Returns whether it has to.
    fn has_to_wait(&mut self) -> bool;
    fn ask_for(&mut self, wanted: Wanted);
}

#[derive(Debug, Clone, Copy)]
pub struct CommandState<'a> {
    pub engine: &'a EngineState,
    pub conversation: &'a ConversationState,
    pub transcript: &'a Transcript,
}

/// Sends a command that has to wait while a turn runs.
fn send_if_idle(cx: &mut dyn CommandCx, command: Command) {
    if !cx.has_to_wait() {
        cx.send(command);
    }
}
