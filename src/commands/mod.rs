//! The slash commands: one row each, with its function, for the screen and for `--linear`. A function
//! parses the argument, resolves names, refuses and sends; what differs between the front ends is how
//! they ask for what is missing ([`Wanted`]). The screen's key table adds the actions that are only
//! about the screen.

pub mod arguments;
pub mod calls;
pub mod conversation;
mod group;
pub mod models;
pub mod notes;
pub mod servers;
pub mod settings;
mod table;
mod wanted;

pub use arguments::ArgumentKind;
pub use group::BindingGroup;
pub use table::*;
pub use wanted::{PickEffect, PickList, PickRow, Wanted, WantedView};

use crate::domain::{CallId, Notice, Server, ServerId, Transcript};
use crate::front_end::conversation_state::ConversationState;
use crate::front_end::engine_state::EngineState;
use crate::protocol::Command;

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
    /// A further name of the command before it. It can be typed but is not listed.
    pub is_alias: bool,
    pub run: Run,
}

#[derive(Debug, Clone, Copy)]
pub enum Run {
    Shared(fn(&mut dyn CommandCx, &str)),
    FrontEnd(FrontEndCommand),
}

impl CommandRow {
    /// A row for a command without argument.
    pub const fn new(
        name: &'static str,
        binding: &'static str,
        group: BindingGroup,
        description: &'static str,
        run: Run,
    ) -> Self {
        Self {
            name,
            binding,
            group,
            usage: "",
            argument: ArgumentKind::Free,
            description,
            search_words: "",
            is_alias: false,
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

    const fn alias(mut self) -> Self {
        self.is_alias = true;
        self
    }

    /// Runs the function of the command; does nothing for one of the front ends.
    pub fn run_shared(&self, cx: &mut dyn CommandCx, argument: &str) {
        if let Run::Shared(run) = self.run {
            run(cx, argument);
        }
    }

    /// Whether the command does nothing without an argument.
    pub fn needs_argument(&self) -> bool {
        !self.usage.is_empty() && !self.usage.starts_with('[')
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
    /// Announces whether this server connects, because the user waits for it.
    fn await_server(&mut self, id: &ServerId);
}

#[derive(Debug, Clone, Copy)]
pub struct CommandState<'a> {
    pub engine: &'a EngineState,
    pub servers: &'a [Server],
    pub conversation: &'a ConversationState,
    pub transcript: &'a Transcript,
    /// The call that the user has selected in the chat.
    pub selected_call: Option<CallId>,
}

/// Sends a command that has to wait while a turn runs.
fn send_if_idle(cx: &mut dyn CommandCx, command: Command) {
    if !cx.has_to_wait() {
        cx.send(command);
    }
}
