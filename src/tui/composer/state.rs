//! The message editor with prompt history and queue.

use crate::domain::TurnId;
use crate::tui::composer::draft::DraftState;
use crate::tui::composer::history::{HistoryStep, InputHistory};
use crate::tui::composer::queue::PromptQueue;
use crate::tui::input::paste::PasteDetector;
use crate::tui::widgets::editor::{Edit, Editor, Motion};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Composer {
    pub editor: Editor,
    pub(super) draft: DraftState,
    pub(super) history: InputHistory,
    pub queue: PromptQueue,
    edited: Option<EditedMessage>,
    pub completion: CompletionState,
    /// The note path that was searched for last, while one is being typed.
    pub searched_note: Option<String>,
    pub paste_detector: PasteDetector,
    /// The revision of the text right after a path was completed, if a space follows the path.
    completion_revision: Option<u64>,
}

/// A message of the conversation that was loaded into the editor.
#[derive(Debug)]
pub struct EditedMessage {
    pub target: MessageTarget,
    /// The message as it was loaded.
    pub original: String,
    /// The editor's text before the message was loaded.
    text_before: String,
    /// The text comes from an earlier run, so it is unsent text even if the user leaves it as is.
    is_from_earlier_run: bool,
}

/// The message that is edited. A turn identifies its prompt or its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageTarget {
    LastPrompt,
    Prompt(TurnId),
    Answer(TurnId),
}

/// The selection in the completion list.
#[derive(Debug, Default)]
pub enum CompletionState {
    /// The user has not moved the selection since the text changed.
    #[default]
    Unmoved,
    Selected(usize),
    Closed,
}

impl EditedMessage {
    /// Whether `text` is the message as it was loaded; false for a text from an earlier run.
    pub(super) fn is_unchanged(&self, text: &str) -> bool {
        !self.is_from_earlier_run && self.original == text
    }

    pub(super) fn is_from_this_run(&self) -> bool {
        !self.is_from_earlier_run
    }
}

impl Composer {
    pub fn history(&self) -> &InputHistory {
        &self.history
    }

    /// Prepends the prompts of earlier runs.
    pub fn load_history(&mut self, prompts: &[String]) {
        self.history.load(prompts);
    }

    pub fn reset_history_position(&mut self) {
        self.history.reset_position();
    }

    /// Forgets the recalled prompt and the completion, because another text replaces the message.
    pub fn forget_replaced_message(&mut self) {
        self.history.reset_position();
        self.continue_typing();
    }

    /// Prepares for typed or pasted text. A recalled prompt stays recalled: Down still leads back to
    /// the draft, and Up returns to the edited prompt.
    pub fn continue_typing(&mut self) {
        self.completion = CompletionState::default();
    }

    /// Replaces the path before the cursor with the completed one. A completed path is followed by
    /// one space, which may have been there before.
    pub fn complete_mention(&mut self, replaced_bytes: usize, completed: &str) {
        let has_space = completed.ends_with(' ') && self.editor.after_cursor().starts_with(' ');
        let completed = match has_space {
            true => completed.trim_end(),
            false => completed,
        };
        self.editor.replace_before_cursor(replaced_bytes, completed);
        if has_space {
            self.editor.edit(Edit::Move(Motion::Right));
        }
        self.continue_typing();
        let ends_with_space = has_space || completed.ends_with(' ');
        self.completion_revision = ends_with_space.then(|| self.editor.revision());
    }

    /// Whether the text before the cursor ends with the space after a path that was just completed.
    /// Returns true once for each completion.
    pub fn take_completed(&mut self) -> bool {
        self.completion_revision.take() == Some(self.editor.revision())
    }

    /// Handles text that arrived as a burst of keys. The caller then inserts it.
    pub fn handle_burst(&mut self, text: &str, now: Duration) {
        if self.paste_detector.burst_typed(text, now) {
            self.editor.insert("\n");
        }
    }

