//! The draft that is saved on exit, and the privacy rule for it: text typed in a private
//! conversation is not written to disk, even after the conversation has ended, until the
//! user sends it elsewhere.

use crate::protocol::Command;
use crate::tui::composer::state::{CompletionState, Composer};

#[derive(Debug, Default)]
pub struct DraftPrivacy {
    /// The message or the queue contains text typed in private.
    is_private: bool,
    /// A private conversation was requested but not yet confirmed.
    awaits_private: bool,
    /// The message contains the last run's draft, which is still on disk.
    on_disk: bool,
}

impl Composer {
    /// Updates the draft state after each message. Returns true if the draft on disk was
    /// sent or discarded and must not be offered again.
    pub fn track_draft(&mut self, is_private: bool, private_asked: bool) -> bool {
        let holds = self.has_unsent_text();
        let draft = &mut self.draft;
        draft.awaits_private |= private_asked;
        draft.is_private = holds && (draft.is_private || draft.awaits_private || is_private);
        !holds && std::mem::take(&mut draft.on_disk)
    }

    /// Whether there is unsent text in the editor, the history stash or the queue.
    fn has_unsent_text(&self) -> bool {
        let is_word = |text: &str| !text.trim().is_empty();
        !self.editor.is_blank()
            || self.history.stashed_text().is_some_and(is_word)
            || self.text_before_edit().is_some_and(is_word)
            || !self.queue.prompts.is_empty()
    }

    /// Adds a prompt to the history.
    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        let is_private = is_private || self.draft.awaits_private;
        self.history.remember(prompt, is_private);
    }

    /// Empties the editor; Up brings its text back. Returns false if there was no text.
    pub fn clear_to_history(&mut self, is_private: bool) -> bool {
        if self.editor.is_empty() {
            return false;
        }
        let stashed = self.history.stashed_text().map(str::to_owned);
        let text = self.editor.take();
        let typed = stashed.into_iter().chain([text]);
        // Text that was typed in a private conversation never enters the history of another.
        let was_private = self.draft.is_private && !self.draft.awaits_private && !is_private;
        for text in typed.filter(|text| !text.trim().is_empty() && !was_private) {
            self.remember(&text, is_private);
        }
        self.history.reset_position();
        self.completion = CompletionState::default();
        true
    }

    /// Puts the last run's draft into the editor.
    pub fn restore_draft(&mut self, draft: &str) {
        self.editor.set(draft);
        self.draft.on_disk = true;
    }

    /// Handles the start or the end of a private conversation.
    pub fn private_changed(&mut self, is_private: bool) {
        self.draft.awaits_private = false;
        if !is_private && let Some(typed) = self.history.forget_private(&self.editor.text()) {
            self.editor.set(&typed);
        }
    }

    /// Reverts the effect of a command that the engine's full queue rejected.
    pub fn command_rejected(&mut self, command: &Command) {
        match command {
            Command::SetPrivate(true) => self.draft.awaits_private = false,
            // Requested again on the next key.
            Command::SaveDraft(text) if text.is_empty() => self.draft.on_disk = true,
            _ => {}
        }
    }

    /// The text to offer at the next start: queued prompts and the typed message, but not a
    /// recalled prompt or one that the tour typed ahead. `last` is the prompt of the last
    /// turn.
    pub fn draft_to_save(
        &self,
        is_private: bool,
        last: Option<&str>,
        is_typed_ahead: bool,
    ) -> Option<String> {
        if is_private || self.draft.awaits_private || self.draft.is_private {
            return None;
        }
        let mut kept: Vec<String> = self.queue.prompts.iter().cloned().collect();
        kept.extend(self.text_before_edit().map(str::to_owned));
        let typed = self.editor.text();
        let recalled = self.history.recalled();
        let last = last.filter(|_| self.text_before_edit().is_some());
        let is_old = [recalled, last].contains(&Some(typed.as_str()));
        if recalled.is_some() {
            kept.extend(self.history.stashed_text().map(str::to_owned));
        }
        if !is_old && !is_typed_ahead {
            kept.push(typed);
        }
        kept.retain(|text| !text.trim().is_empty());
        (!kept.is_empty()).then(|| kept.join("\n\n"))
    }
}
