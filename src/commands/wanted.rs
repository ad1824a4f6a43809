//! What a command asks of the front end, which does it in its own way.

use super::calls::CallVerb;
use super::{CommandCx, CommandRow};
use crate::domain::attachment::AttachmentSource;
use crate::domain::session_export::ExportArguments;
use crate::domain::{Attachment, CallId, Notice, Prompt, ServerId, SessionId};
use crate::protocol::Command;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// One row of a list.
    Row(PickList),
    /// The argument of this command, which then runs with it.
    Argument {
        row: &'static CommandRow,
        /// Such as `Title: `.
        question: String,
    },
    /// The user's consent to deleting this conversation.
    Deletion {
        session: SessionId,
        title: String,
    },
    /// A turn that starts now.
    Turn(Prompt),
    /// A turn that no note agent answers; it waits for the running one.
    ChatPrompt(String),
    /// A turn that summarizes the older part of the context.
    Summary,
    /// A new text for the last prompt, whose turn it replaces.
    EditedPrompt {
        text: String,
        files: Vec<Arc<Attachment>>,
    },
    /// The last turn or summary undone.
    Undo,
    /// Another branch: the one with this number, or one that the user picks.
    Branch(String),
    /// Private mode on or off.
    PrivateMode(bool),
    /// A copy in the clipboard; `name` says of what.
    Copy {
        name: String,
        text: String,
    },
    Export {
        arguments: ExportArguments,
        /// The user has given none, and may be asked.
        is_open: bool,
    },
    File(AttachmentSource),
    /// The removal of the file with this name or number; of the last one if empty.
    Detachment(String),
    Exit,
    View(WantedView),
    Part(ScreenPart),
}

impl Wanted {
    /// A resource of a server as a file of the message.
    pub fn resource(server: ServerId, uri: String) -> Self {
        Self::File(AttachmentSource::Resource { server, uri })
    }
}

/// What each front end shows in its own way, the screen over the chat. Words filter a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedView {
    Sessions(String),
    /// The models of all servers.
    Models,
    /// The configured models, with numbers.
    ConfiguredModels,
    /// A field for the name of a model to pull.
    PulledModel,
    /// All servers and their tools.
    Servers,
    Server(ServerId),
    /// The server to add, as `NAME COMMAND`; how to add one if that is incomplete.
    AddServer(String),
    ServerLog(ServerId),
    SignIn(ServerId),
    /// The values that a server lacks.
    Variables(ServerId),
    Tools(String),
    /// The servers of other clients.
    ServerImport,
    /// The lasting decisions about tools.
    Trust,
    /// `SERVER:PROMPT VALUES`, or the list of prompts and templates if empty.
    ServerPrompts(String),
    /// `SERVER:URI`, or the list of resources if empty.
    Resources(String),
    Log,
    ReplyTrace,
    /// The theme with this name or number, or the list.
    Theme(String),
}

/// What is about the screen as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenPart {
    /// The help, filtered by this word.
    Help(String),
    ChangingKeys,
    /// A question that waits for an answer.
    Question,
    /// The find bar, with this text.
    Find(String),
    Sidebar,
    HideServers,
    Thinking,
    RawAnswers,
    MouseCapture,
}

/// A numbered list of which the user picks one row. Zero picks none.
#[derive(Debug, Clone, PartialEq)]
pub struct PickList {
    pub title: &'static str,
    /// What number 0 does.
    pub keep: &'static str,
    pub rows: Vec<PickRow>,
    /// The row that is in use.
    pub current: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PickRow {
    pub name: String,
    /// A description or a state.
    pub note: String,
    pub effect: PickEffect,
}

/// What picking a row does.
#[derive(Debug, Clone, PartialEq)]
pub enum PickEffect {
    Send(Box<Command>),
    /// Runs a command with this argument.
    Run(&'static CommandRow, String),
    Call(CallVerb, CallId),
    Ask(Box<Wanted>),
}

impl PickRow {
    /// A row whose name is an argument of the command that lists it.
    pub fn of(row: &'static CommandRow, name: &str, note: &str) -> Self {
        Self {
            name: name.to_owned(),
            note: note.to_owned(),
            effect: PickEffect::Run(row, name.to_owned()),
        }
    }

    pub fn asking(wanted: Wanted, name: &str, note: &str) -> Self {
        Self {
            name: name.to_owned(),
            note: note.to_owned(),
            effect: PickEffect::Ask(Box::new(wanted)),
        }
    }

    pub fn pick(self, cx: &mut dyn CommandCx) {
        match self.effect {
            PickEffect::Run(row, argument) => (row.run)(cx, &argument),
            PickEffect::Call(verb, call) => verb.apply(call, cx),
            PickEffect::Send(command) => cx.send(*command),
            PickEffect::Ask(wanted) => cx.ask_for(*wanted),
        }
    }
}

impl PickList {
    /// Asks for a row. An argument, which must be a number, picks it at once.
    pub fn ask(mut self, argument: &str, cx: &mut dyn CommandCx) {
        if argument.is_empty() {
            return cx.ask_for(Wanted::Row(self));
        }
        match argument.parse::<usize>() {
            Ok(0) => cx.notify(Notice::info("Nothing was changed.")),
            Ok(number) if number <= self.rows.len() => self.rows.swap_remove(number - 1).pick(cx),
            _ => cx.notify(Notice::warning(format!(
                "Please enter a number from 0 to {}.",
                self.rows.len()
            ))),
        }
    }
}
