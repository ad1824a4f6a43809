//! Turns that do not just append an answer: some replace the last answered turns or failed attempts
//! at the same prompt, others continue an answer. Replaced entries are detached until the new answer
//! is complete, and restored if the turn ends without one.

use super::{EntryBody, StopMark, Transcript, TranscriptEntry};
use crate::domain::{Advice, Attachment, CallId, PieceId, PromptKind, TurnId, compaction};
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

/// The entries from index `start` on, with the indices that pointed to them.
#[derive(Debug, Clone)]
pub(super) struct DetachedEntries {
    start: usize,
    /// The detached entries included a summary, so a note replaces them.
    has_summary_note: bool,
    entries: Vec<TranscriptEntry>,
    piece_indices: HashMap<PieceId, usize>,
    call_indices: HashMap<CallId, usize>,
    prompt_indices: HashMap<TurnId, usize>,
}

impl Transcript {
    /// The number of answered turns that the last turn was meant to replace; `None` if it is still
    /// running, was answered or replaces nothing.
    pub fn turns_replaced_by_last(&self) -> Option<usize> {
        let last_prompt = self.last_prompt_index()?;
        let turn = self.entries[last_prompt].turn;
        self.replacement_turns.get(&turn).copied()
    }

    /// The last prompt typed by the user, answered or not.
    pub fn last_typed_prompt(&self) -> Option<&str> {
        Some(self.last_typed()?.0)
    }

    /// The files attached to the last prompt typed by the user.
    pub fn last_attachments(&self) -> &[Arc<Attachment>] {
        self.last_typed()
            .map_or(&[], |(_, attachments)| attachments)
    }

    fn last_typed(&self) -> Option<(&str, &[Arc<Attachment>])> {
        let is_typed = |entry: &TranscriptEntry| match &entry.body {
            EntryBody::Prompt { kind, .. } => kind.is_typed(),
            _ => false,
        };
        let index = self.entries.iter().rposition(is_typed)?;
        match &self.entries[index].body {
            EntryBody::Prompt {
                text, attachments, ..
            } => Some((text, attachments)),
            _ => None,
        }
    }

    /// Whether a turn that has ended is part of the conversation.
    pub fn is_answered(&self, turn: TurnId) -> bool {
        !self.unanswered_turns.contains(&turn)
    }

    fn is_answered_prompt(&self, entry: &TranscriptEntry) -> bool {
        match &entry.body {
            EntryBody::Prompt { kind, .. } => {
                kind.is_typed() && !self.unanswered_turns.contains(&entry.turn)
            }
            _ => false,
        }
    }

    /// The number of answered prompts from the entry at `index` on. O(len).
    pub fn answered_turns_from(&self, index: usize) -> usize {
        let entries = self.entries.get(index..).unwrap_or_default();
        let answered = entries
            .iter()
            .filter(|entry| self.is_answered_prompt(entry));
        answered.count()
    }

    /// The index and the text of the `turn`-th last answered prompt; 1 is the last one. O(len).
    pub fn answered_prompt(&self, turn: usize) -> Option<(usize, &str)> {
        let entries = self.entries.iter().enumerate().rev();
        let mut answered = entries.filter(|(_, entry)| self.is_answered_prompt(entry));
        let (index, entry) = answered.nth(turn.checked_sub(1)?)?;
        match &entry.body {
            EntryBody::Prompt { text, .. } => Some((index, text)),
            _ => None,
        }
    }

    /// Sets how many other branches there are at the answered prompts, in order.
    pub fn set_branch_counts(&mut self, counts: &[usize]) {
        let mut later = counts.iter().rev();
        for index in (0..self.entries.len()).rev() {
            if !self.is_answered_prompt(&self.entries[index]) {
                continue;
            }
            let count = later.next().copied().unwrap_or(0);
            if std::mem::replace(&mut self.entries[index].other_branches, count) != count {
                self.bump_revision(index);
            }
        }
    }

