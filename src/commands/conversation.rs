//! Commands on the open conversation: `/rename`, `/fork`, `/delete`.

use super::arguments::{ArgumentKind as Arg, DELETE_WORDS};
use super::{BindingGroup as G, CommandCx, CommandRow, Run, Wanted, send_if_idle};
use crate::domain::Notice;
use crate::protocol::{Command, SavedSessionCommand};

pub static RENAME: CommandRow = CommandRow::new(
    "/rename",
    "rename",
    G::Conversation,
    "Rename this conversation",
    Run::Shared(rename),
)
.usage("TITLE", Arg::Free)
.found_by("title name chat");

pub static FORK: CommandRow = CommandRow::new(
    "/fork",
    "fork",
    G::Conversation,
    "Continue in a copy of this conversation",
    Run::Shared(|cx, _| send_if_idle(cx, Command::ForkSession)),
)
.found_by("duplicate chat branch clone");

pub static DELETE: CommandRow = CommandRow::new(
    "/delete",
    "delete-conversation",
    G::Conversation,
    "Delete this conversation",
    Run::Shared(delete),
)
.usage("[undo]", Arg::Words(DELETE_WORDS))
.found_by("remove trash chat erase wipe");

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
