//! The slash commands: one row each, with its function, for the screen and for `--linear`. A function
//! parses the argument, resolves names, refuses and sends; what the front ends do in different ways, it
//! asks of them ([`Wanted`]). A new command is its row, its place in [`COMMANDS`] and its row in
//! `docs/keys.md`. The screen's key table adds the actions that have no command.

pub mod arguments;
pub mod calls;
pub mod conversation;
mod group;
pub mod models;
pub mod notes;
pub mod screen;
pub mod servers;
pub mod settings;
mod table;
pub mod turns;
mod wanted;
pub mod writing;

pub use arguments::ArgumentKind;
pub use group::BindingGroup;
pub use table::*;
pub use wanted::{PickEffect, PickList, PickRow, ScreenPart, Wanted, WantedView};

use crate::domain::{CallId, Notice, Server, ServerId, Transcript};
use crate::front_end::conversation_state::ConversationState;
use crate::front_end::engine_state::EngineState;
use crate::protocol::Command;
use std::fmt;

/// A command, and everything that help, completion, the palette and the documentation say about it.
pub struct CommandRow {
    /// With its slash.
    pub name: &'static str,
    /// Further names, with their slash. They can be typed but are not listed.
    pub aliases: &'static [&'static str],
    /// Unique among all bindings. `keys` in `config.json` uses these names.
    pub binding: &'static str,
    /// Default keys on the screen, as `keys` in `config.json` names them.
    pub keys: &'static [&'static str],
    /// Whether the keys act only while the message does not have the focus.
    pub keys_spare_message: bool,
    pub group: BindingGroup,
    /// Argument syntax.
    pub usage: &'static str,
    /// How the argument is completed.
    pub argument: ArgumentKind,
    pub description: &'static str,
    /// Other words by which it is found.
    pub search_words: &'static str,
    /// Carries it out with its argument, which is trimmed.
    pub run: fn(&mut dyn CommandCx, &str),
}

impl CommandRow {
    /// A row for a command without argument.
    pub const fn new(
        name: &'static str,
        binding: &'static str,
        group: BindingGroup,
        description: &'static str,
        run: fn(&mut dyn CommandCx, &str),
    ) -> Self {
        Self {
            name,
            aliases: &[],
            binding,
            keys: &[],
            keys_spare_message: false,
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

    const fn also_called(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn sparing_message(mut self) -> Self {
        self.keys_spare_message = true;
        self
    }

    const fn keys(mut self, keys: &'static [&'static str]) -> Self {
        self.keys = keys;
        self
    }

    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether the command does nothing without an argument.
    pub fn needs_argument(&self) -> bool {
        !self.usage.is_empty() && !self.usage.starts_with('[')
    }

    /// `Usage: /note [PATH|off]`.
    pub fn usage_line(&self) -> String {
        format!("Usage: {} {}", self.name, self.usage)
    }

    /// For an argument that cannot be used.
    pub fn usage_notice(&self) -> Notice {
        Notice::warning(self.usage_line())
    }
}

impl fmt::Debug for CommandRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
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

impl dyn CommandCx + '_ {
    fn show(&mut self, view: WantedView) {
        self.ask_for(Wanted::View(view));
    }

    fn switch(&mut self, part: ScreenPart) {
        self.ask_for(Wanted::Part(part));
    }
}

/// Sends a command that has to wait while a turn runs.
fn send_if_idle(cx: &mut dyn CommandCx, command: Command) {
    if !cx.has_to_wait() {
        cx.send(command);
    }
}
