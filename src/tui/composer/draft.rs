//! The draft that is saved while the user types and on exit, and its privacy rule: unsent text from
//! a private conversation is never written to disk, not even after the conversation has ended.

use crate::domain::{EditedPrompt, UnsentFile, UnsentPrompt, UnsentText};
use crate::protocol::Command;
use crate::tui::composer::queue::QueuedPrompt;
use crate::tui::composer::state::{CompletionState, Composer, EditedMessage, MessageTarget};
use std::time::Duration;

/// After the last change of the message.
const DRAFT_SAVE_DELAY: Duration = Duration::from_millis(250);
/// Continuous typing delays saving by at most this long.
const DRAFT_SAVE_DELAY_MAX: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub struct DraftState {
    /// Whether the message or the queue contains text typed in a private conversation, or private mode
    /// was requested.
    is_private: bool,
    /// Whether private mode was requested but not confirmed yet.
    awaits_private: bool,
    /// Whether unsent text is saved on disk, by this run or the last one.
    pub(super) is_on_disk: bool,
    /// The revision of the queue that was seen last.
    queue_revision: u64,
    /// The revision of the message and the number of its files that were seen last.
    message_revision: (u64, usize),
    unsaved: Option<UnsavedDraft>,
    is_urgent: bool,
    /// The prompt that the last run's message replaces, until its conversation is opened.
    pub(super) edit_of: Option<EditedPrompt>,
    /// The last run's message, as it was put into the editor.
    restored_message: Option<String>,
    /// Unsent text of the last run that a private conversation must not send or change. It stays on
    /// disk, and returns when private mode ends.
    pub(super) set_aside: UnsentText,
}

/// The files that are saved with a draft.
#[derive(Debug, Default)]
pub struct DraftFiles {
    pub shown: Vec<UnsentFile>,
    /// The files of the message from before another prompt was loaded into it.
    pub before_edit: Option<Vec<UnsentFile>>,
}

#[derive(Debug)]
struct UnsavedDraft {
    changed_first_at: Duration,
    due_at: Duration,
}

impl Composer {
    /// Schedules saving the draft if the message or the number of its files has changed.
    pub fn schedule_draft(&mut self, file_count: usize, now: Duration) {
        let revision = (self.editor.revision(), file_count);
        if std::mem::replace(&mut self.draft.message_revision, revision) == revision {
            return;
        }
        let unsaved = self.draft.unsaved.as_ref();
        let changed_first_at = unsaved.map_or(now, |unsaved| unsaved.changed_first_at);
        let latest = changed_first_at + DRAFT_SAVE_DELAY_MAX;
        self.draft.unsaved = Some(UnsavedDraft {
            changed_first_at,
            due_at: latest.min(now + DRAFT_SAVE_DELAY),
        });
    }

    /// Requests that the message be saved at once, because the disk has no other copy of it.
    pub fn save_draft_at_once(&mut self) {
        self.draft.is_urgent = true;
    }

    /// When the draft has to be saved.
    pub fn draft_due_at(&self) -> Option<Duration> {
        Some(self.draft.unsaved.as_ref()?.due_at)
    }

    /// Whether the draft has to be saved now. Returns true once for each schedule.
    pub fn take_due_draft(&mut self, now: Duration) -> bool {
        let is_due = |unsaved: &mut UnsavedDraft| now >= unsaved.due_at;
        let is_due = self.draft.unsaved.take_if(is_due).is_some();
        std::mem::take(&mut self.draft.is_urgent) || is_due
    }

    /// Updates the draft state after each input. Returns true if the draft on disk was sent or
    /// discarded and must not be offered again.
    pub fn track_draft(&mut self, is_private: bool, requests_private: bool) -> bool {
        let has_text = self.has_unsent_text();
        let draft = &mut self.draft;
        draft.edit_of.take_if(|_| !has_text);
        draft.awaits_private |= requests_private;
        draft.is_private = has_text && (draft.is_private || draft.awaits_private || is_private);
        !has_text && std::mem::take(&mut draft.is_on_disk)
    }

