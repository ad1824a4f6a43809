//! All commands, and the rows of those that each front end carries out in its own way.

use super::arguments::{self as words, ArgumentKind as Arg};
use super::{
    BindingGroup as G, CommandRow, Run, calls, conversation, models, notes, servers, settings,
};

/// A command that each front end carries out in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEndCommand {
    Sessions,
    NewSession,
    Help,
    ChangeKeys,
    Tools,
    ImportServers,
    Answer,
    Retry,
    EditLast,
    CopyAnswer,
    Find,
    Undo,
    Chat,
    Trust,
    Continue,
    Compact,
    Attach,
    ServerPrompt,
    Resource,
    Detach,
    Export,
    Branches,
    Private,
    ToggleSidebar,
    Thinking,
    Raw,
    Log,
    Theme,
    Mouse,
    Quit,
}

use FrontEndCommand as F;

/// In the order of the palette and the completion list: the most used first.
pub static COMMANDS: &[&CommandRow] = &[
    &models::SET_MODEL,
    &models::MODELS,
    &SESSIONS,
    &NEW,
    &CLEAR,
    &HELP,
    &KEYS,
    &settings::SET_TOOL_MODE,
    &servers::MCP,
    &TOOLS,
    &IMPORT,
    &ANSWER,
    &RETRY,
    &EDIT,
    &COPY,
    &FIND,
    &UNDO,
    &notes::NOTE,
    &notes::NOTES,
    &CHAT,
    &models::THINK,
    &settings::PERSONA,
    &TRUST,
    &servers::TOGGLE_MCP,
    &CONTINUE,
    &settings::CONTEXT,
    &TOKENS,
    &COMPACT,
    &ATTACH,
    &PROMPT,
    &RESOURCE,
    &DETACH,
    &conversation::RENAME,
    &conversation::FORK,
    &EXPORT,
    &conversation::DELETE,
    &BRANCHES,
    &PRIVATE,
    &SIDEBAR,
    &THINKING,
    &RAW,
    &calls::CANCEL,
    &calls::LEAVE,
    &LOG,
    &THEME,
    &MOUSE,
    &settings::RELOAD,
    &settings::PROBE,
    &settings::SYSTEM_PROMPT,
    &EXIT,
    &QUIT,
];

pub static SESSIONS: CommandRow = CommandRow::new(
    "/sessions",
    "sessions",
    G::Conversation,
    "Open an earlier conversation",
    Run::FrontEnd(F::Sessions),
)
.usage("[WORDS]", Arg::Free)
.found_by("history resume load previous chats archive past recent");

pub static NEW: CommandRow = CommandRow::new(
    "/new",
    "new",
    G::Conversation,
    "Start a new conversation",
    Run::FrontEnd(F::NewSession),
)
.found_by("reset start chat forget");

pub static CLEAR: CommandRow = CommandRow::new(
    "/clear",
    "clear",
    G::Conversation,
    "Start a new conversation",
    Run::FrontEnd(F::NewSession),
)
.alias();

pub static HELP: CommandRow = CommandRow::new(
    "/help",
    "help",
    G::Program,
    "Show all keys and commands",
    Run::FrontEnd(F::Help),
)
.found_by("shortcuts hotkeys manual about");

pub static KEYS: CommandRow = CommandRow::new(
    "/keys",
    "keys",
    G::Program,
    "Show how to change keys",
    Run::FrontEnd(F::ChangeKeys),
)
.found_by("shortcuts rebind remap keybinding customize settings hotkeys preferences");

pub static TOOLS: CommandRow = CommandRow::new(
    "/tools",
    "tools",
    G::Tools,
    "List, pin and switch tools",
    Run::FrontEnd(F::Tools),
)
.usage("[WORDS]", Arg::Words(words::TOOLS_WORDS))
.found_by("mcp diet annotations read-only held back plugins functions");

