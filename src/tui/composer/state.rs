//! The message editor with prompt history and queue.

use crate::tui::composer::draft::DraftPrivacy;
use crate::tui::composer::history::{HistoryStep, InputHistory};
use crate::tui::composer::queue::{PromptQueue, QueuedPrompt};
use crate::tui::input::paste::PasteDetector;
use crate::tui::widgets::editor::{Edit, Editor};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Composer {
    pub editor: Editor,
    pub(super) draft: DraftPrivacy,
    pub(super) history: InputHistory,
    pub queue: PromptQueue,
    /// The editor's text from before the last prompt was loaded for editing.
    text_before_edit: Option<String>,
    pub completion: CompletionState,
    pub paste_detector: PasteDetector,
}

/// The selection in the completion list of a command.
#[derive(Debug, Default)]
pub enum CompletionState {
    /// The user has not moved the selection since the text changed.
    #[default]
    Unmoved,
    Selected(usize),
    Closed,
}

impl Composer {
    pub fn history(&self) -> &InputHistory {
        &self.history
    }

    /// Prepends the prompts of earlier runs.
    pub fn load_history(&mut self, prompts: &[String]) {
        self.history.load(prompts);
    }

    /// Resets the history position.
    pub fn reset_history_position(&mut self) {
        self.history.reset_position();
    }

    /// Prepares for typed or pasted text.
    pub fn begin_typing(&mut self) {
        self.history.reset_position();
        self.completion = CompletionState::default();
    }

    /// Handles text that arrived as a burst of keys. The caller then inserts it.
    pub fn burst(&mut self, text: &str, now: Duration) {
        if self.paste_detector.burst_typed(text, now) {
            self.editor.insert("\n");
        }
    }

    /// Converts a held Enter into a newline.
    pub fn insert_held_newline(&mut self, now: Duration) {
        self.paste_detector.line_ended(now);
        self.editor.insert("\n");
    }

    /// Handles an editing key. Up in an empty message selects a queued prompt; at the
    /// edges of the text, Up and Down recall the history.
    pub fn edit(&mut self, edit: Edit) {
        // Completion works only at the end of the text.
        let leaves_end = matches!(edit, Edit::Left | Edit::WordLeft | Edit::LineStart);
        self.completion = match leaves_end {
            true => CompletionState::Closed,
            false => CompletionState::default(),
        };
        let has_no_text = self.editor.is_empty() && self.history.stashed_text().is_none();
        if edit == Edit::Up && has_no_text && self.queue.select_last() {
            return;
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
            // Do not complete a recalled command: Up and Down must keep moving through the
            // history.
            self.completion = CompletionState::Closed;
        }
    }

    fn recall_next(&mut self) {
        match self.history.step_forward() {
            Some(HistoryStep::Prompt(prompt)) => {
                self.editor.set(prompt);
                self.completion = CompletionState::Closed;
            }
            Some(HistoryStep::Stashed(unsent)) => self.editor.set(&unsent),
            None => {}
        }
    }

    /// Moves queued prompts back into the editor, before its text, because the conversation that
    /// they were meant for is being closed. Returns false if the queue was empty.
    pub fn return_queue_to_editor(&mut self) -> bool {
        if self.queue.edited().is_some() {
            let text = self.editor.take();
            let attachments = Vec::new();
            self.queue.finish_edit(QueuedPrompt { text, attachments });
        }
        let queued = self.queue.take_all().into_iter();
        let mut prompts: Vec<String> = queued.map(|prompt| prompt.text).collect();
        if prompts.is_empty() {
            return false;
        }
        if !self.editor.is_blank() {
            prompts.push(self.editor.text());
        }
        self.editor.set(&prompts.join("\n"));
        true
    }

    /// Loads the last prompt for editing. A repeated call does not change the text that
    /// [`Self::cancel_editing`] restores.
    pub fn begin_editing_last(&mut self, prompt: &str) {
        let before = self.editor.text();
        self.text_before_edit.get_or_insert(before);
        self.editor.set(prompt);
    }

    /// Treats the editor's text as an edit of the last prompt. Cancelling empties the editor.
    pub fn begin_replacing_last(&mut self) {
        self.text_before_edit = Some(String::new());
    }

    /// The editor's text from before the last prompt was loaded.
    pub fn text_before_edit(&self) -> Option<&str> {
        self.text_before_edit.as_deref()
    }

    /// Cancels editing and restores the earlier text. Returns false if nothing was being
    /// edited.
    pub fn cancel_editing(&mut self) -> bool {
        let before = self.text_before_edit.take();
        if let Some(before) = &before {
            self.editor.set(before);
        }
        before.is_some()
    }

    /// Ends editing when the prompt is sent. Returns false if nothing was being edited.
    pub fn finish_editing(&mut self) -> bool {
        self.take_text_before_edit().is_some()
    }

    /// Ends editing. Returns the text from before it, if a prompt was being edited.
    pub(super) fn take_text_before_edit(&mut self) -> Option<String> {
        self.text_before_edit.take()
    }
}