    /// Whether the queue has changed since the last call. Unlike the message, queued prompts are
    /// saved at once, so that a crash loses none of them. Private ones never are.
    pub fn must_save_queue(&mut self) -> bool {
        let revision = self.queue.revision();
        let has_changed = std::mem::replace(&mut self.draft.queue_revision, revision) != revision;
        has_changed && !self.draft.is_private && !self.draft.awaits_private
    }

    /// Whether private mode was requested but not confirmed yet.
    pub fn awaits_private(&self) -> bool {
        self.draft.awaits_private
    }

    /// Whether the editor contains the last run's message as it was.
    pub(super) fn has_restored_message(&self) -> bool {
        let restored = self.draft.restored_message.as_deref();
        restored.is_some_and(|restored| restored == self.editor.text())
    }

    /// Whether unsent text counts as private: some was typed in a private conversation, or private
    /// mode was requested.
    pub fn has_private_text(&self) -> bool {
        self.draft.is_private || self.draft.awaits_private
    }

    /// Records that the unsent text was saved and must be removed from the disk once it is sent.
    pub fn draft_saved(&mut self) {
        self.draft.is_on_disk = true;
    }

    /// Whether there is unsent text in the editor or the queue, or unsent text that a recalled prompt
    /// or an edit replaced.
    pub fn has_unsent_text(&self) -> bool {
        let is_not_blank = |text: &str| !text.trim().is_empty();
        !self.editor.is_blank()
            || self.history.stashed_text().is_some_and(is_not_blank)
            || self.text_before_edit().is_some_and(is_not_blank)
            || !self.queue.is_empty()
    }