pub static IMPORT: CommandRow = CommandRow::new(
    "/import",
    "import",
    G::Tools,
    "Import MCP servers from other clients",
    Run::FrontEnd(F::ImportServers),
)
.found_by("claude desktop cursor vscode code add server mcp");

pub static ANSWER: CommandRow = CommandRow::new(
    "/answer",
    "answer",
    G::Conversation,
    "Open a server's question",
    Run::FrontEnd(F::Answer),
)
.found_by("form elicitation request");

pub static RETRY: CommandRow = CommandRow::new(
    "/retry",
    "retry",
    G::Conversation,
    "Retry the last prompt",
    Run::FrontEnd(F::Retry),
)
.found_by("again regenerate redo repeat");

pub static EDIT: CommandRow = CommandRow::new(
    "/edit",
    "edit-last",
    G::Conversation,
    "Edit and resend the last prompt",
    Run::FrontEnd(F::EditLast),
)
.found_by("change");

pub static COPY: CommandRow = CommandRow::new(
    "/copy",
    "copy",
    G::Conversation,
    "Copy the last answer, or a call's result",
    Run::FrontEnd(F::CopyAnswer),
)
.usage("[call]", Arg::Words(words::COPY_WORDS))
.found_by("clipboard yank code");

pub static FIND: CommandRow = CommandRow::new(
    "/find",
    "find",
    G::Moving,
    "Find in the chat",
    Run::FrontEnd(F::Find),
)
.usage("[TEXT]", Arg::Free)
.found_by("search text");

pub static UNDO: CommandRow = CommandRow::new(
    "/undo",
    "undo",
    G::Conversation,
    "Undo the last turn",
    Run::FrontEnd(F::Undo),
)
.found_by("delete remove back revert rollback");

pub static CHAT: CommandRow = CommandRow::new(
    "/chat",
    "chat",
    G::Conversation,
    "Send a prompt without the note agents",
    Run::FrontEnd(F::Chat),
)
.usage("PROMPT", Arg::Free);

pub static TRUST: CommandRow = CommandRow::new(
    "/trust",
    "trust",
    G::Tools,
    "Review and revoke tool permissions",
    Run::FrontEnd(F::Trust),
)
.found_by("allow allowed always never approve permission revoke security safety block deny ban");

pub static CONTINUE: CommandRow = CommandRow::new(
    "/continue",
    "continue",
    G::Conversation,
    "Continue a truncated answer",
    Run::FrontEnd(F::Continue),
)
.found_by("more resume");

pub static TOKENS: CommandRow = CommandRow::new(
    "/tokens",
    "tokens",
    G::Conversation,
    "Show what fills the model's context",
    Run::Shared(settings::show_context),
)
.alias();

pub static COMPACT: CommandRow = CommandRow::new(
    "/compact",
    "compact",
    G::Conversation,
    "Summarize older messages to free context",
    Run::FrontEnd(F::Compact),
)
.found_by("shorten context tokens usage summary shrink compress");

pub static ATTACH: CommandRow = CommandRow::new(
    "/attach",
    "attach",
    G::Writing,
    "Paste an image; with a path, attach the file",
    Run::FrontEnd(F::Attach),
)
.usage("[PATH]", Arg::Free)
.found_by("image picture file upload paste clipboard screenshot photo document");

pub static PROMPT: CommandRow = CommandRow::new(
    "/prompt",
    "prompt",
    G::Writing,
    "Use a server prompt or a template",
    Run::FrontEnd(F::ServerPrompt),
)
.usage("[SERVER:PROMPT [VALUES]]", Arg::ServerPrompt)
.found_by("mcp template own saved snippet macro");

pub static RESOURCE: CommandRow = CommandRow::new(
    "/resource",
    "resource",
    G::Writing,
    "Attach a server resource",
    Run::FrontEnd(F::Resource),
)
.usage("[SERVER:URI]", Arg::ServerResource)
.found_by("mcp file data");

pub static DETACH: CommandRow = CommandRow::new(
    "/detach",
    "detach",
    G::Writing,
    "Remove an attached file",
    Run::FrontEnd(F::Detach),
)
.usage("[NUMBER|NAME]", Arg::AttachedFile)
.found_by("image file");

