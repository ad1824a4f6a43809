//! The guide of `humble demo`: one line above the message that teaches the keys in
//! turn. It only watches: whatever the person does instead works as ever, in any
//! order, and counts where it is a step of the guide's.

use super::Prompts;
use super::model::{Focus, Model, Overlay};
use crate::domain::{Server, ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;

/// Steps, in their order.
const ASK: usize = 0;
const DECIDE: usize = 1;
const THINK: usize = 2;
const STOP: usize = 3;
const SESSIONS: usize = 4;
const COMMANDS: usize = 5;
const HELP: usize = 6;
const STEPS: usize = 7;

/// From this width on the step is counted in words.
const WORDS_FROM: u16 = 40;

#[derive(Debug, Clone)]
pub struct Guide {
    prompts: Prompts,
    /// The step that is taught; [`STEPS`] when none is left.
    at: usize,
    done: [bool; STEPS],
    /// A prompt was answered.
    answered: bool,
    /// Something changed since a prompt was typed ahead last.
    due: bool,
    /// What was typed ahead and not touched since.
    typed: Option<&'static str>,
}

impl Guide {
    pub fn new(prompts: Prompts) -> Self {
        Self {
            prompts,
            at: ASK,
            done: [false; STEPS],
            answered: false,
            due: true,
            typed: None,
        }
    }

    /// A step was done, perhaps before its turn.
    fn did(&mut self, step: usize) {
        let before = self.at;
        self.done[step] = true;
        // Whoever goes on without the thinking pane is not held there.
        if self.at >= THINK && step > self.at {
            self.at = step;
        }
        while self.done.get(self.at) == Some(&true) {
            self.at += 1;
        }
        self.due |= self.at != before;
    }

    /// What the present step wants to be sent.
    fn wanted(&self) -> Option<&'static str> {
        match self.at {
            ASK | DECIDE => Some(self.prompts.question),
            THINK if !self.answered => Some(self.prompts.question),
            STOP => Some(self.prompts.story),
            STEPS => Some(self.prompts.connect),
            _ => None,
        }
    }
}

/// Looks at what the last message made of the model: which steps are done, and what
/// to type ahead.
pub fn follow(model: &mut Model) {
    let Some(mut guide) = model.guide.take() else {
        return;
    };
    if model.last_turn.is_some() && !guide.done[ASK] {
        guide.did(ASK);
    }
    if !guide.done[DECIDE] && has_decided(model) {
        guide.did(DECIDE);
    }
    if let Some(step) = open(model).filter(|step| !guide.done[*step]) {
        guide.did(step);
    }
    type_ahead(&mut guide, model);
    model.guide = Some(guide);
}

/// The end of a turn that was under way.
pub fn ended(model: &mut Model, end: &TurnEnd) {
    let no_tool = || model.sidebar.servers.iter().all(|server| !offers(server));
    let Some(guide) = &mut model.guide else {
        return;
    };
    let prompt = model.last_turn.as_ref().map(|(prompt, _)| prompt.as_str());
    let is = |wanted: &str| prompt == Some(wanted);
    let answered = matches!(end, TurnEnd::Answered { .. });
    guide.answered |= answered;
    guide.due = true;
    // Whoever heard the whole story has nothing left to stop.
    if *end == TurnEnd::Cancelled || answered && is(guide.prompts.story) {
        guide.did(STOP);
    }
    // Where no tool is on offer there is nothing to decide.
    if guide.at == DECIDE && answered && no_tool() {
        guide.did(DECIDE);
    }
    if guide.at == STEPS && answered && is(guide.prompts.connect) {
        guide.due = false;
        guide.prompts.connect = "";
    }
}

fn offers(server: &Server) -> bool {
    server.offered().next().is_some()
}

/// Was a call decided, in whichever way? One that Ctrl+C took away was not.
fn has_decided(model: &Model) -> bool {
    let mut calls = model.asked.iter().chain(&model.unasked);
    calls.any(
        |id| match model.transcript.call(*id).map(|call| &call.state) {
            None | Some(ToolState::Proposed | ToolState::AwaitingApproval) => false,
            Some(ToolState::Done(ToolOutcome::Interrupted)) => false,
            Some(ToolState::Running { .. } | ToolState::Done(_)) => true,
        },
    )
}

