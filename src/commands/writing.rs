//! Commands that add something to the message: files, prompts and resources of servers.

use super::arguments::ArgumentKind as Arg;
use super::{BindingGroup as G, CommandCx, CommandRow, Wanted, WantedView};
use crate::domain::attachment::AttachmentSource;

pub static ATTACH: CommandRow = CommandRow::new(
    "/attach",
    "attach",
    G::Writing,
    "Paste an image; with a path, attach the file",
    attach,
)
.usage("[PATH]", Arg::Free)
.keys(&["Ctrl+V"])
.found_by("image picture file upload paste clipboard screenshot photo document");

pub static PROMPT: CommandRow = CommandRow::new(
    "/prompt",
    "prompt",
    G::Writing,
    "Use a server prompt or a template",
    |cx, argument| cx.show(WantedView::ServerPrompts(argument.to_owned())),
)
.usage("[SERVER:PROMPT [VALUES]]", Arg::ServerPrompt)
.found_by("mcp template own saved snippet macro");

pub static RESOURCE: CommandRow = CommandRow::new(
    "/resource",
    "resource",
    G::Writing,
    "Attach a server resource",
    |cx, argument| cx.show(WantedView::Resources(argument.to_owned())),
)
.usage("[SERVER:URI]", Arg::ServerResource)
.found_by("mcp file data");

pub static DETACH: CommandRow = CommandRow::new(
    "/detach",
    "detach",
    G::Writing,
    "Remove an attached file",
    |cx, argument| cx.ask_for(Wanted::Detachment(argument.to_owned())),
)
.usage("[NUMBER|NAME]", Arg::AttachedFile)
.keys(&["Alt+X"])
.found_by("image file");

/// Attaches the file at `path`, or the image in the clipboard if `path` is empty.
fn attach(cx: &mut dyn CommandCx, path: &str) {
    let path = path.trim_matches('"');
    cx.ask_for(Wanted::File(match path {
        "" => AttachmentSource::Clipboard,
        path => AttachmentSource::Path(path.to_owned()),
    }));
}
