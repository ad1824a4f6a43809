//! The last run's unsent text while a private conversation is open: it belongs to an ordinary
//! conversation, so the private one neither sends nor changes it.

use crate::domain::{UnsentPrompt, UnsentText};
use crate::tui::composer::draft::DraftFiles;
use crate::tui::composer::queue::QueuedPrompt;
use crate::tui::composer::state::Composer;

impl Composer {
    /// Takes the last run's prompts out of the queue, because a private conversation begins.
    pub fn set_queue_aside(&mut self) {
        let prompts = self.queue.take_from_earlier_run();
        let prompts = prompts
            .into_iter()
            .map(|prompt: QueuedPrompt| UnsentPrompt {
                files: prompt.files(),
                text: prompt.text,
            });
        self.draft.set_aside.queue.extend(prompts);
    }

    /// The draft to save before a private conversation begins: what was set aside, and the last run's
    /// message unless it was sent, cleared or changed. `None` if the disk has no draft to replace.
    pub fn begin_private(&mut self, files: DraftFiles) -> Option<UnsentText> {
        let mut draft = self.draft.set_aside.clone();
        if self.has_restored_message() {
            draft.message = self.editor.text();
            draft.edit_of = self.edit_to_continue().cloned();
            draft.files = files.shown;
        }
        let has_message = !draft.message.trim().is_empty();
        let was_on_disk = std::mem::replace(&mut self.draft.is_on_disk, has_message);
        was_on_disk.then_some(draft)
    }

    /// Keeps the last run's unsent text for later, because it was loaded in a private conversation.
    pub fn set_draft_aside(&mut self, draft: UnsentText) {
        self.draft.set_aside = draft;
    }

    /// The unsent text that was set aside; blank if there is none.
    pub fn set_aside(&self) -> &UnsentText {
        &self.draft.set_aside
    }

    /// Takes the unsent text that was set aside, unless a private conversation is about to begin.
    pub fn take_set_aside(&mut self) -> Option<UnsentText> {
        let is_due = !self.awaits_private() && !self.draft.set_aside.is_blank();
        is_due.then(|| std::mem::take(&mut self.draft.set_aside))
    }
}
