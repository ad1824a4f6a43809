//! Progress of the tour, and the prompt it types for the user.

use crate::tui::TourPrompts;
use crate::tui::widgets::editor::Editor;

// The steps, in order.
pub const STEP_ASK: usize = 0;
pub const STEP_DECIDE: usize = 1;
pub const STEP_THINKING: usize = 2;
pub const STEP_STOP: usize = 3;
pub const STEP_SESSIONS: usize = 4;
pub const STEP_COMMANDS: usize = 5;
pub const STEP_HELP: usize = 6;
pub const STEP_COUNT: usize = 7;

#[derive(Debug)]
pub struct DemoTour {
    pub(super) prompts: TourPrompts,
    /// The current step; [`STEP_COUNT`] when all are done.
    pub(super) step: usize,
    pub(super) done: [bool; STEP_COUNT],
    /// At least one prompt was answered.
    pub(super) has_answer: bool,
    /// A conversation was saved to its file.
    pub has_saved: bool,
    /// The step's prompt should be typed once nothing is running.
    pub(super) prompt_is_due: bool,
    /// The prompt that the tour typed, unless the user has edited it.
    typed_prompt: Option<&'static str>,
}

impl DemoTour {
    pub fn new(prompts: TourPrompts) -> Self {
        Self {
            prompts,
            step: STEP_ASK,
            done: [false; STEP_COUNT],
            has_answer: false,
            has_saved: false,
            prompt_is_due: true,
            typed_prompt: None,
        }
    }

    /// Steps may be done out of order.
    pub(super) fn complete(&mut self, step: usize) {
        let previous_step = self.step;
        self.done[step] = true;
        // From the thinking step on, a later step skips those before it: the thinking pane is
        // optional. The help and the palette may be needed at any time, so they skip nothing.
        let is_aid = step == STEP_COMMANDS || step == STEP_HELP;
        if self.step >= STEP_THINKING && step > self.step && !is_aid {
            self.step = step;
        }
        while self.done.get(self.step) == Some(&true) {
            self.step += 1;
        }
        self.prompt_is_due |= self.step != previous_step;
    }

    fn step_prompt(&self) -> Option<&'static str> {
        match self.step {
            STEP_ASK | STEP_DECIDE => Some(self.prompts.question),
            STEP_THINKING if !self.has_answer => Some(self.prompts.question),
            STEP_STOP => Some(self.prompts.story),
            STEP_COUNT => Some(self.prompts.setup),
            _ => None,
        }
    }

    /// Types the step's prompt unless the user has typed something. Returns whether the message was
    /// changed.
    pub fn type_step_prompt(&mut self, editor: &mut Editor) -> bool {
        self.prompt_is_due = false;
        if !editor.is_blank() && !self.has_untouched_prompt(editor) {
            return false;
        }
        self.typed_prompt = self.step_prompt().filter(|prompt| !prompt.is_empty());
        editor.set(self.typed_prompt.unwrap_or_default());
        true
    }

    /// Whether the message is the tour's prompt, unedited.
    pub fn has_untouched_prompt(&self, editor: &Editor) -> bool {
        self.typed_prompt
            .is_some_and(|typed| editor.text() == typed)
    }

    /// Treats the prompt as the user's own, because the user has started to edit it.
    pub fn release_prompt(&mut self) {
        self.typed_prompt = None;
    }

    /// Clears the tour's prompt when the user starts to type, unless it has been edited.
    pub fn clear_prompt(&mut self, editor: &mut Editor) {
        if self.has_untouched_prompt(editor) {
            editor.take();
        }
        self.release_prompt();
    }
}
