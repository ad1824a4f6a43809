//! The words of the guide. Each says only what holds at that moment: they follow
//! the dialog, the mode, the tools on offer and what has been saved, not a plan.

use crate::domain::{Body, Server, ToolMode, ToolOutcome, ToolState};
use crate::tui::demo_tour::state::{ASK, COMMANDS, DECIDE, Guide, HELP, SESSIONS, STOP, THINK};
use crate::tui::dialog::state::{Form, OpenAsk};
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::panes::Focus;

/// The same, long, short and for the smallest screens.
type Words = [&'static str; 3];

/// The step that is shown and its words.
pub fn scene(guide: &Guide, model: &Model) -> (usize, Words) {
    if let Some(ask) = model.dialogs.shown() {
        let step = if model.dialogs.approves() {
            DECIDE
        } else {
            guide.at
        };
        return (step, asking(ask));
    }
    if let Some(step) = open(model) {
        return (step, opened(step, model));
    }
    let running = model.running().is_some();
    let words = match guide.at {
        ASK | DECIDE | STOP if !running && model.panes.focus != Focus::Message => AWAY_WORDS,
        ASK => ASK_WORDS,
        DECIDE if running => before_decision(guide, model),
        DECIDE => again(model),
        THINK if running => answering(model),
        THINK if !guide.answered => UNANSWERED_WORDS,
        THINK if model.chat.thoughts().is_empty() => NO_THOUGHT_WORDS,
        THINK => THINK_WORDS,
        STOP if running => STOP_WORDS,
        STOP => STORY_WORDS,
        SESSIONS if guide.saved => SESSIONS_WORDS,
        SESSIONS => UNSAVED_WORDS,
        COMMANDS => COMMANDS_WORDS,
        HELP => HELP_WORDS,
        _ if guide.prompts.connect.is_empty() => LEAVE_WORDS,
        _ => END_WORDS,
    };
    (guide.at, words)
}

/// A dialog is open: what its keys do now.
fn asking(ask: &OpenAsk) -> Words {
    match &ask.form {
        _ if !ask.armed => SOON_WORDS,
        Form::Word(_) | Form::Unread(_) => WORD_WORDS,
        Form::Arguments { .. } => EDIT_WORDS,
        Form::Choosing if ask.call().is_some() => DECIDE_WORDS,
        Form::Choosing => CHOOSE_WORDS,
    }
}

fn opened(step: usize, model: &Model) -> Words {
    let none_kept = model.layer.as_ref().is_some_and(|layer| layer.is_empty());
    match step {
        SESSIONS if none_kept => NO_SESSIONS_OPEN,
        SESSIONS => SESSIONS_OPEN,
        COMMANDS => COMMANDS_OPEN,
        HELP => HELP_OPEN,
        _ if model.chat.thoughts().is_empty() => NO_THOUGHT_OPEN,
        _ => THINK_OPEN,
    }
}

/// A turn is under way and no call of it was decided yet. Only the guide's own
/// question surely leads to a call.
fn before_decision(guide: &Guide, model: &Model) -> Words {
    let prompt = model.conversation.last_prompt();
    let is_question = prompt == Some(guide.prompts.question);
    match (offers_a_tool(model), model.engine.mode) {
        (false, _) => NO_TOOL_WORDS,
        (true, ToolMode::Auto) => UNASKED_WORDS,
        (true, ToolMode::Manual) if is_question => BEFORE_WORDS,
        (true, ToolMode::Manual) => OTHER_WORDS,
    }
}

/// Nothing is under way, and no call was decided so far.
fn again(model: &Model) -> Words {
    match (offers_a_tool(model), model.engine.mode) {
        (false, _) => NO_TOOL_AGAIN,
        (true, ToolMode::Auto) => UNASKED_AGAIN,
        (true, ToolMode::Manual) => AGAIN_WORDS,
    }
}

/// An answer is under way: did a tool tell something for it?
fn answering(model: &Model) -> Words {
    let of_turn = &model.chat.transcript.entries()[model.chat.transcript.settled()..];
    let told = of_turn.iter().any(|entry| match &entry.body {
        Body::Tool(call) => matches!(
            call.state,
            ToolState::Done(ToolOutcome::Succeeded { .. } | ToolOutcome::Reused { .. })
        ),
        _ => false,
    });
    if told { TOLD_WORDS } else { ANSWER_WORDS }
}

/// Is there a tool that could be asked for?
pub fn offers_a_tool(model: &Model) -> bool {
    let offers = |server: &Server| server.offered().next().is_some();
    model.sidebar.servers.iter().any(offers)
}

/// The step whose place is on screen now.
pub fn open(model: &Model) -> Option<usize> {
    match model.shared().opened {
        Some(Action::Sessions) => return Some(SESSIONS),
        Some(Action::Commands) => return Some(COMMANDS),
        Some(Action::Help) => return Some(HELP),
        _ => {}
    }
    let thinking = Focus::Thinking;
    (model.panes.focus == thinking || model.panes.over_chat == Some(thinking)).then_some(THINK)
}

const ASK_WORDS: Words = [
    "A script answers here, not a model; all else is real. Enter sends.",
    "A script answers here, no model. Enter sends.",
    "A script",
];
const AWAY_WORDS: Words = [
    "Esc goes back to the message, which Enter then sends.",
    "Esc goes to the message, Enter sends it.",
    "Esc first",
];
const BEFORE_WORDS: Words = [
    "It thinks, then asks for a tool. Nothing runs before you say yes.",
    "It thinks, then asks you for a tool.",
    "It thinks",
];
const UNASKED_WORDS: Words = [
    "It answers. In the mode auto a tool runs without asking you.",
    "It answers; in auto, tools run unasked.",
    "It answers",
];
const OTHER_WORDS: Words = [
    "It answers. A tool would run only after you said yes.",
    "It answers. A tool would ask you first.",
    "It answers",
];
const NO_TOOL_WORDS: Words = [
    "It answers by itself: no tool is on offer.",
    "It answers: no tool is on offer.",
    "It answers",
];
const SOON_WORDS: Words = [
    "The dialog takes keys in a moment, once you stop typing.",
    "The dialog takes keys in a moment.",
    "One moment",
];
const DECIDE_WORDS: Words = [
    "The tool has not run yet. y runs it, n refuses, e edits the call.",
    "Nothing ran yet. y runs the tool, n refuses it.",
    "y runs it",
];
const WORD_WORDS: Words = [
    "Enter denies, with your word or without one. Esc goes back.",
    "Enter denies, Esc goes back.",
    "Enter denies",
];
const EDIT_WORDS: Words = [
    "Enter runs the call as it stands here. Esc goes back.",
    "Enter runs it like this, Esc goes back.",
    "Enter runs",
];
const CHOOSE_WORDS: Words = [
    "The program asks you something: a letter or a number answers.",
    "A letter or a number answers.",
    "You choose",
];
const AGAIN_WORDS: Words = [
    "Ask what time it is; y in the dialog then lets the tool run.",
    "Ask for the time; y then lets the tool run.",
    "Ask the time",
];
const UNASKED_AGAIN: Words = [
    "Ask what time it is: in the mode auto the tool runs unasked.",
    "Ask for the time; in auto the tool runs.",
    "Ask the time",
];
const NO_TOOL_AGAIN: Words = [
    "Ask what time it is: no tool is on offer, and it says so.",
    "Ask for the time; no tool is on offer.",
    "Ask the time",
];
const TOLD_WORDS: Words = [
    "The answer comes word by word, from what the tool really told.",
    "The answer comes in, word by word.",
    "It answers",
];
const ANSWER_WORDS: Words = [
    "The answer comes in, word by word.",
    "The answer comes in, word by word.",
    "It answers",
];
const UNANSWERED_WORDS: Words = [
    "Nothing was answered. Enter asks once more.",
    "Nothing was answered. Enter asks once more.",
    "Enter again",
];
const THINK_WORDS: Words = [
    "PgUp and PgDn scroll the answer. F3 goes to what it thought.",
    "PgUp, PgDn scroll. F3 goes to what it thought.",
    "F3 thinking",
];
const NO_THOUGHT_WORDS: Words = [
    "PgUp and PgDn scroll the answer. F3 is for thinking, none so far.",
    "PgUp, PgDn scroll. F3: thinking, none so far.",
    "F3 thinking",
];
const THINK_OPEN: Words = [
    "What it thought on the way. Esc goes back to the message.",
    "What it thought. Esc goes back.",
    "Esc back",
];
const NO_THOUGHT_OPEN: Words = [
    "Thinking stands here; there was none so far. Esc goes back.",
    "No thinking so far. Esc goes back.",
    "Esc back",
];
const STORY_WORDS: Words = [
    "Now a long story: Enter asks for it, Ctrl+C stops it at once.",
    "Enter asks for a story, Ctrl+C stops it.",
    "Enter: story",
];
const STOP_WORDS: Words = [
    "Ctrl+C stops the answer at once; the words so far stay.",
    "Ctrl+C stops it; the words so far stay.",
    "Ctrl+C stops",
];
const SESSIONS_WORDS: Words = [
    "The conversation was saved. Ctrl+O shows it, and earlier ones.",
    "It was saved. Ctrl+O shows conversations.",
    "Ctrl+O saved",
];
const UNSAVED_WORDS: Words = [
    "Nothing was saved so far. Ctrl+O shows what is kept from before.",
    "Ctrl+O shows what was saved before.",
    "Ctrl+O list",
];
const SESSIONS_OPEN: Words = [
    "Each is a JSON file. Type to search, Enter opens one, Esc closes.",
    "Type to search, Enter opens one, Esc closes.",
    "Esc closes",
];
const NO_SESSIONS_OPEN: Words = [
    "No conversation is kept here so far. Esc closes.",
    "No conversation is kept so far. Esc closes.",
    "Esc closes",
];
const COMMANDS_WORDS: Words = [
    "Ctrl+P finds any command by a few of its letters.",
    "Ctrl+P finds any command.",
    "Ctrl+P all",
];
const COMMANDS_OPEN: Words = [
    "Type a few letters, Enter runs the command, Esc closes.",
    "A few letters, then Enter; Esc closes.",
    "Esc closes",
];
const HELP_WORDS: Words = [
    "F1 shows every key and every command.",
    "F1 shows every key and every command.",
    "F1 help",
];
const HELP_OPEN: Words = [
    "PgDn scrolls, Esc closes.",
    "PgDn scrolls, Esc closes.",
    "Esc closes",
];
const END_WORDS: Words = [
    "That was all. Enter tells how to connect a model; Ctrl+C leaves.",
    "Enter: how to connect a model. Ctrl+C leaves.",
    "Ctrl+C ends",
];
const LEAVE_WORDS: Words = [
    "That was all. Ctrl+C leaves; `humble` starts with real models.",
    "Ctrl+C leaves; `humble` has real models.",
    "Ctrl+C ends",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::grapheme::width;
    use crate::tui::keymap::{Action, key_of};

    const ALL: [Words; 32] = [
        ASK_WORDS,
        BEFORE_WORDS,
        UNASKED_WORDS,
        OTHER_WORDS,
        NO_TOOL_WORDS,
        SOON_WORDS,
        DECIDE_WORDS,
        WORD_WORDS,
        EDIT_WORDS,
        CHOOSE_WORDS,
        AGAIN_WORDS,
        UNASKED_AGAIN,
        NO_TOOL_AGAIN,
        TOLD_WORDS,
        ANSWER_WORDS,
        UNANSWERED_WORDS,
        THINK_WORDS,
        NO_THOUGHT_WORDS,
        THINK_OPEN,
        NO_THOUGHT_OPEN,
        STORY_WORDS,
        STOP_WORDS,
        SESSIONS_WORDS,
        UNSAVED_WORDS,
        SESSIONS_OPEN,
        NO_SESSIONS_OPEN,
        COMMANDS_WORDS,
        COMMANDS_OPEN,
        HELP_WORDS,
        HELP_OPEN,
        END_WORDS,
        LEAVE_WORDS,
    ];

    #[test]
    fn the_words_fit_screens_of_80_60_and_20_columns() {
        // The mark takes four columns, the count eight, or four on a small screen.
        for (form, columns) in [(0, 80 - 12), (1, 60 - 12), (2, 20 - 8)] {
            for words in ALL {
                assert!(width(words[form]) <= columns, "{}", words[form]);
            }
        }
    }

    #[test]
    fn the_keys_that_are_taught_are_those_of_the_table() {
        let taught = [
            (Action::Send, ASK_WORDS, "Enter"),
            (Action::PageUp, THINK_WORDS, "PgUp"),
            (Action::PageDown, THINK_WORDS, "PgDn"),
            (Action::Thinking, THINK_WORDS, "F3"),
            (Action::Interrupt, STOP_WORDS, "Ctrl+C"),
            (Action::Back, SESSIONS_OPEN, "Esc"),
            (Action::Sessions, SESSIONS_WORDS, "Ctrl+O"),
            (Action::Commands, COMMANDS_WORDS, "Ctrl+P"),
            (Action::Help, HELP_WORDS, "F1"),
        ];
        for (action, words, key) in taught {
            assert_eq!(key_of(action), key);
            assert!(words[0].contains(key) && words[1].contains(key), "{key}");
        }
    }
}
