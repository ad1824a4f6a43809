//! How far the tour has come.

use crate::tui::Prompts;
use crate::tui::widgets::editor::Editor;

/// Steps, in their order.
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
    /// The step that is taught; [`STEPS`] when none is left.
    pub(super) at: usize,
    pub(super) done: [bool; STEPS],
    /// A prompt was answered.
    pub(super) answered: bool,
    /// A conversation was written to its file.
    pub saved: bool,
    /// Something changed since a prompt was typed ahead last.
    pub(super) due: bool,
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
    pub(super) fn did(&mut self, step: usize) {
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

    /// Types the step's prompt, unless the user has typed something.
    pub fn type_ahead(&mut self, editor: &mut Editor) -> bool {
        self.due = false;
        if !editor.is_blank() && !self.owns(editor) {
            return false;
        }
        self.typed = self.wanted().filter(|wanted| !wanted.is_empty());
        editor.set(self.typed.unwrap_or_default());
        true
    }

    /// Does what it typed stand in the message, untouched?
    pub fn owns(&self, editor: &Editor) -> bool {
        self.typed.is_some_and(|typed| editor.text() == typed)
    }

    /// The user edits: from now on the words are the user's.
    pub fn disown(&mut self) {
        self.typed = None;
    }

    /// The user types words: what was typed ahead makes room for them.
    pub fn make_room(&mut self, editor: &mut Editor) {
        if self.owns(editor) {
            editor.take();
        }
        self.disown();
    }
}
