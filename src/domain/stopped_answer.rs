//! Answers that the user stopped. The model does not see them, unless the user makes one part of the
//! conversation.

use super::session::{CancelledTurn, HasMessageIndex as _, MessageRole, TurnRecord};
use super::{EntryBody, SavedMessage, Session, Transcript, TurnId};
use jiff::Timestamp;

/// A stopped answer, as the transcript shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedAnswer {
    pub prompt: String,
    pub text: String,
    /// The number of answered prompts after it.
    pub answered_after: usize,
}

/// The answer that an edited text replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplacedAnswer {
    /// That of an answered prompt, counted from the end (1 is the last).
    Answered {
        turns_from_end: usize,
    },
    Stopped(StoppedAnswer),
}

impl Transcript {
    /// Whether the user can edit the entry at `index`: a typed prompt, a final or a stopped answer.
    pub fn is_editable(&self, index: usize) -> bool {
        match self.entries().get(index).map(|entry| &entry.body) {
            Some(EntryBody::Prompt { kind, .. }) => kind.is_typed(),
            Some(EntryBody::Text { .. }) => {
                self.is_final_answer(index) || self.is_stopped_answer(index)
            }
            _ => false,
        }
    }

    /// Whether the entry at `index` is the text of a stopped answer to a prompt that the user typed.
    /// False for a continuation, which is only a part of an answer.
    pub fn is_stopped_answer(&self, index: usize) -> bool {
        let Some(entry) = self.entries().get(index) else {
            return false;
        };
        let is_text = match &entry.body {
            EntryBody::Text {
                text, is_cancelled, ..
            } => *is_cancelled && !text.trim().is_empty(),
            _ => false,
        };
        let is_of_turn = |prompt: usize| self.entries()[prompt].turn == entry.turn;
        is_text && self.prompt_of(index).is_some_and(is_of_turn)
    }

    pub fn stopped_answer(&self, turn: TurnId) -> Option<StoppedAnswer> {
        let mut indices = (0..self.entries().len()).rev();
        let index = indices
            .find(|index| self.entries()[*index].turn == turn && self.is_stopped_answer(*index))?;
        let prompt = &self.entries()[self.prompt_of(index)?];
        match (&prompt.body, &self.entries()[index].body) {
            (EntryBody::Prompt { text: prompt, .. }, EntryBody::Text { text, .. }) => {
                Some(StoppedAnswer {
                    prompt: prompt.clone(),
                    text: text.clone(),
                    answered_after: self.answered_turns_from(index),
                })
            }
            _ => None,
        }
    }
}

impl Session {
    /// Makes a stopped answer part of the active branch, with the text `answer`. The turns that it was
    /// meant to replace and those after it become a branch left at `now`, and so does the answer as it
    /// was stopped if `answer` is different. Returns false if there is no such answer.
    pub fn keep_stopped_answer(
        &mut self,
        stopped: &StoppedAnswer,
        answer: &str,
        now: Timestamp,
    ) -> bool {
        let position = match stopped.answered_after {
            0 => Some(self.messages.len()),
            count => self.nth_last_prompt_index(count),
        };
        let Some(turn) = position.and_then(|position| self.take_stopped(stopped, position)) else {
            return false;
        };
        let kept = self.prompt_index_before(turn.message_index(), turn.replaced_turns);
        self.rewind(kept, now);
        let is_edited = answer != stopped.text;
        let first_answer = match is_edited {
            true => &turn.partial_answer,
            false => &stopped.text,
        };
        let prompt = SavedMessage::user(turn.prompt).with_attachments(turn.attachments);
        self.messages.push(prompt);
        self.messages
            .push(SavedMessage::assistant(first_answer.as_str()));
        self.metadata.turns.push(TurnRecord {
            calls: turn.calls,
            ended_at: Some(now),
            is_stopped: true,
            ..TurnRecord::new(self.messages.len() - 1, &self.model)
        });
        !is_edited || self.replace_answer(1, answer, now)
    }

    /// Whether the last answer was stopped and made part of the conversation, and nothing was asked
    /// since. It can be continued.
    pub fn is_last_answer_stopped(&self) -> bool {
        let count = self.messages.len();
        let mut turns = self.metadata.turns.iter().rev();
        let record = turns.find(|turn| turn.message_index + 1 == count);
        let is_later = |turn: &CancelledTurn| turn.messages_before == count;
        // A failed replacement or continuation leaves the answer in place.
        let mut later = self.metadata.cancelled.iter();
        let was_asked_since = later.any(|turn| is_later(turn) && turn.replaced_turns == 0);
        record.is_some_and(|record| record.is_stopped) && !was_asked_since
    }

    fn take_stopped(&mut self, stopped: &StoppedAnswer, position: usize) -> Option<CancelledTurn> {
        let is_at_position = |turn: &CancelledTurn| {
            turn.messages_before == position && turn.prompt == stopped.prompt
        };
        // The same prompt may have been stopped several times. The transcript shows a text without
        // the parts that looked like calls.
        let has_text = |turn: &CancelledTurn| {
            is_at_position(turn) && turn.partial_answer.trim() == stopped.text.trim()
        };
        let turn = self.metadata.take_cancelled(has_text);
        turn.or_else(|| self.metadata.take_cancelled(is_at_position))
    }

    /// The index of the `count`-th last prompt before message `end`; `end` if `count` is 0.
    fn prompt_index_before(&self, end: usize, count: usize) -> usize {
        let before = self.messages.iter().take(end).enumerate().rev();
        let mut prompts = before.filter(|(_, message)| message.role == MessageRole::User);
        let first = count
            .checked_sub(1)
            .and_then(|earlier| prompts.nth(earlier));
        first.map_or(end, |(index, _)| index)
    }
}

#[cfg(test)]
mod tests;
