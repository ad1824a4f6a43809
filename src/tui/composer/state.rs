//! The message being typed, what was typed before, and what waits to be sent.

use crate::tui::composer::draft::DraftPrivacy;
use crate::tui::composer::history::{HistoryStep, InputHistory};
use crate::tui::input::paste::PasteDetector;
use crate::tui::keymap;
use crate::tui::keymap::Binding;
use crate::tui::widgets::editor::{Edit, Editor};
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Composer {
    pub editor: Editor,
    pub(super) draft: DraftPrivacy,
    pub(super) history: InputHistory,
    pub queue: PromptQueue,
    /// While the last prompt is being changed: what stood in the message before.
    text_before_edit: Option<String>,
    pub completion: CompletionState,
    pub paste_detector: PasteDetector,
}

/// Prompts that wait for the turn under way.
#[derive(Debug, Default)]
pub struct PromptQueue {
    pub prompts: VecDeque<String>,
    pub paused: bool,
}

impl PromptQueue {
    /// Nothing of it is sent before the user says so.
    pub fn pause(&mut self) {
        self.paused |= !self.prompts.is_empty();
    }
}

/// The list of commands while one is typed.
#[derive(Debug)]
pub enum CompletionState {
    Selected(usize),
    /// The user closed it.
    Closed,
}

impl Default for CompletionState {
    fn default() -> Self {
        Self::Selected(0)
    }
}

impl Composer {
    pub fn history(&self) -> &InputHistory {
        &self.history
    }

    /// The prompts of earlier runs are here.
    pub fn load_history(&mut self, prompts: &[String]) {
        self.history.load(prompts);
    }

    /// Up and Down begin anew.
    pub fn reset_history_position(&mut self) {
        self.history.reset_position();
    }

    /// Text is about to be typed or pasted.
    pub fn begin_typing(&mut self) {
        self.history.reset_position();
        self.completion = CompletionState::default();
    }

    /// Text that came as keys, faster than anyone types; it is pasted next.
    pub fn burst(&mut self, text: &str, now: Duration) {
        if self.paste_detector.burst(text, now) {
            self.editor.insert("\n");
        }
    }

    /// A held Enter was a line end.
    pub fn insert_held_newline(&mut self, now: Duration) {
        self.paste_detector.line_ended(now);
        self.editor.insert("\n");
    }

    /// An editing key. Up and Down leave the text at its edges for what was queued or typed
    /// before.
    pub fn edit(&mut self, edit: Edit) {
        self.completion = CompletionState::default();
        let is_fresh = self.editor.is_empty() && self.history.stashed_text().is_none();
        if edit == Edit::Up
            && is_fresh
            && let Some(queued) = self.queue.prompts.pop_back()
        {
            return self.editor.set(&queued);
        }
        if self.editor.edit(edit) {
            if !matches!(edit, Edit::Up | Edit::Down) && self.editor.is_empty() {
                self.history.reset_position();
            }
            return;
        }
        match edit {
            Edit::Up => self.recall_previous(),
            Edit::Down => self.recall_next(),
            _ => {}
        }
    }

    fn recall_previous(&mut self) {
        if let Some(prompt) = self.history.step_back(|| self.editor.text()) {
            self.editor.set(prompt);
            // A recalled command is not completed: Up and Down go on through the history.
            self.completion = CompletionState::Closed;
        }
    }

    fn recall_next(&mut self) {
        match self.history.step_forward() {
            Some(HistoryStep::Prompt(prompt)) => {
                self.editor.set(prompt);
                self.completion = CompletionState::Closed;
            }
            Some(HistoryStep::Stashed(typed)) => self.editor.set(&typed),
            None => {}
        }
    }

    /// Puts the queue back into the message, before what stands there: it was meant for the
    /// conversation that is left. False where there is none.
    pub fn return_queue_to_editor(&mut self) -> bool {
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
    pub fn begin_editing_last(&mut self, prompt: &str) {
        let before = self.editor.text();
        self.text_before_edit.get_or_insert(before);
        self.editor.set(prompt);
    }

    /// A prompt that replaces the last one comes into the empty message.
    pub fn begin_replacing_last(&mut self) {
        self.text_before_edit = Some(String::new());
    }

    /// What stood in the message before the last prompt was put there to be changed.
    pub fn text_before_edit(&self) -> Option<&str> {
        self.text_before_edit.as_deref()
    }

    /// Leaves the last prompt as it was. False where none was being changed.
    pub fn cancel_editing(&mut self) -> bool {
        let before = self.text_before_edit.take();
        if let Some(before) = &before {
            self.editor.set(before);
        }
        before.is_some()
    }

    /// The changed prompt is sent. False where none was being changed.
    pub fn finish_editing(&mut self) -> bool {
        self.text_before_edit.take().is_some()
    }

    /// The commands that what is typed may become.
    pub fn completions(&self) -> Vec<(&'static str, &'static Binding)> {
        let typed = self.editor.one_line().filter(|line| line.starts_with('/'));
        let (Some(typed), CompletionState::Selected(_)) = (typed, &self.completion) else {
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
            CompletionState::Selected(at) => at,
            CompletionState::Closed => 0,
        };
        selected.min(count.saturating_sub(1))
    }
}