    /// The index of the typed prompt of the turn that the entry at `index` belongs to.
    pub fn prompt_of(&self, index: usize) -> Option<usize> {
        let entries = self.entries.get(..=index)?;
        entries.iter().rposition(
            |entry| matches!(&entry.body, EntryBody::Prompt { kind, .. } if kind.is_typed()),
        )
    }

    /// Whether the entry at `index` is the final answer of an answered turn.
    pub fn is_final_answer(&self, index: usize) -> bool {
        let Some(prompt) = self.prompt_of(index) else {
            return false;
        };
        let is_text = |entry: &TranscriptEntry| {
            matches!(entry.body, EntryBody::Text { .. })
                && !self.unanswered_turns.contains(&entry.turn)
        };
        let later = self.entries[index + 1..].iter();
        let mut rest_of_turn =
            later.take_while(|entry| !matches!(entry.body, EntryBody::Prompt { .. }));
        is_text(&self.entries[index])
            && self.is_answered_prompt(&self.entries[prompt])
            && !rest_of_turn.any(is_text)
    }

    /// Whether the user can edit the entry at `index`: a typed prompt or a final answer.
    pub fn is_editable(&self, index: usize) -> bool {
        match self.entries.get(index).map(|entry| &entry.body) {
            Some(EntryBody::Prompt { kind, .. }) => kind.is_typed(),
            Some(EntryBody::Text { .. }) => self.is_final_answer(index),
            _ => false,
        }
    }

    pub fn prompt_index(&self, turn: TurnId) -> Option<usize> {
        self.entries
            .iter()
            .position(|entry| entry.turn == turn && matches!(entry.body, EntryBody::Prompt { .. }))
    }

    /// Detaches the last answered turns and everything after the first of them.
    pub(super) fn detach_last_turns(&mut self, turns: usize) {
        let entries = self.entries.iter().enumerate().rev();
        let mut answered = entries.filter(|(_, entry)| self.is_answered_prompt(entry));
        let start = answered.nth(turns.max(1) - 1).map(|(index, _)| index);
        if let Some(start) = start {
            self.detach_from(start);
        }
    }

    /// Detaches the last turns if they are unanswered attempts at this prompt.
    pub(super) fn detach_failed_attempts(&mut self, prompt: &str) {
        let mut start = None;
        for (index, entry) in self.entries.iter().enumerate().rev() {
            match &entry.body {
                EntryBody::Prompt { kind, text, .. }
                    if kind.is_typed()
                        && text == prompt
                        && self.unanswered_turns.contains(&entry.turn)
                        && !self.replacement_turns.contains_key(&entry.turn) =>
                {
                    start = Some(index);
                }
                EntryBody::Prompt { .. } => break,
                _ => {}
            }
        }
        if let Some(start) = start {
            self.detach_from(start);
        }
    }

    fn detach_from(&mut self, start: usize) {
        let turn = self.entries[start].turn;
        let has_summary = self.has_summary_from(start);
        self.detached = Some(DetachedEntries {
            start,
            has_summary_note: has_summary,
            entries: self.entries.split_off(start),
            piece_indices: split_off(&mut self.piece_indices, start),
            call_indices: split_off(&mut self.call_indices, start),
            prompt_indices: split_off(&mut self.prompt_indices, start),
        });
        if has_summary {
            self.push(turn, EntryBody::Note(compaction::summary_in_use_notice()));
        }
        self.reindex_count += 1;
    }

    /// Finishes a turn without an answer. Restores the detached entries before it, unless they
    /// are failed attempts without any text or call.
    pub(super) fn finish_unanswered(&mut self, turn: TurnId) {
        self.unanswered_turns.insert(turn);
        if self.prompt_kind == PromptKind::Replace {
            self.replacement_turns.insert(turn, self.replaced_turns);
        }
        let Some(detached) = self.detached.take() else {
            return;
        };
        let has_content = |entry: &TranscriptEntry| {
            matches!(entry.body, EntryBody::Text { .. } | EntryBody::Tool(_))
        };
        if self.prompt_kind == PromptKind::Retry && !detached.entries.iter().any(has_content) {
            return;
        }
        let start = detached.start;
        let note_count = usize::from(detached.has_summary_note);
        let restored_count = detached.entries.len();
        self.entries
            .splice(start..start + note_count, detached.entries);
        let new_index = |index: usize| Some(index + restored_count - note_count);
        reindex(&mut self.piece_indices, start, new_index);
        reindex(&mut self.call_indices, start, new_index);
        reindex(&mut self.prompt_indices, start, new_index);
        self.piece_indices.extend(detached.piece_indices);
        self.call_indices.extend(detached.call_indices);
        self.prompt_indices.extend(detached.prompt_indices);
        self.reindex_count += 1;
    }

