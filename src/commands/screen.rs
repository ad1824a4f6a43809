//! Commands about the program and its screen. Most of them only choose what to show.

use super::arguments::{ArgumentKind as Arg, LOG_WORDS};
use super::{BindingGroup as G, CommandRow, ScreenPart, Wanted, WantedView};

pub static HELP: CommandRow = CommandRow::new(
    "/help",
    "help",
    G::Program,
    "Show all keys and commands",
    |cx, word| cx.switch(ScreenPart::Help(word.to_owned())),
)
.keys(&["F1"])
.found_by("shortcuts hotkeys manual about");

pub static KEYS: CommandRow = CommandRow::new(
    "/keys",
    "keys",
    G::Program,
    "Show how to change keys",
    |cx, _| cx.switch(ScreenPart::ChangingKeys),
)
.found_by("shortcuts rebind remap keybinding customize settings hotkeys preferences");

pub static FIND: CommandRow = CommandRow::new(
    "/find",
    "find",
    G::Moving,
    "Find in the chat",
    |cx, text| cx.switch(ScreenPart::Find(text.to_owned())),
)
.usage("[TEXT]", Arg::Free)
.keys(&["Ctrl+F"])
.found_by("search text");

pub static SIDEBAR: CommandRow = CommandRow::new(
    "/sidebar",
    "sidebar",
    G::Screen,
    "Show or hide the servers",
    |cx, _| cx.switch(ScreenPart::Sidebar),
)
.keys(&["F2", "Ctrl+B"])
.found_by("pane panel");

pub static THINKING: CommandRow = CommandRow::new(
    "/thinking",
    "thinking",
    G::Screen,
    "Show or hide the thinking",
    |cx, _| cx.switch(ScreenPart::Thinking),
)
.keys(&["F3", "Ctrl+T"])
.found_by("reasoning");

pub static RAW: CommandRow = CommandRow::new(
    "/raw",
    "raw",
    G::Screen,
    "Switch between raw and rendered answers",
    |cx, _| cx.switch(ScreenPart::RawAnswers),
)
.keys(&["F5"])
.found_by("markdown source");

pub static LOG: CommandRow = CommandRow::new(
    "/log",
    "log",
    G::Program,
    "Show the log, or a trace of the last answer",
    |cx, argument| match argument {
        "" => cx.show(WantedView::Log),
        "answer" => cx.show(WantedView::ReplyTrace),
        _ => cx.notify(LOG.usage_notice()),
    },
)
.usage("[answer]", Arg::Words(LOG_WORDS))
.keys(&["F12"])
.found_by("errors debug console verbose bug diagnose");

pub static THEME: CommandRow = CommandRow::new(
    "/theme",
    "theme",
    G::Screen,
    "Change the theme",
    |cx, name| cx.show(WantedView::Theme(name.to_owned())),
)
.usage("[NAME]", Arg::Theme)
.found_by("color colour dark light scheme appearance");

pub static MOUSE: CommandRow = CommandRow::new(
    "/mouse",
    "mouse",
    G::Screen,
    "Mouse capture on or off (off: select as usual)",
    |cx, _| cx.switch(ScreenPart::MouseCapture),
)
.keys(&["Alt+M"])
.found_by("select text");

pub static EXIT: CommandRow = CommandRow::new(
    "/exit",
    "exit",
    G::Program,
    "Quit; all MCP sessions are closed",
    |cx, _| cx.ask_for(Wanted::Exit),
)
.also_called(&["/quit"])
.found_by("close leave bye");
