//! The last prompt of a transcript.

use super::{CANCELLED_NOTE, EntryBody, StopMark, Transcript};
use crate::domain::{Attachment, PromptKind};
use std::sync::Arc;

/// The last prompt of the conversation and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastPrompt<'a> {
    pub kind: PromptKind,
    /// Empty for commands.
    pub text: &'a str,
    pub attachments: &'a [Arc<Attachment>],
    pub is_answered: bool,
}

impl Transcript {
    /// Whether the user stopped the last turn before it had an answer.
    pub fn was_last_turn_cancelled(&self) -> bool {
        match self.entries.last().map(|entry| &entry.body) {
            Some(EntryBody::Text { mark, .. }) => *mark == StopMark::Cancelled,
            Some(EntryBody::Note(notice)) => notice.what == CANCELLED_NOTE,
            _ => false,
        }
    }

    /// The first prompt that the model has answered with any text, even if the answer was stopped.
    pub fn first_prompt_with_text(&self) -> Option<&str> {
        let mut texts = self.entries.iter().filter(|entry| match &entry.body {
            EntryBody::Text { text, .. } => !text.trim().is_empty(),
            _ => false,
        });
        let turn = texts.next()?.turn;
        let mut bodies = self.entries.iter().filter(|entry| entry.turn == turn);
        bodies.find_map(|entry| match &entry.body {
            EntryBody::Prompt { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether the user stopped the answer of the last turn, which can be continued.
    pub fn is_last_answer_stopped(&self) -> bool {
        let last = self
            .last_prompt_index()
            .filter(|index| !self.unanswered_turns.contains(&self.entries[*index].turn));
        let last = last.map(|index| &self.entries[index..]);
        let mut entries = last.unwrap_or_default().iter();
        entries.any(|entry| {
            matches!(&entry.body, EntryBody::Text { mark, .. } if *mark == StopMark::Stopped)
        })
    }

    /// Whether the entry at `index` belongs to the last turn, and the user stopped its answer.
    pub fn is_in_stopped_turn(&self, index: usize) -> bool {
        let last = self.entries.len().saturating_sub(1);
        self.is_last_answer_stopped()
            && index <= last
            && self.prompt_of(index) == self.prompt_of(last)
    }

    pub fn last_prompt(&self) -> Option<LastPrompt<'_>> {
        let entry = &self.entries[self.last_prompt_index()?];
        match &entry.body {
            EntryBody::Prompt {
                kind,
                text,
                attachments,
            } => Some(LastPrompt {
                kind: *kind,
                text,
                attachments,
                is_answered: !self.unanswered_turns.contains(&entry.turn),
            }),
            _ => None,
        }
    }
}
