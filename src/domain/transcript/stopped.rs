//! Turns that the user stopped: the text of the last round becomes the answer.

use super::{CANCELLED_NOTE, EntryBody, Transcript};
use crate::domain::{Notice, PromptKind, TurnId};

/// Whether the user stopped the turn at a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StopMark {
    #[default]
    None,
    /// The text is the answer of its turn, as far as it got.
    Stopped,
    /// The text is not part of the conversation.
    Cancelled,
}

impl Transcript {
    /// Ends a turn that the user stopped. The text of its last round becomes its answer. Without such
    /// text, the turn is not part of the conversation, and neither is a part of a summary.
    pub(super) fn stop_turn(&mut self, turn: TurnId) {
        let (answer, last_text) = self.text_of_last_round(turn);
        let is_answered = !answer.trim().is_empty() && self.prompt_kind != PromptKind::Compact;
        if let Some(index) = last_text.filter(|_| is_answered) {
            self.mark_text(index, StopMark::Stopped);
            return self.finish_answered(turn, &answer, StopMark::Stopped);
        }
        self.finish_unanswered(turn);
        let last = self.entries.iter().rposition(|entry| entry.turn == turn);
        match last.map(|index| (index, &self.entries[index].body)) {
            Some((index, EntryBody::Text { .. })) => self.mark_text(index, StopMark::Cancelled),
            Some(_) => _ = self.push(turn, EntryBody::Note(Notice::info(CANCELLED_NOTE))),
            None => {}
        }
    }

    /// The text of the last round of the running turn, and the index of its last entry.
    fn text_of_last_round(&self, turn: TurnId) -> (String, Option<usize>) {
        let start = self.prompt_indices.get(&turn).copied().unwrap_or_default();
        let (mut answer, mut last_text) = (String::new(), None);
        for (index, entry) in self.entries.iter().enumerate().skip(start) {
            match &entry.body {
                EntryBody::Text { round, text, .. }
                    if entry.turn == turn && *round == self.round =>
                {
                    answer.push_str(text);
                    last_text = Some(index);
                }
                _ => {}
            }
        }
        (answer, last_text)
    }

    fn mark_text(&mut self, index: usize, new_mark: StopMark) {
        if let EntryBody::Text { mark, .. } = &mut self.entries[index].body {
            *mark = new_mark;
            self.bump_revision(index);
        }
    }
}
