//! The message being typed, what was typed before, and what waits to be sent.

use crate::tui::composer::draft::Draft;
use crate::tui::composer::history::{History, Later};
use crate::tui::input::paste::PasteDetector;
use crate::tui::keymap;
use crate::tui::keymap::Binding;
use crate::tui::widgets::editor::{Edit, Editor};
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Composer {
    pub editor: Editor,
    pub(super) draft: Draft,
    pub(super) history: History,
    pub queue: Queue,
    /// While the last prompt is being changed: what stood in the message before.
    editing: Option<String>,
    pub completion: Completion,
    pub pasting: PasteDetector,
}

/// Prompts that wait for the turn under way.
#[derive(Debug, Default)]
pub struct Queue {
    pub prompts: VecDeque<String>,
    pub paused: bool,
}

impl Queue {
    /// Nothing of it is sent before the user says so.
    pub fn pause(&mut self) {
        self.paused |= !self.prompts.is_empty();
    }
}

/// The list of commands while one is typed.
#[derive(Debug)]
pub enum Completion {
    Selected(usize),
    /// The user closed it.
    Closed,
}

impl Default for Completion {
    fn default() -> Self {
        Self::Selected(0)
    }
}

impl Composer {
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The prompts of earlier runs are here.
    pub fn load_history(&mut self, prompts: &[String]) {
        self.history.load(prompts);
    }

    /// Up and Down begin anew.
    pub fn leave_history(&mut self) {
        self.history.leave();
    }

    /// Text is about to be typed or pasted.
    pub fn begin_typing(&mut self) {
        self.history.leave();
        self.completion = Completion::default();
    }

    /// Text that came as keys, faster than anyone types; it is pasted next.
    pub fn burst(&mut self, text: &str, now: Duration) {
        if self.pasting.burst(text, now) {
            self.editor.insert("\n");
        }
    }

    /// A held Enter was a line end.
    pub fn break_line(&mut self, now: Duration) {
        self.pasting.line_ended(now);
        self.editor.insert("\n");
    }

    /// An editing key. Up and Down leave the text at its edges for what was queued or typed
    /// before.
    pub fn edit(&mut self, edit: Edit) {
        self.completion = Completion::default();
        let is_fresh = self.editor.is_empty() && self.history.aside().is_none();
        if edit == Edit::Up
            && is_fresh
            && let Some(queued) = self.queue.prompts.pop_back()
        {
            return self.editor.set(&queued);
        }
        if self.editor.edit(edit) {
            if !matches!(edit, Edit::Up | Edit::Down) && self.editor.is_empty() {
                self.history.leave();
            }
            return;
        }
        match edit {
            Edit::Up => self.earlier(),
            Edit::Down => self.later(),
            _ => {}
        }
    }

    fn earlier(&mut self) {
        if let Some(prompt) = self.history.earlier(|| self.editor.text()) {
            self.editor.set(prompt);
            // A recalled command is not completed: Up and Down go on through the history.
            self.completion = Completion::Closed;
        }
    }

    fn later(&mut self) {
        match self.history.later() {
            Some(Later::Prompt(prompt)) => {
                self.editor.set(prompt);
                self.completion = Completion::Closed;
            }
            Some(Later::Typed(typed)) => self.editor.set(&typed),
            None => {}
        }
    }

    /// Puts the queue back into the message, before what stands there: it was meant for the
    /// conversation that is left. False where there is none.
    pub fn unqueue(&mut self) -> bool {
        let mut prompts: Vec<String> = self.queue.prompts.drain(..).collect();
        self.queue.paused = false;
        if prompts.is_empty() {
            return false;
        }
        if !self.editor.is_blank() {
            prompts.push(self.editor.text());
        }
        self.editor.set(&prompts.join("\n"));
        true
    }

    /// Puts the last prompt into the message, to be changed. Twice in a row, the text of
    /// before the first time is what comes back.
    pub fn edit_last(&mut self, prompt: &str) {
        let before = self.editor.text();
        self.editing.get_or_insert(before);
        self.editor.set(prompt);
    }

    /// A prompt that replaces the last one comes into the empty message.
    pub fn edit_offered(&mut self) {
        self.editing = Some(String::new());
    }

    /// What stood in the message before the last prompt was put there to be changed.
    pub fn editing(&self) -> Option<&str> {
        self.editing.as_deref()
    }

    /// Leaves the last prompt as it was. False where none was being changed.
    pub fn stop_editing(&mut self) -> bool {
        let before = self.editing.take();
        if let Some(before) = &before {
            self.editor.set(before);
        }
        before.is_some()
    }

    /// The changed prompt is sent. False where none was being changed.
    pub fn send_edited(&mut self) -> bool {
        self.editing.take().is_some()
    }

    /// The commands that what is typed may become.
    pub fn completions(&self) -> Vec<(&'static str, &'static Binding)> {
        let typed = self.editor.one_line().filter(|line| line.starts_with('/'));
        let (Some(typed), Completion::Selected(_)) = (typed, &self.completion) else {
            return Vec::new();
        };
        let found: Vec<_> = keymap::commands()
            .filter(|(command, _)| command.starts_with(typed))
            .collect();
        // A command that stands there whole needs no list.
        match found.as_slice() {
            [(only, _)] if *only == typed => Vec::new(),
            _ => found,
        }
    }

    /// The selected one of so many completions.
    pub fn selected_completion(&self, count: usize) -> usize {
        let selected = match self.completion {
            Completion::Selected(at) => at,
            Completion::Closed => 0,
        };
        selected.min(count.saturating_sub(1))
    }
}
