//! The draft that is saved on exit, and its privacy rule: unsent text from a private
//! conversation is never written to disk, not even after the conversation has ended.

use crate::protocol::Command;
use crate::tui::composer::state::{CompletionState, Composer, MessageTarget};

#[derive(Debug, Default)]
pub struct DraftPrivacy {
    /// Whether the message or the queue contains text typed in a private conversation.
    is_private: bool,
    /// Whether private mode was requested but not confirmed yet.
    awaits_private: bool,
    /// Whether the message contains the last run's draft, which is still on disk.
    is_on_disk: bool,
}

impl Composer {
    /// Updates the draft state after each input. Returns true if the draft on disk was sent or
    /// discarded and must not be offered again.
    pub fn track_draft(&mut self, is_private: bool, requests_private: bool) -> bool {
        let has_text = self.has_unsent_text();
        let draft = &mut self.draft;
        draft.awaits_private |= requests_private;
        draft.is_private = has_text && (draft.is_private || draft.awaits_private || is_private);
        !has_text && std::mem::take(&mut draft.is_on_disk)
    }

    /// Whether there is unsent text in the editor, the history stash or the queue.
    fn has_unsent_text(&self) -> bool {
        let is_not_blank = |text: &str| !text.trim().is_empty();
        !self.editor.is_blank()
            || self.history.stashed_text().is_some_and(is_not_blank)
            || self.text_before_edit().is_some_and(is_not_blank)
            || !self.queue.prompts.is_empty()
    }

    /// Adds a prompt to the history.
    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        let is_private = is_private || self.draft.awaits_private;
        self.history.remember(prompt, is_private);
    }

    /// Moves the editor's text into the history and stops editing the last prompt. Returns false
    /// if there was no text and nothing was being edited.
    pub fn clear_to_history(&mut self, is_private: bool) -> bool {
        let before_edit = self.take_text_before_edit();
        if self.editor.is_empty() && before_edit.is_none() {
            return false;
        }
        let stashed = self.history.stashed_text().map(str::to_owned);
        let text = self.editor.take();
        let unsent = before_edit.into_iter().chain(stashed).chain([text]);
        // Text from a private conversation must not enter the history of another conversation.
        let was_private = self.draft.is_private && !self.draft.awaits_private && !is_private;
        for text in unsent.filter(|text| !text.trim().is_empty() && !was_private) {
            self.remember(&text, is_private);
        }
        self.history.reset_position();
        self.completion = CompletionState::default();
        true
    }

    /// Puts the last run's draft into the editor.
    pub fn restore_draft(&mut self, draft: &str) {
        self.editor.set(draft);
        self.draft.is_on_disk = true;
    }

    /// Handles the start or the end of a private conversation.
    pub fn private_changed(&mut self, is_private: bool) {
        self.draft.awaits_private = false;
        if !is_private && let Some(unsent) = self.history.forget_private(&self.editor.text()) {
            self.editor.set(&unsent);
        }
    }

    /// Reverts the effect of a command that the engine's full queue rejected.
    pub fn command_rejected(&mut self, command: &Command) {
        match command {
            Command::SetPrivate(true) => self.draft.awaits_private = false,
            // `track_draft` then requests it again.
            Command::SaveDraft(text) if text.is_empty() => self.draft.is_on_disk = true,
            _ => {}
        }
    }

    /// The text to offer at the next start: queued prompts and the message, unless the message
    /// is a recalled prompt, an unchanged message that was loaded for editing, an answer, or was
    /// typed by the tour.
    pub fn draft_to_save(&self, is_private: bool, has_tour_prompt: bool) -> Option<String> {
        if is_private || self.draft.awaits_private || self.draft.is_private {
            return None;
        }
        let mut texts: Vec<String> = self.queue.prompts.iter().cloned().collect();
        texts.extend(self.text_before_edit().map(str::to_owned));
        let typed = self.editor.text();
        let recalled = self.history.recalled();
        let edited = self.edited();
        let is_answer =
            edited.is_some_and(|edited| matches!(edited.target, MessageTarget::Answer(_)));
        let original = edited.map(|edited| edited.original.as_str());
        let is_old = is_answer || [recalled, original].contains(&Some(typed.as_str()));
        if recalled.is_some() {
            texts.extend(self.history.stashed_text().map(str::to_owned));
        }
        if !is_old && !has_tour_prompt {
            texts.push(typed);
        }
        texts.retain(|text| !text.trim().is_empty());
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}