    /// Inserts a newline for an Enter that was withheld because it could be part of a paste.
    pub fn insert_withheld_newline(&mut self, now: Duration) {
        self.paste_detector.newline_pasted(now);
        self.editor.insert("\n");
    }

    /// Handles an editing key. Up in an empty message selects a queued prompt; at the
    /// edges of the text, Up and Down recall the history. Returns false if a key other than Up and
    /// Down changed nothing.
    pub fn edit(&mut self, edit: Edit) -> bool {
        self.completion_revision = None;
        // Moving back or selecting closes the completion list.
        let closes_completion = matches!(
            edit,
            Edit::Select(_)
                | Edit::SelectAll
                | Edit::Move(
                    Motion::Left | Motion::WordLeft | Motion::LineStart | Motion::TextStart
                )
        );
        self.completion = match closes_completion {
            true => CompletionState::Closed,
            false => CompletionState::default(),
        };
        let has_no_text = self.editor.is_empty() && self.history.stashed_text().is_none();
        if edit == Edit::Move(Motion::Up) && has_no_text && self.queue.select_last() {
            return true;
        }
        if self.editor.edit(edit) {
            // Undo may bring back the text from before a recalled prompt.
            let is_undo = matches!(edit, Edit::Undo | Edit::Redo);
            let is_vertical = matches!(edit, Edit::Move(Motion::Up | Motion::Down));
            let has_draft = self
                .history
                .stashed_text()
                .is_some_and(|text| !text.is_empty());
            if is_undo || !is_vertical && self.editor.is_empty() && !has_draft {
                self.history.reset_position();
            }
            return true;
        }
        match edit {
            Edit::Move(Motion::Up) => self.recall_previous(),
            Edit::Move(Motion::Down) => self.recall_next(),
            _ => return false,
        }
        true
    }

    /// Replaces the message as one change that undo reverts.
    pub fn replace_message(&mut self, text: &str) {
        self.editor.replace_all(text);
        self.history.reset_position();
        self.completion = CompletionState::Closed;
    }

    /// Recalls a prompt that was found in the history, as one change that undo reverts. Down then leads
    /// back to the replaced text.
    pub fn recall_message(&mut self, text: &str) {
        self.history.recall(text, self.editor.text());
        self.editor.replace_all_folded(text);
        self.completion = CompletionState::Closed;
    }

    fn recall_previous(&mut self) {
        if let Some(prompt) = self.history.step_back(|| self.editor.text()) {
            self.editor.replace_all_folded(prompt);
            // Do not complete a recalled command: Up and Down must keep moving through the
            // history.
            self.completion = CompletionState::Closed;
        }
    }

    fn recall_next(&mut self) {
        match self.history.step_forward(|| self.editor.text()) {
            Some(HistoryStep::Prompt(prompt)) => {
                self.editor.replace_all_folded(prompt);
                self.completion = CompletionState::Closed;
            }
            Some(HistoryStep::Stashed(unsent)) => self.editor.replace_all_folded(&unsent),
            None => {}
        }
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
            is_from_earlier_run: false,
        });
        self.editor.set(text);
    }

    /// Treats the editor's text, which is from an earlier run, as an edit of a message. Cancelling
    /// empties the editor.
    pub fn continue_editing(&mut self, target: MessageTarget, original: &str) {
        self.draft.edit_of = None;
        self.edited = Some(EditedMessage {
            target,
            original: original.to_owned(),
            text_before: String::new(),
            is_from_earlier_run: true,
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

    /// Ends editing because the editor's text is sent. Returns which message it edits.
    pub fn finish_editing(&mut self) -> Option<MessageTarget> {
        Some(self.edited.take()?.target)
    }

    /// Ends editing. Returns the text from before it, if a message was being edited.
    pub(super) fn take_text_before_edit(&mut self) -> Option<String> {
        Some(self.edited.take()?.text_before)
    }
}
