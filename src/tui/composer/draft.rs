//! What of the message is kept when the program ends, and what never is: words that were
//! typed in a private conversation stay off the disk after it has ended, until the user
//! sends them somewhere.

use crate::protocol::Command;
use crate::tui::composer::state::Composer;

#[derive(Debug, Default)]
pub struct DraftPrivacy {
    /// The message or the queue holds words that were typed in private.
    is_private: bool,
    /// The engine was asked for a private conversation and has not answered yet.
    awaits_private: bool,
    /// The last run's draft stands in the message, and still on the disk.
    on_disk: bool,
}

impl Composer {
    /// Looks at what the last message made of it. True where the draft on the disk was sent
    /// or thrown away: nothing must offer it a second time.
    pub fn track_draft(&mut self, is_private: bool, private_asked: bool) -> bool {
        let holds = self.has_unsent_text();
        let draft = &mut self.draft;
        draft.awaits_private |= private_asked;
        draft.is_private = holds && (draft.is_private || draft.awaits_private || is_private);
        !holds && std::mem::take(&mut draft.on_disk)
    }

    /// Is a word here that is in no conversation yet?
    fn has_unsent_text(&self) -> bool {
        let is_word = |text: &str| !text.trim().is_empty();
        !self.editor.is_blank()
            || self.history.stashed_text().is_some_and(is_word)
            || self.text_before_edit().is_some_and(is_word)
            || !self.queue.prompts.is_empty()
    }

    /// A prompt joins what Up brings back.
    pub fn remember(&mut self, prompt: &str, is_private: bool) {
        let is_private = is_private || self.draft.awaits_private;
        self.history.remember(prompt, is_private);
    }

    /// The draft of the last run comes into the message.
    pub fn restore_draft(&mut self, draft: &str) {
        self.editor.set(draft);
        self.draft.on_disk = true;
    }

    /// The conversation became private, or is not any more.
    pub fn private_changed(&mut self, is_private: bool) {
        self.draft.awaits_private = false;
        if !is_private && let Some(typed) = self.history.forget_private(&self.editor.text()) {
            self.editor.set(&typed);
        }
    }

    /// The engine had no room for the command.
    pub fn command_rejected(&mut self, command: &Command) {
        match command {
            Command::SetPrivate(true) => self.draft.awaits_private = false,
            // It is asked for again with the next key.
            Command::SaveDraft(text) if text.is_empty() => self.draft.on_disk = true,
            _ => {}
        }
    }

    /// What is offered at the next start: what was queued, what was being typed, and not
    /// what stands in the message only because the user looked back at it, or because it
    /// was typed ahead. `last` is the prompt of the last turn.
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
