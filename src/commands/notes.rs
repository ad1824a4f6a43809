//! `/note` and `/notes`.

use super::arguments::{ArgumentKind as Arg, NOTES_WORDS};
use super::{BindingGroup as G, CommandCx, CommandRow};
use crate::domain::Notice;
use crate::protocol::{Command, NoteCommand};

pub static NOTE: CommandRow = CommandRow::new(
    "/note",
    "note",
    G::Conversation,
    "Open a note, or name the open one",
    |cx, argument| {
        cx.send(Command::Note(match argument {
            "" => NoteCommand::ShowOpen,
            "off" => NoteCommand::Close,
            note => NoteCommand::Open(note.to_owned()),
        }));
    },
)
.usage("[PATH|off]", Arg::Note)
.found_by("markdown file");

pub static NOTES: CommandRow = CommandRow::new(
    "/notes",
    "notes",
    G::Conversation,
    "Send note excerpts with prompts",
    consult_notes,
)
.usage("[on|off|PATH]", Arg::Words(NOTES_WORDS))
.found_by("retrieval rag context vault folder documents knowledge");

fn consult_notes(cx: &mut dyn CommandCx, argument: &str) {
    let command = match argument {
        "" => NoteCommand::ShowConsulting,
        "on" => NoteCommand::Consult(true),
        "off" => NoteCommand::Consult(false),
        path if path.contains('/') || path.starts_with(['~', '.']) => {
            NoteCommand::UseFolder(path.to_owned())
        }
        _ => {
            return cx.notify(
                Notice::warning("Usage: /notes [on|off|PATH].")
                    .with_advice("A folder here is ./NAME."),
            );
        }
    };
    cx.send(Command::Note(command));
}
