//! Progress of the tour, and the prompt it types for the user.

use crate::tui::Prompts;
use crate::tui::widgets::editor::Editor;

// The steps, in order.
pub const ASK: usize = 0;
pub const DECIDE: usize = 1;
pub const THINK: usize = 2;
pub const STOP: usize = 3;
pub const SESSIONS: usize = 4;
pub const COMMANDS: usize = 5;
pub const HELP: usize = 6;
pub const STEPS: usize = 7;

#[derive(Debug)]
pub struct Guide {
    pub(super) prompts: Prompts,
    /// The current step; [`STEP_COUNT`] when all are done.
    pub(super) at: usize,
    pub(super) done: [bool; STEPS],
    /// Some prompt was answered.
    pub(super) answered: bool,
    /// A conversation was saved to its file.
    pub saved: bool,
    /// The step's prompt should be typed once nothing is running.
    pub(super) due: bool,
    /// The prompt that the tour typed, unless the user has edited it.
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

    /// Marks a step as done, perhaps ahead of its turn.
    pub(super) fn did(&mut self, step: usize) {
        let before = self.at;
        self.done[step] = true;
        // A later step skips the current one, so the thinking pane is optional.
        if self.at >= THINK && step > self.at {
            self.at = step;
        }
        while self.done.get(self.at) == Some(&true) {
            self.at += 1;
        }
        self.due |= self.at != before;
    }

    /// The prompt that the current step suggests, if any.
    fn wanted(&self) -> Option<&'static str> {
        match self.at {
            ASK | DECIDE => Some(self.prompts.question),
            THINK if !self.answered => Some(self.prompts.question),
            STOP => Some(self.prompts.story),
            STEPS => Some(self.prompts.connect),
            _ => None,
        }
    }

    /// Types the step's prompt unless the user has typed something. Returns whether it did.
    pub fn type_ahead(&mut self, editor: &mut Editor) -> bool {
        self.due = false;
        if !editor.is_blank() && !self.owns(editor) {
            return false;
        }
        self.typed = self.wanted().filter(|wanted| !wanted.is_empty());
        editor.set(self.typed.unwrap_or_default());
        true
    }

    /// Does the message hold the tour's prompt, unedited?
    pub fn owns(&self, editor: &Editor) -> bool {
        self.typed.is_some_and(|typed| editor.text() == typed)
    }

    /// The user edits the prompt, so it now belongs to them.
    pub fn disown(&mut self) {
        self.typed = None;
    }

    /// The user starts to type, so the tour's unedited prompt is removed.
    pub fn make_room(&mut self, editor: &mut Editor) {
        if self.owns(editor) {
            editor.take();
        }
        self.disown();
    }
}
