//! Texts of the tour. Each is chosen from the current state (dialog, tool mode, available
//! tools, saved conversations), so that it is true at that moment.

use crate::domain::{Body, Server, ToolMode, ToolOutcome, ToolState};
use crate::tui::demo_tour::state::{ASK, COMMANDS, DECIDE, Guide, HELP, SESSIONS, STOP, THINK};
use crate::tui::dialog::state::{Form, OpenAsk};
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::panes::Focus;

/// One text in three lengths: for screens of 80, 60 and 20 columns.
type Words = [&'static str; 3];

/// The step on display and its text.
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

/// Text for an open dialog.
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

/// Text for a running turn without a decided call. Only the tour's own question is sure to
/// lead to a call.
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

/// Text for an idle program without a decided call.
fn again(model: &Model) -> Words {
    match (offers_a_tool(model), model.engine.mode) {
        (false, _) => NO_TOOL_AGAIN,
        (true, ToolMode::Auto) => UNASKED_AGAIN,
        (true, ToolMode::Manual) => AGAIN_WORDS,
    }
}

/// Text for a running answer, which depends on whether a tool returned a result for it.
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

/// Is any tool available to the model?
pub fn offers_a_tool(model: &Model) -> bool {
    let offers = |server: &Server| server.offered().next().is_some();
    model.sidebar.servers.iter().any(offers)
}

/// The step whose layer or pane is open.
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
    "Esc goes back to the message; Enter then sends it.",
    "Esc goes to the message, Enter sends it.",
    "Esc first",
];
const BEFORE_WORDS: Words = [
    "It thinks, then asks to run a tool. Nothing runs until you agree.",
    "It thinks, then asks to run a tool.",
    "It thinks",
];
const UNASKED_WORDS: Words = [
    "It answers. In auto mode, tools run without asking you.",
    "It answers; in auto mode, tools just run.",
    "It answers",
];
const OTHER_WORDS: Words = [
    "It answers. A tool would run only after you agree.",
    "It answers. A tool would ask you first.",
    "It answers",
];
const NO_TOOL_WORDS: Words = [
    "It answers by itself: no tool is available.",
    "It answers: no tool is available.",
    "It answers",
];
const SOON_WORDS: Words = [
    "The dialog accepts keys in a moment, once you stop typing.",
    "The dialog accepts keys in a moment.",
    "One moment",
];
const DECIDE_WORDS: Words = [
    "The tool has not run yet. y runs it, n refuses, e edits the call.",
    "Nothing ran yet. y runs the tool, n refuses it.",
    "y runs it",
];
const WORD_WORDS: Words = [
    "Enter denies, with or without a reason. Esc goes back.",
    "Enter denies, Esc goes back.",
    "Enter denies",
];
const EDIT_WORDS: Words = [
    "Enter runs the call as shown here. Esc goes back.",
    "Enter runs it as shown, Esc goes back.",
    "Enter runs",
];
const CHOOSE_WORDS: Words = [
    "A question for you: press a letter or a number to answer.",
    "Press a letter or a number to answer.",
    "You choose",
];
const AGAIN_WORDS: Words = [
    "Ask what time it is, then press y in the dialog to run the tool.",
    "Ask for the time, then press y.",
    "Ask the time",
];
const UNASKED_AGAIN: Words = [
    "Ask what time it is: in auto mode the tool runs without asking.",
    "Ask for the time; in auto mode the tool runs.",
    "Ask the time",
];
const NO_TOOL_AGAIN: Words = [
    "Ask what time it is: no tool is available, and it says so.",
    "Ask for the time; no tool is available.",
    "Ask the time",
];
const TOLD_WORDS: Words = [
    "The answer comes word by word, from what the tool returned.",
    "The answer comes in, word by word.",
    "It answers",
];
const ANSWER_WORDS: Words = [
    "The answer comes in, word by word.",
    "The answer comes in, word by word.",
    "It answers",
];
const UNANSWERED_WORDS: Words = [
    "There was no answer. Enter asks again.",
    "There was no answer. Enter asks again.",
    "Enter again",
];
const THINK_WORDS: Words = [
    "PgUp and PgDn scroll the answer. F3 shows what it thought.",
    "PgUp, PgDn scroll. F3 shows what it thought.",
    "F3 thinking",
];
const NO_THOUGHT_WORDS: Words = [
    "PgUp and PgDn scroll the answer. F3 shows thinking (none yet).",
    "PgUp, PgDn scroll. F3: thinking (none yet).",
    "F3 thinking",
];
const THINK_OPEN: Words = [
    "What it thought before answering. Esc goes back to the message.",
    "What it thought. Esc goes back.",
    "Esc back",
];
const NO_THOUGHT_OPEN: Words = [
    "Thinking appears here; none so far. Esc goes back.",
    "No thinking so far. Esc goes back.",
    "Esc back",
];
const STORY_WORDS: Words = [
    "Now a long story: Enter asks for it, Ctrl+C stops it at once.",
    "Enter asks for a story, Ctrl+C stops it.",
    "Enter: story",
];
const STOP_WORDS: Words = [
    "Ctrl+C stops the answer at once; the text so far stays.",
    "Ctrl+C stops it; the text so far stays.",
    "Ctrl+C stops",
];
const SESSIONS_WORDS: Words = [
    "The conversation was saved. Ctrl+O lists it and earlier ones.",
    "It was saved. Ctrl+O lists conversations.",
    "Ctrl+O saved",
];
const UNSAVED_WORDS: Words = [
    "Nothing was saved yet. Ctrl+O lists earlier conversations.",
    "Ctrl+O lists earlier conversations.",
    "Ctrl+O list",
];
const SESSIONS_OPEN: Words = [
    "Each is a JSON file. Type to search, Enter opens one, Esc closes.",
    "Type to search, Enter opens one, Esc closes.",
    "Esc closes",
];
const NO_SESSIONS_OPEN: Words = [
    "There are no saved conversations yet. Esc closes.",
    "No saved conversations yet. Esc closes.",
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
    "That was all. Enter shows how to connect a model; Ctrl+C quits.",
    "Enter: how to connect a model. Ctrl+C quits.",
    "Ctrl+C quits",
];
const LEAVE_WORDS: Words = [
    "That was all. Ctrl+C quits; `humble` starts with real models.",
    "Ctrl+C quits; `humble` has real models.",
    "Ctrl+C quits",
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
        // The mark takes four columns; the count takes eight, or four on a small screen.
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