/// The step whose place is on screen now.
fn open(model: &Model) -> Option<usize> {
    match &model.overlay {
        Some(Overlay::Sessions(_)) => return Some(SESSIONS),
        Some(Overlay::Palette { .. }) => return Some(COMMANDS),
        Some(Overlay::Help { .. }) => return Some(HELP),
        _ => {}
    }
    let thinking = Focus::Thinking;
    (model.focus == thinking || model.over_chat == Some(thinking)).then_some(THINK)
}

/// Types the step's prompt once, where nothing is under way and nothing is typed.
fn type_ahead(guide: &mut Guide, model: &mut Model) {
    if !guide.due || model.running().is_some() || !model.queue.prompts.is_empty() {
        return;
    }
    guide.due = false;
    let wanted = guide.wanted().filter(|wanted| !wanted.is_empty());
    let untouched = guide
        .typed
        .is_some_and(|typed| model.editor.text() == typed);
    if !model.editor.is_blank() && !untouched {
        return;
    }
    model.editor.set(wanted.unwrap_or_default());
    model.history.at = None;
    guide.typed = wanted;
}

/// Does what the guide typed stand in the message, untouched?
pub fn owns(model: &Model) -> bool {
    let typed = model.guide.as_ref().and_then(|guide| guide.typed);
    typed.is_some_and(|typed| model.editor.text() == typed)
}

/// The person types words: what the guide typed makes room for them.
pub fn make_room(model: &mut Model) {
    if owns(model) {
        model.editor.take();
    }
    disown(model);
}

/// The person edits: from now on the words are the person's.
pub fn disown(model: &mut Model) {
    if let Some(guide) = &mut model.guide {
        guide.typed = None;
    }
}

/// The guide's line, in the longest form that is at most `columns` wide; the shortest
/// may be wider. None where nobody is guided.
pub fn line(model: &Model, columns: u16) -> Option<String> {
    let guide = model.guide.as_ref()?;
    let (step, forms) = scene(guide, model);
    let count = match (step + 1, columns >= WORDS_FROM) {
        (number, true) if number <= STEPS => format!("{number} of {STEPS}  "),
        (number, false) if number <= STEPS => format!("{number}/{STEPS} "),
        _ => String::new(),
    };
    let room = usize::from(columns).saturating_sub(width(&count));
    let fits = forms.into_iter().find(|form| width(form) <= room);
    Some(count + fits.unwrap_or(forms[2]))
}

