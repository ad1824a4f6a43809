//! What a command asks for, if its argument does not say it. Each front end asks in its own way.

use super::calls::CallVerb;
use super::{CommandCx, CommandRow};
use crate::domain::{CallId, Notice, ServerId, SessionId};
use crate::protocol::Command;

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
    View(WantedView),
}

/// What each front end shows in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedView {
    /// The models of all servers.
    Models,
    /// The configured models, with numbers.
    ConfiguredModels,
    /// A field for the name of a model to pull.
    PulledModel,
    /// All servers and their tools.
    Servers,
    Server(ServerId),
    HideServers,
    /// The server to add, as `NAME COMMAND`; how to add one if that is incomplete.
    AddServer(String),
    ServerLog(ServerId),
    SignIn(ServerId),
    /// The values that a server lacks.
    Variables(ServerId),
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

    pub fn pick(self, cx: &mut dyn CommandCx) {
        match self.effect {
            PickEffect::Run(row, argument) => row.run_shared(cx, &argument),
            PickEffect::Call(verb, call) => verb.apply(call, cx),
            PickEffect::Send(command) => cx.send(*command),
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
