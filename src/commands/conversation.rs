//! Commands on conversations as a whole.

use super::arguments::{ArgumentKind as Arg, DELETE_WORDS, EXPORT_WORDS, PRIVATE_WORDS};
use super::{BindingGroup as G, CommandCx, CommandRow, Wanted, WantedView, send_if_idle};
use crate::domain::Notice;
use crate::domain::session_export::ExportArguments;
use crate::protocol::{Command, SavedSessionCommand};

pub static SESSIONS: CommandRow = CommandRow::new(
    "/sessions",
    "sessions",
    G::Conversation,
    "Open an earlier conversation",
    |cx, words| cx.show(WantedView::Sessions(words.to_owned())),
)
.usage("[WORDS]", Arg::Free)
.keys(&["Ctrl+O", "F4"])
.found_by("history resume load previous chats archive past recent");

pub static NEW: CommandRow = CommandRow::new(
    "/new",
    "new",
    G::Conversation,
    "Start a new conversation",
    |cx, _| cx.send(Command::NewSession),
)
.also_called(&["/clear"])
.found_by("reset start chat forget");

pub static RENAME: CommandRow = CommandRow::new(
    "/rename",
    "rename",
    G::Conversation,
    "Rename this conversation",
    rename,
)
.usage("TITLE", Arg::Free)
.found_by("title name chat");

pub static FORK: CommandRow = CommandRow::new(
    "/fork",
    "fork",
    G::Conversation,
    "Continue in a copy of this conversation",
    |cx, _| send_if_idle(cx, Command::ForkSession),
)
.found_by("duplicate chat branch clone");

pub static DELETE: CommandRow = CommandRow::new(
    "/delete",
    "delete-conversation",
    G::Conversation,
    "Delete this conversation",
    delete,
)
.usage("[undo]", Arg::Words(DELETE_WORDS))
.found_by("remove trash chat erase wipe");

pub static EXPORT: CommandRow = CommandRow::new(
    "/export",
    "export",
    G::Conversation,
    "Export this conversation to a file",
    export,
)
.usage(
    "[md|json|html] [PATH] [--last N] [--answers]",
    Arg::Words(EXPORT_WORDS),
)
.found_by("save markdown html write download chat print share archive transcript");

pub static BRANCHES: CommandRow = CommandRow::new(
    "/branches",
    "branches",
    G::Conversation,
    "Switch to another branch",
    branches,
)
.usage("[NUMBER]", Arg::Free)
.found_by("versions alternatives earlier answer variants");

pub static PRIVATE: CommandRow = CommandRow::new(
    "/private",
    "private",
    G::Conversation,
    "Do not save this conversation",
    |cx, argument| match argument {
        "" | "on" => cx.ask_for(Wanted::PrivateMode(true)),
        "off" => cx.ask_for(Wanted::PrivateMode(false)),
        _ => cx.notify(PRIVATE.usage_notice()),
    },
)
.usage("[off]", Arg::Words(PRIVATE_WORDS))
.found_by("incognito temporary secret anonymous hidden");

fn rename(cx: &mut dyn CommandCx, argument: &str) {
    if !argument.is_empty() {
        return cx.send(Command::RenameSession(argument.to_owned()));
    }
    let question = match cx.state().conversation.title.as_str() {
        "" => "Title: ".to_owned(),
        title => format!("New title instead of \"{title}\": "),
    };
    let row = &RENAME;
    cx.ask_for(Wanted::Argument { row, question });
}

fn delete(cx: &mut dyn CommandCx, argument: &str) {
    let conversation = cx.state().conversation;
    match (argument, &conversation.session) {
        ("undo", _) => undo_delete(cx),
        ("", Some(session)) => {
            let (session, title) = (session.clone(), conversation.title.clone());
            cx.ask_for(Wanted::Deletion { session, title });
        }
        ("", None) => cx.notify(Notice::info(
            "Nothing to delete: this conversation is not saved.",
        )),
        _ => cx.notify(DELETE.usage_notice()),
    }
}

pub fn undo_delete(cx: &mut dyn CommandCx) {
    cx.send(Command::SavedSession(SavedSessionCommand::UndoDelete));
}

fn export(cx: &mut dyn CommandCx, argument: &str) {
    if cx.state().transcript.entries().is_empty() {
        let notice = Notice::info("Nothing to export: there is no answer yet.");
        return cx.notify(notice);
    }
    match ExportArguments::parse(argument) {
        Ok(arguments) => cx.ask_for(Wanted::Export {
            arguments,
            is_open: argument.is_empty(),
        }),
        Err(why) => cx.notify(Notice::warning(why)),
    }
}

fn branches(cx: &mut dyn CommandCx, argument: &str) {
    if !cx.has_to_wait() {
        cx.ask_for(Wanted::Branch(argument.to_owned()));
    }
}
