//! The message editor with prompt history and queue.

use crate::domain::TurnId;
use crate::tui::composer::draft::DraftPrivacy;
use crate::tui::composer::history::{HistoryStep, InputHistory};
use crate::tui::input::paste::PasteDetector;
use crate::tui::widgets::editor::{Edit, Editor};
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Composer {
    pub editor: Editor,
    pub(super) draft: DraftPrivacy,
    pub(super) history: InputHistory,
    pub queue: PromptQueue,
    /// The message of the conversation that is being edited.
    edited: Option<EditedMessage>,
    pub completion: CompletionState,
    pub paste_detector: PasteDetector,
}

/// A message of the conversation that was loaded into the editor.
#[derive(Debug)]
pub struct EditedMessage {
    pub target: MessageTarget,
    /// The message as it was loaded.
    pub original: String,
    /// The editor's text from before.
    text_before: String,
}

/// Which message is edited. A turn is named by its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageTarget {
    LastPrompt,
    Prompt(TurnId),
    Answer(TurnId),
}

/// Prompts that wait for the running turn.
#[derive(Debug, Default)]
pub struct PromptQueue {
    pub prompts: VecDeque<String>,
    pub paused: bool,
}

impl PromptQueue {
    /// Stops sending queued prompts until the user resumes.
    pub fn pause(&mut self) {
        self.paused |= !self.prompts.is_empty();
    }
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

    /// Handles an editing key. Up and Down at the edge of the text recall queued prompts or
    /// history.
    pub fn edit(&mut self, edit: Edit) {
        // Completion works only at the end of the text.
        let leaves_end = matches!(edit, Edit::Left | Edit::WordLeft | Edit::LineStart);
        self.completion = match leaves_end {
            true => CompletionState::Closed,
            false => CompletionState::default(),
        };
        let has_no_text = self.editor.is_empty() && self.history.stashed_text().is_none();
        if edit == Edit::Up
            && has_no_text
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

    /// Loads a message for editing. A repeated call does not change the text that
    /// [`Self::cancel_editing`] restores.
    pub fn begin_editing(&mut self, target: MessageTarget, text: &str) {
        let before = match self.edited.take() {
            Some(edited) => edited.text_before,
            None => self.editor.text(),
        };
        self.edited = Some(EditedMessage {
            target,
            original: text.to_owned(),
            text_before: before,
        });
        self.editor.set(text);
    }

    /// Treats the editor's text as an edit of the last prompt. Cancelling empties the editor.
    pub fn begin_replacing_last(&mut self) {
        self.edited = Some(EditedMessage {
            target: MessageTarget::LastPrompt,
            original: self.editor.text(),
            text_before: String::new(),
        });
    }

    pub fn edited(&self) -> Option<&EditedMessage> {
        self.edited.as_ref()
    }

    /// The editor's text from before a message was loaded.
    pub fn text_before_edit(&self) -> Option<&str> {
        Some(&self.edited.as_ref()?.text_before)
    }

    /// Cancels editing and restores the earlier text. Returns false if nothing was being
    /// edited.
    pub fn cancel_editing(&mut self) -> bool {
        let edited = self.edited.take();
        if let Some(edited) = &edited {
            self.editor.set(&edited.text_before);
        }
        edited.is_some()
    }

    /// Ends editing when the message is sent. Returns what was being edited.
    pub fn finish_editing(&mut self) -> Option<MessageTarget> {
        Some(self.edited.take()?.target)
    }

    /// Ends editing. Returns the text from before it, if a message was being edited.
    pub(super) fn take_text_before_edit(&mut self) -> Option<String> {
        Some(self.edited.take()?.text_before)
    }
}