/// The step and its words, long, short and for the smallest screens.
fn scene(guide: &Guide, model: &Model) -> (usize, [&'static str; 3]) {
    if model.approves() {
        return (DECIDE, DECIDE_WORDS);
    }
    if let Some(step) = open(model) {
        return (step, open_words(step));
    }
    let running = model.running().is_some();
    let words = match guide.at {
        ASK => ASK_WORDS,
        DECIDE if running => BEFORE_WORDS,
        DECIDE => AGAIN_WORDS,
        THINK if running => ANSWER_WORDS,
        THINK if !guide.answered => UNANSWERED_WORDS,
        THINK => THINK_WORDS,
        STOP if running => STOP_WORDS,
        STOP => STORY_WORDS,
        SESSIONS => SESSIONS_WORDS,
        COMMANDS => COMMANDS_WORDS,
        HELP => HELP_WORDS,
        _ if guide.prompts.connect.is_empty() => LEAVE_WORDS,
        _ => END_WORDS,
    };
    (guide.at, words)
}

fn open_words(step: usize) -> [&'static str; 3] {
    match step {
        SESSIONS => SESSIONS_OPEN,
        COMMANDS => COMMANDS_OPEN,
        HELP => HELP_OPEN,
        _ => THINK_OPEN,
    }
}

const ASK_WORDS: [&str; 3] = [
    "A script answers here, not a model; all else is real. Enter sends.",
    "A script answers here, no model. Enter sends.",
    "Enter sends",
];
const BEFORE_WORDS: [&str; 3] = [
    "It thinks, then asks for a tool. Nothing runs before you say yes.",
    "It thinks, then asks you for a tool.",
    "It thinks",
];
const DECIDE_WORDS: [&str; 3] = [
    "The tool has not run yet. y runs it, n refuses, e edits the call.",
    "Nothing ran yet. y runs the tool, n refuses it.",
    "y runs it",
];
const AGAIN_WORDS: [&str; 3] = [
    "Ask what time it is; y in the dialog then lets the tool run.",
    "Ask for the time; y then lets the tool run.",
    "Ask the time",
];
const ANSWER_WORDS: [&str; 3] = [
    "The answer comes word by word, from what the tool really told.",
    "The answer comes in, word by word.",
    "It answers",
];
const UNANSWERED_WORDS: [&str; 3] = [
    "Nothing was answered, as you wished. Enter asks once more.",
    "Nothing was answered. Enter asks once more.",
    "Enter again",
];
const THINK_WORDS: [&str; 3] = [
    "PgUp and PgDn scroll the answer. F3 goes to what it thought.",
    "PgUp, PgDn scroll. F3 goes to what it thought.",
    "F3 thinking",
];
const THINK_OPEN: [&str; 3] = [
    "What it thought on the way. Esc goes back to the message.",
    "What it thought. Esc goes back.",
    "Esc back",
];
const STORY_WORDS: [&str; 3] = [
    "Now a long story: Enter asks for it, Ctrl+C stops it at once.",
    "Enter asks for a story, Ctrl+C stops it.",
    "Enter: story",
];
const STOP_WORDS: [&str; 3] = [
    "Ctrl+C stops the answer at once; the words so far stay.",
    "Ctrl+C stops it; the words so far stay.",
    "Ctrl+C stops",
];
const SESSIONS_WORDS: [&str; 3] = [
    "Each answer was saved. Ctrl+O shows your conversations.",
    "Ctrl+O shows the saved conversations.",
    "Ctrl+O saved",
];
const SESSIONS_OPEN: [&str; 3] = [
    "Each is a JSON file. Type to search, Enter opens one, Esc closes.",
    "Type to search, Enter opens one, Esc closes.",
    "Esc closes",
];
const COMMANDS_WORDS: [&str; 3] = [
    "Ctrl+P finds any command by a few of its letters.",
    "Ctrl+P finds any command.",
    "Ctrl+P all",
];
const COMMANDS_OPEN: [&str; 3] = [
    "Type a few letters, Enter runs the command, Esc closes.",
    "A few letters, then Enter; Esc closes.",
    "Esc closes",
];
const HELP_WORDS: [&str; 3] = [
    "F1 shows every key and every command.",
    "F1 shows every key and every command.",
    "F1 help",
];
const HELP_OPEN: [&str; 3] = [
    "PgDn scrolls, Esc closes.",
    "PgDn scrolls, Esc closes.",
    "Esc closes",
];
const END_WORDS: [&str; 3] = [
    "That was all. Enter tells how to connect a model; Ctrl+C leaves.",
    "Enter: how to connect a model. Ctrl+C leaves.",
    "Ctrl+C ends",
];
const LEAVE_WORDS: [&str; 3] = [
    "That was all. Ctrl+C leaves; `humble` starts with real models.",
    "Ctrl+C leaves; `humble` has real models.",
    "Ctrl+C ends",
];

#[cfg(test)]
mod tests {
    use super::super::keymap::{Action, key_of};
    use super::*;

    const ALL: [[&str; 3]; 18] = [
        ASK_WORDS,
        BEFORE_WORDS,
        DECIDE_WORDS,
        AGAIN_WORDS,
        ANSWER_WORDS,
        UNANSWERED_WORDS,
        THINK_WORDS,
        THINK_OPEN,
        STORY_WORDS,
        STOP_WORDS,
        SESSIONS_WORDS,
        SESSIONS_OPEN,
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
