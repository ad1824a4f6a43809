//! Texts of the tour. Each is chosen from the current state (dialog, tool mode, available
//! tools, saved conversations), so that it is true at that moment.

use crate::domain::{EntryBody, Server, ToolMode, ToolOutcome, ToolState};
use crate::tui::demo_tour::state::{
    DemoTour, STEP_ASK, STEP_COMMANDS, STEP_DECIDE, STEP_HELP, STEP_SESSIONS, STEP_STOP,
    STEP_THINKING,
};
use crate::tui::dialog::state::{Dialog, DialogMode};
use crate::tui::keymap::Action;
use crate::tui::panes::Focus;
use crate::tui::ui_model::UiModel;

/// One text in three lengths: for screens of 80, 60 and 20 columns.
type TextBySize = [&'static str; 3];

/// The step on display and its text.
pub fn step_and_text(tour: &DemoTour, model: &UiModel) -> (usize, TextBySize) {
    if let Some(dialog) = model.visible_dialog() {
        let step = if model.dialogs.is_approval() {
            STEP_DECIDE
        } else {
            tour.step
        };
        return (step, dialog_text(dialog));
    }
    if let Some(step) = visible_step(model) {
        return (step, layer_text(step, model));
    }
    let is_running = model.running_turn().is_some();
    let text = match tour.step {
        STEP_ASK | STEP_DECIDE | STEP_STOP
            if !is_running && model.panes.focus != Focus::Message =>
        {
            UNFOCUSED_WORDS
        }
        STEP_ASK => ASK_WORDS,
        STEP_DECIDE if is_running => pending_decision_text(tour, model),
        STEP_DECIDE => retry_decision_text(model),
        STEP_THINKING if is_running => answering_text(model),
        STEP_THINKING if !tour.has_answer => UNANSWERED_WORDS,
        STEP_THINKING if model.chat.thinking_entries().is_empty() => NO_THOUGHT_WORDS,
        STEP_THINKING => THINK_WORDS,
        STEP_STOP if is_running => STOP_WORDS,
        STEP_STOP => STORY_WORDS,
        STEP_SESSIONS if tour.has_saved => SESSIONS_WORDS,
        STEP_SESSIONS => UNSAVED_WORDS,
        STEP_COMMANDS => COMMANDS_WORDS,
        STEP_HELP => HELP_WORDS,
        _ if tour.prompts.setup.is_empty() => QUIT_WORDS,
        _ => FINISHED_WORDS,
    };
    (tour.step, text)
}

fn dialog_text(dialog: &Dialog) -> TextBySize {
    match &dialog.mode {
        _ if !dialog.accepts_keys => NOT_READY_WORDS,
        DialogMode::DenialReason(_)
        | DialogMode::ConfirmUnread(_)
        | DialogMode::ConfirmSecret(_) => DENY_WORDS,
        DialogMode::EditArguments { .. } | DialogMode::EditForm => EDIT_WORDS,
        DialogMode::Choosing if dialog.call().is_some() => DECIDE_WORDS,
        DialogMode::Choosing => CHOOSE_WORDS,
    }
}

fn layer_text(step: usize, model: &UiModel) -> TextBySize {
    let is_list_empty = model
        .layer
        .as_ref()
        .is_some_and(|layer| layer.shows_empty_list());
    match step {
        STEP_SESSIONS if is_list_empty => NO_SESSIONS_OPEN,
        STEP_SESSIONS => SESSIONS_OPEN,
        STEP_COMMANDS => COMMANDS_OPEN,
        STEP_HELP => HELP_OPEN,
        _ if model.chat.thinking_entries().is_empty() => NO_THOUGHT_OPEN,
        _ => THINK_OPEN,
    }
}

/// Text while a turn runs and no call has been decided yet. Only the tour's own question is certain to
/// lead to a call.
fn pending_decision_text(tour: &DemoTour, model: &UiModel) -> TextBySize {
    let prompt = model.conversation.last_prompt_text();
    let is_question = prompt == Some(tour.prompts.question);
    match (has_available_tool(model), model.engine.mode) {
        (false, _) => NO_TOOL_WORDS,
        (true, ToolMode::Auto) => AUTO_MODE_WORDS,
        (true, ToolMode::Manual) if is_question => BEFORE_WORDS,
        (true, ToolMode::Manual) => OTHER_PROMPT_WORDS,
    }
}

/// Text while nothing runs and no call has been decided yet.
fn retry_decision_text(model: &UiModel) -> TextBySize {
    match (has_available_tool(model), model.engine.mode) {
        (false, _) => NO_TOOL_AGAIN,
        (true, ToolMode::Auto) => AUTO_MODE_AGAIN,
        (true, ToolMode::Manual) => AGAIN_WORDS,
    }
}

/// Text while the model answers, which depends on whether a tool returned a result.
fn answering_text(model: &UiModel) -> TextBySize {
    let turn_entries = &model.chat.transcript.entries()[model.chat.transcript.settled_len()..];
    let used_tool = turn_entries.iter().any(|entry| match &entry.body {
        EntryBody::Tool(call) => matches!(
            call.state,
            ToolState::Done(ToolOutcome::Succeeded { .. } | ToolOutcome::Reused { .. })
        ),
        _ => false,
    });
    if used_tool {
        TOOL_ANSWER_WORDS
    } else {
        ANSWER_WORDS
    }
}

pub fn has_available_tool(model: &UiModel) -> bool {
    let offers = |server: &Server| server.available_tools().next().is_some();
    model.servers_pane.servers.iter().any(offers)
}

/// The step whose layer or pane is open.
pub fn visible_step(model: &UiModel) -> Option<usize> {
    let layers = [
        (Action::SESSIONS, STEP_SESSIONS),
        (Action::Commands, STEP_COMMANDS),
        (Action::HELP, STEP_HELP),
    ];
    let open = model.shared().open_layer;
    if let Some((_, step)) = layers.iter().find(|(layer, _)| Some(*layer) == open) {
        return Some(*step);
    }
    let thinking = Focus::Thinking;
    (model.panes.focus == thinking || model.panes.over_chat == Some(thinking))
        .then_some(STEP_THINKING)
}

const ASK_WORDS: TextBySize = [
    "A script answers here, not a model; all else is real. Enter sends.",
    "A script answers here, no model. Enter sends.",
    "A script",
];
const UNFOCUSED_WORDS: TextBySize = [
    "Esc goes back to the message; Enter then sends it.",
    "Esc goes to the message, Enter sends it.",
    "Esc first",
];
const BEFORE_WORDS: TextBySize = [
    "It thinks, then asks to run a tool. Nothing runs until you agree.",
    "It thinks, then asks to run a tool.",
    "It thinks",
];
const AUTO_MODE_WORDS: TextBySize = [
    "It answers. In auto mode, tools run without asking you.",
    "It answers; in auto mode, tools just run.",
    "It answers",
];
const OTHER_PROMPT_WORDS: TextBySize = [
    "It answers. A tool would run only after you agree.",
    "It answers. A tool would ask you first.",
    "It answers",
];
const NO_TOOL_WORDS: TextBySize = [
    "It answers by itself: no tool is available.",
    "It answers: no tool is available.",
    "It answers",
];
const NOT_READY_WORDS: TextBySize = [
    "The dialog accepts keys in a moment, once you stop typing.",
    "The dialog accepts keys in a moment.",
    "One moment",
];
const DECIDE_WORDS: TextBySize = [
    "The tool has not run yet. y runs it, n stops, e edits the call.",
    "Nothing has run yet. y runs the tool, n stops.",
    "y runs it",
];
const DENY_WORDS: TextBySize = [
    "Enter denies, with or without a reason. Esc goes back.",
    "Enter denies, Esc goes back.",
    "Enter denies",
];
const EDIT_WORDS: TextBySize = [
    "Enter keeps the edit, and y then runs the call. Esc goes back.",
    "Enter keeps the edit, Esc goes back.",
    "Enter keeps",
];
const CHOOSE_WORDS: TextBySize = [
    "A question for you: press a letter or a number to answer.",
    "Press a letter or a number to answer.",
    "You choose",
];
const AGAIN_WORDS: TextBySize = [
    "Ask what time it is, then press y in the dialog to run the tool.",
    "Ask for the time, then press y.",
    "Ask the time",
];
const AUTO_MODE_AGAIN: TextBySize = [
    "Ask what time it is: in auto mode the tool runs without asking.",
    "Ask for the time; in auto mode the tool runs.",
    "Ask the time",
];
const NO_TOOL_AGAIN: TextBySize = [
    "No tool is available. Ask what time it is to see the reply.",
    "Ask for the time; no tool is available.",
    "Ask the time",
];
const TOOL_ANSWER_WORDS: TextBySize = [
    "The answer comes word by word, from what the tool returned.",
    "The answer comes in, word by word.",
    "It answers",
];
const ANSWER_WORDS: TextBySize = [
    "The answer comes in, word by word.",
    "The answer comes in, word by word.",
    "It answers",
];
const UNANSWERED_WORDS: TextBySize = [
    "There was no answer. Enter asks again.",
    "There was no answer. Enter asks again.",
    "Enter again",
];
const THINK_WORDS: TextBySize = [
    "PgUp and PgDn scroll the answer. F3 shows what it thought.",
    "PgUp, PgDn scroll. F3 shows what it thought.",
    "F3 thinking",
];
const NO_THOUGHT_WORDS: TextBySize = [
    "PgUp and PgDn scroll the answer. F3 shows thinking (none yet).",
    "PgUp, PgDn scroll. F3: thinking (none yet).",
    "F3 thinking",
];
const THINK_OPEN: TextBySize = [
    "What it thought before answering. Esc goes back to the message.",
    "What it thought. Esc goes back.",
    "Esc back",
];
const NO_THOUGHT_OPEN: TextBySize = [
    "Thinking appears here; none so far. Esc goes back.",
    "No thinking so far. Esc goes back.",
    "Esc back",
];
const STORY_WORDS: TextBySize = [
    "Now a long story: Enter asks for it, Ctrl+C stops it at once.",
    "Enter asks for a story, Ctrl+C stops it.",
    "Enter: story",
];
const STOP_WORDS: TextBySize = [
    "Ctrl+C stops the answer at once; the text so far stays.",
    "Ctrl+C stops it; the text so far stays.",
    "Ctrl+C stops",
];
const SESSIONS_WORDS: TextBySize = [
    "The conversation was saved. Ctrl+O lists it and earlier ones.",
    "It was saved. Ctrl+O lists conversations.",
    "Ctrl+O saved",
];
const UNSAVED_WORDS: TextBySize = [
    "Nothing was saved yet. Ctrl+O lists earlier conversations.",
    "Ctrl+O lists earlier conversations.",
    "Ctrl+O list",
];
const SESSIONS_OPEN: TextBySize = [
    "Each is a JSON file. Type to search, Enter opens one, Esc closes.",
    "Type to search, Enter opens one, Esc closes.",
    "Esc closes",
];
const NO_SESSIONS_OPEN: TextBySize = [
    "There are no saved conversations yet. Esc closes.",
    "No saved conversations yet. Esc closes.",
    "Esc closes",
];
const COMMANDS_WORDS: TextBySize = [
    "Ctrl+P finds any command by a few of its letters.",
    "Ctrl+P finds any command.",
    "Ctrl+P all",
];
const COMMANDS_OPEN: TextBySize = [
    "Type a few letters, Enter runs the command, Esc closes.",
    "A few letters, then Enter; Esc closes.",
    "Esc closes",
];
const HELP_WORDS: TextBySize = [
    "F1 shows every key and every command.",
    "F1 shows every key and every command.",
    "F1 help",
];
const HELP_OPEN: TextBySize = [
    "Type to filter, PgDn scrolls, Esc closes.",
    "Type to filter, PgDn scrolls, Esc closes.",
    "Esc closes",
];
const FINISHED_WORDS: TextBySize = [
    "That was all. Enter asks how to continue with a real model.",
    "That was all. Enter: how to use a real model.",
    "Enter: model",
];
const QUIT_WORDS: TextBySize = [
    "Ctrl+C quits. Then type `humble` and choose a model.",
    "Ctrl+C quits. Type `humble`, choose a model.",
    "Ctrl+C quits",
];

#[cfg(test)]
mod tests;