pub static EXPORT: CommandRow = CommandRow::new(
    "/export",
    "export",
    G::Conversation,
    "Export this conversation to a file",
    Run::FrontEnd(F::Export),
)
.usage(
    "[md|json|html] [PATH] [--last N] [--answers]",
    Arg::Words(words::EXPORT_WORDS),
)
.found_by("save markdown html write download chat print share archive transcript");

pub static BRANCHES: CommandRow = CommandRow::new(
    "/branches",
    "branches",
    G::Conversation,
    "Switch to another branch",
    Run::FrontEnd(F::Branches),
)
.usage("[NUMBER]", Arg::Free)
.found_by("versions alternatives earlier answer variants");

pub static PRIVATE: CommandRow = CommandRow::new(
    "/private",
    "private",
    G::Conversation,
    "Do not save this conversation",
    Run::FrontEnd(F::Private),
)
.usage("[off]", Arg::Words(words::PRIVATE_WORDS))
.found_by("incognito temporary secret anonymous hidden");

pub static SIDEBAR: CommandRow = CommandRow::new(
    "/sidebar",
    "sidebar",
    G::Screen,
    "Show or hide the servers",
    Run::FrontEnd(F::ToggleSidebar),
)
.found_by("pane panel");

pub static THINKING: CommandRow = CommandRow::new(
    "/thinking",
    "thinking",
    G::Screen,
    "Show or hide the thinking",
    Run::FrontEnd(F::Thinking),
)
.found_by("reasoning");

pub static RAW: CommandRow = CommandRow::new(
    "/raw",
    "raw",
    G::Screen,
    "Switch between raw and rendered answers",
    Run::FrontEnd(F::Raw),
)
.found_by("markdown source");

pub static LOG: CommandRow = CommandRow::new(
    "/log",
    "log",
    G::Program,
    "Show the log, or a trace of the last answer",
    Run::FrontEnd(F::Log),
)
.usage("[answer]", Arg::Words(words::LOG_WORDS))
.found_by("errors debug console verbose bug diagnose");

pub static THEME: CommandRow = CommandRow::new(
    "/theme",
    "theme",
    G::Screen,
    "Change the theme",
    Run::FrontEnd(F::Theme),
)
.usage("[NAME]", Arg::Theme)
.found_by("color colour dark light scheme appearance");

pub static MOUSE: CommandRow = CommandRow::new(
    "/mouse",
    "mouse",
    G::Screen,
    "Mouse capture on or off (off: select as usual)",
    Run::FrontEnd(F::Mouse),
)
.found_by("select text");

pub static EXIT: CommandRow = CommandRow::new(
    "/exit",
    "exit",
    G::Program,
    "Quit; all MCP sessions are closed",
    Run::FrontEnd(F::Quit),
)
.found_by("close leave bye");

pub static QUIT: CommandRow = CommandRow::new(
    "/quit",
    "quit",
    G::Program,
    "Quit; all MCP sessions are closed",
    Run::FrontEnd(F::Quit),
)
.alias();

/// The command of this name, in any letter case.
pub fn find_command(name: &str) -> Option<&'static CommandRow> {
    let name = name.to_lowercase();
    COMMANDS.iter().copied().find(|row| row.name == name)
}

/// The commands that lists show.
pub fn listed_commands() -> impl Iterator<Item = &'static CommandRow> {
    COMMANDS.iter().copied().filter(|row| !row.is_alias)
}

/// The listed command that has this word in its description or among its search words.
pub fn command_with_meaning(word: &str) -> Option<&'static str> {
    let words = |text: &'static str| text.split(|letter: char| !letter.is_alphanumeric());
    let found = listed_commands().find(|row| {
        let mut all = words(row.search_words).chain(words(row.description));
        all.any(|other| other.eq_ignore_ascii_case(word))
    });
    found.map(|row| row.name)
}