    /// Adds a prompt to the history.
    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        let is_private = is_private || self.draft.awaits_private;
        self.history.remember(prompt, is_private);
    }

    /// Takes the unsent text that a recalled prompt replaced.
    pub fn take_replaced_draft(&mut self) -> Option<String> {
        self.history.take_stashed()
    }

    /// Moves the editor's text into the history and stops editing a message or a queued prompt.
    /// Returns the texts to save in the history file, none of them private; `None` if there was no
    /// text and no message was being edited.
    pub fn clear_to_history(&mut self, is_private: bool) -> Option<Vec<String>> {
        let before_edit = self.take_text_before_edit();
        self.queue.cancel_edit();
        if self.editor.is_empty() && before_edit.is_none() {
            return None;
        }
        let stashed = self.history.stashed_text().map(str::to_owned);
        let text = self.editor.text();
        self.editor.replace_all("");
        let unsent = before_edit.into_iter().chain(stashed).chain([text]);
        // Text from a private conversation must not enter the history of another conversation.
        let was_private = self.draft.is_private && !self.draft.awaits_private && !is_private;
        let is_private = is_private || self.has_private_text();
        let mut to_save = Vec::new();
        for text in unsent.filter(|text| !text.trim().is_empty() && !was_private) {
            // The file already has the prompts in the history, such as a recalled one.
            let is_new = !self.history.prompts().contains(&text);
            self.remember(&text, is_private);
            if is_new && !is_private {
                to_save.push(text);
            }
        }
        self.history.reset_position();
        self.completion = CompletionState::default();
        Some(to_save)
    }

    /// Puts the last run's message into the editor.
    pub fn restore_message(&mut self, message: &str, edit_of: Option<EditedPrompt>) {
        self.editor.set_folded(message);
        self.draft.is_on_disk = true;
        self.draft.edit_of = edit_of;
        self.draft.restored_message = Some(message.to_owned());
    }

    /// The prompt that the last run's message replaces, if its conversation is not open.
    pub fn edit_to_continue(&self) -> Option<&EditedPrompt> {
        self.draft.edit_of.as_ref()
    }

    /// Puts the last run's queue back, paused.
    pub fn restore_queue(&mut self, queue: Vec<QueuedPrompt>) {
        for prompt in queue {
            self.queue.push(QueuedPrompt {
                is_from_earlier_run: true,
                ..prompt
            });
        }
        self.queue.pause();
        // Set even without a queue, so that a draft whose texts all went to the history is removed.
        self.draft.is_on_disk = true;
        self.draft.queue_revision = self.queue.revision();
    }

    /// Handles the start or the end of a private conversation.
    pub fn private_changed(&mut self, is_private: bool) {
        self.draft.awaits_private = false;
        if !is_private {
            // Text that was deleted in the private conversation must not reappear in another one.
            self.editor.clear_history();
        }
        if !is_private && let Some(unsent) = self.history.remove_private(&self.editor.text()) {
            self.editor.set(&unsent);
        }
    }

    /// Reverts the effect of a command that was rejected because the engine's queue is full.
    pub fn command_rejected(&mut self, command: &Command) {
        match command {
            Command::SetPrivate(true) => self.draft.awaits_private = false,
            // `track_draft` then requests the removal again.
            Command::SaveDraft(draft) if draft.is_blank() => self.draft.is_on_disk = true,
            Command::SaveSetAsideDraft(_) => self.draft.is_on_disk = true,
            _ => {}
        }
    }

    /// The text to offer at the next start: queued prompts and the message. The message is left out if
    /// it is a recalled prompt, an unchanged message that was loaded for editing, an edited answer, or
    /// a prompt typed by the tour. `None` if there is nothing to offer, or some of it counts as private.
    /// `edit_of` is the prompt that the message edits.
    pub fn draft_to_save(
        &self,
        is_private: bool,
        has_tour_prompt: bool,
        files: DraftFiles,
        edit_of: Option<EditedPrompt>,
    ) -> Option<UnsentText> {
        if is_private || self.has_private_text() {
            return None;
        }
        let mut typed = self.editor.text();
        let queue = self.queue_to_save(&mut typed, &files);
        let mut others = Vec::new();
        // While a prompt is recalled, the user's own text is not in the editor.
        if let Some(stashed) = self.history.stashed_text() {
            let recalled = std::mem::replace(&mut typed, stashed.to_owned());
            let edited = Some(recalled).filter(|text| self.history.recalled() != Some(text));
            match stashed.trim().is_empty() {
                true => typed = edited.unwrap_or_default(),
                false => others.extend(edited),
            }
        }
        let edited = self.edited();
        let is_old = |edited: &EditedMessage| {
            matches!(edited.target, MessageTarget::Answer(_)) || edited.is_unchanged(&typed)
        };
        if has_tour_prompt || edited.is_some_and(is_old) {
            typed.clear();
        }
        // While a message is edited, the text from before is not in the editor either.
        let before = self
            .text_before_edit()
            .filter(|text| !text.trim().is_empty());
        let is_lost_edit = edit_of.is_none() && edited.is_some_and(EditedMessage::is_from_this_run);
        let (message, edit_of) = match before {
            None if !is_lost_edit => (typed, edit_of),
            before => {
                others.push(typed);
                (before.unwrap_or_default().to_owned(), None)
            }
        };
        others.retain(|text| !text.trim().is_empty());
        let unsent = UnsentText {
            edit_of: edit_of.filter(|_| !message.trim().is_empty()),
            message,
            others,
            queue,
            files: files.before_edit.unwrap_or(files.shown),
        };
        (!unsent.is_blank()).then_some(unsent)
    }

    /// Moves the text of the edited prompt out of `typed`.
    fn queue_to_save(&self, typed: &mut String, files: &DraftFiles) -> Vec<UnsentPrompt> {
        let edited = self.queue.edited();
        let queued = self.queue.prompts().enumerate();
        let queue = queued.map(|(index, prompt)| match edited == Some(index) {
            true => UnsentPrompt {
                text: std::mem::take(typed),
                files: files.shown.clone(),
            },
            false => UnsentPrompt {
                text: prompt.text.clone(),
                files: prompt.files(),
            },
        });
        queue
            .filter(|prompt| !prompt.text.trim().is_empty())
            .collect()
    }
}