    /// Drops the entries that the turn replaced, and joins a continuation to the answer before it.
    pub(super) fn finish_answered(&mut self, turn: TurnId, answer: &str, mark: StopMark) {
        self.detached = None;
        if self.prompt_kind == PromptKind::Continue {
            self.join_continuation(turn, answer, mark);
        }
    }

    fn join_continuation(&mut self, turn: TurnId, continuation: &str, new_mark: StopMark) {
        let Some(&prompt_index) = self.prompt_indices.get(&turn) else {
            return;
        };
        let is_answer = |entry: &TranscriptEntry| {
            matches!(entry.body, EntryBody::Text { .. })
                && !self.unanswered_turns.contains(&entry.turn)
        };
        let Some(answer_index) = self.entries[..prompt_index].iter().rposition(is_answer) else {
            return;
        };
        if let EntryBody::Text { text, mark, .. } = &mut self.entries[answer_index].body {
            text.push_str(continuation);
            *mark = new_mark;
        }
        self.bump_revision(answer_index);
        let last_round = self.round;
        let later_entries = self.entries.iter().enumerate().skip(answer_index + 1);
        // Failed attempts to continue the answer.
        let failed_turns = later_entries
            .clone()
            .filter_map(|(index, entry)| match &entry.body {
                EntryBody::Prompt { kind, .. }
                    if index < prompt_index && *kind == PromptKind::Continue =>
                {
                    Some(entry.turn)
                }
                _ => None,
            });
        let failed_turns: BTreeSet<TurnId> = failed_turns.collect();
        let is_removed = |index: usize, entry: &TranscriptEntry| match &entry.body {
            _ if failed_turns.contains(&entry.turn) => true,
            EntryBody::Prompt { .. } => index == prompt_index,
            EntryBody::Text { round, .. } => entry.turn == turn && *round == last_round,
            // The advice to continue the answer no longer applies.
            EntryBody::Note(notice) => {
                let advises = |advice| notice.advice.contains(&advice);
                let advises_to_continue =
                    advises(Advice::Continue) || advises(Advice::ContinueNote);
                index < prompt_index && advises_to_continue
            }
            _ => false,
        };
        let removed: BTreeSet<usize> = later_entries
            .filter(|(index, entry)| is_removed(*index, entry))
            .map(|(index, _)| index)
            .collect();
        let new_index = |index: usize| {
            (!removed.contains(&index)).then(|| index - removed.range(..index).count())
        };
        reindex(&mut self.piece_indices, answer_index, new_index);
        reindex(&mut self.call_indices, answer_index, new_index);
        reindex(&mut self.prompt_indices, answer_index, new_index);
        let mut index = 0;
        self.entries.retain(|_| {
            index += 1;
            !removed.contains(&(index - 1))
        });
        self.reindex_count += 1;
    }
}

/// Removes and returns the indices from `start` on.
fn split_off<K: Eq + Hash + Copy>(map: &mut HashMap<K, usize>, start: usize) -> HashMap<K, usize> {
    map.extract_if(|_, index| *index >= start).collect()
}

/// Replaces every index from `start` on. Removes those for which `new_index` returns `None`.
fn reindex<K: Eq + Hash>(
    map: &mut HashMap<K, usize>,
    start: usize,
    new_index: impl Fn(usize) -> Option<usize>,
) {
    map.retain(|_, index| match *index < start {
        true => true,
        false => new_index(*index).map(|new| *index = new).is_some(),
    });
}

#[cfg(test)]
mod tests;
