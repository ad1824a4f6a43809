//! The message editor with prompt history and queue.

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
    /// The editor's text from before the last prompt was loaded for editing.
    editing: Option<String>,
    pub completion: Completion,
    pub pasting: PasteDetector,
}

/// Prompts that wait for the running turn.
#[derive(Debug, Default)]
pub struct Queue {
    pub prompts: VecDeque<String>,
    pub paused: bool,
}

impl Queue {
    /// Stops sending queued prompts until the user resumes.
    pub fn pause(&mut self) {
        self.paused |= !self.prompts.is_empty();
    }
}

/// The completion list for slash commands.
#[derive(Debug)]
pub enum Completion {
    Selected(usize),
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

    /// Prepends the prompts of earlier runs.
    pub fn load_history(&mut self, prompts: &[String]) {
        self.history.load(prompts);
    }

    /// Resets the history position.
    pub fn leave_history(&mut self) {
        self.history.leave();
    }

    /// Prepares for typed or pasted text.
    pub fn begin_typing(&mut self) {
        self.history.leave();
        self.completion = Completion::default();
    }

    /// Handles text that arrived as a burst of keys. The caller then inserts it.
    pub fn burst(&mut self, text: &str, now: Duration) {
        if self.pasting.burst(text, now) {
            self.editor.insert("\n");
        }
    }

    /// Converts a held Enter into a newline.
    pub fn break_line(&mut self, now: Duration) {
        self.pasting.line_ended(now);
        self.editor.insert("\n");
    }

    /// Handles an editing key. Up and Down at the edge of the text recall queued prompts or
    /// history.
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
            // Do not complete a recalled command: Up and Down must keep moving through the
            // history.
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

    /// Moves queued prompts back into the editor, before its text: they were meant for the
    /// conversation that is being closed. Returns false if the queue was empty.
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

    /// Loads the last prompt for editing. Repeated calls keep the text from before the
    /// first one.
    pub fn edit_last(&mut self, prompt: &str) {
        let before = self.editor.text();
        self.editing.get_or_insert(before);
        self.editor.set(prompt);
    }

    /// Marks the empty editor as editing a replacement for the last prompt.
    pub fn edit_offered(&mut self) {
        self.editing = Some(String::new());
    }

    /// The editor's text from before the last prompt was loaded.
    pub fn editing(&self) -> Option<&str> {
        self.editing.as_deref()
    }

    /// Cancels editing and restores the earlier text. Returns false if nothing was being
    /// edited.
    pub fn stop_editing(&mut self) -> bool {
        let before = self.editing.take();
        if let Some(before) = &before {
            self.editor.set(before);
        }
        before.is_some()
    }

    /// Ends editing when the prompt is sent. Returns false if nothing was being edited.
    pub fn send_edited(&mut self) -> bool {
        self.editing.take().is_some()
    }

    /// Commands that complete the typed text.
    pub fn completions(&self) -> Vec<(&'static str, &'static Binding)> {
        let typed = self.editor.one_line().filter(|line| line.starts_with('/'));
        let (Some(typed), Completion::Selected(_)) = (typed, &self.completion) else {
            return Vec::new();
        };
        let found: Vec<_> = keymap::commands()
            .filter(|(command, _)| command.starts_with(typed))
            .collect();
        // A fully typed command needs no list.
        match found.as_slice() {
            [(only, _)] if *only == typed => Vec::new(),
            _ => found,
        }
    }

    /// Index of the selected completion among `count`.
    pub fn selected_completion(&self, count: usize) -> usize {
        let selected = match self.completion {
            Completion::Selected(at) => at,
            Completion::Closed => 0,
        };
        selected.min(count.saturating_sub(1))
    }
}
