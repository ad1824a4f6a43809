//! The guide of `humble demo`: one line above the message that teaches the keys in
//! turn. It only watches: whatever the person does instead works as ever, in any
//! order, and counts where it is a step of the guide's.

mod words;

use crate::domain::{Server, ToolOutcome, ToolState, TurnEnd};
use crate::text::grapheme::width;
use crate::tui::Prompts;
use crate::tui::keymap::Action;
use crate::tui::model::{Focus, Model};

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
    /// A conversation was written to its file.
    saved: bool,
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
            saved: false,
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

/// A conversation was written to its file.
pub fn saved(model: &mut Model) {
    if let Some(guide) = &mut model.guide {
        guide.saved = true;
    }
}

/// The end of a turn that was under way.
pub fn ended(model: &mut Model, end: &TurnEnd) {
    let no_tool = !offers_a_tool(model);
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
    if guide.at == DECIDE && answered && no_tool {
        guide.did(DECIDE);
    }
    if guide.at == STEPS && answered && is(guide.prompts.connect) {
        guide.due = false;
        guide.prompts.connect = "";
    }
}

/// Is there a tool that could be asked for?
fn offers_a_tool(model: &Model) -> bool {
    let offers = |server: &Server| server.offered().next().is_some();
    model.sidebar.servers.iter().any(offers)
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
    match model.layer.as_ref().and_then(|layer| layer.action()) {
        Some(Action::Sessions) => return Some(SESSIONS),
        Some(Action::Commands) => return Some(COMMANDS),
        Some(Action::Help) => return Some(HELP),
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
    let (step, forms) = words::scene(guide, model);
    let count = match (step + 1, columns >= WORDS_FROM) {
        (number, true) if number <= STEPS => format!("{number} of {STEPS}  "),
        (number, false) if number <= STEPS => format!("{number}/{STEPS} "),
        _ => String::new(),
    };
    let room = usize::from(columns).saturating_sub(width(&count));
    let fits = forms.into_iter().find(|form| width(form) <= room);
    Some(count + fits.unwrap_or(forms[2]))
}
