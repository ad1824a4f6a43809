//! Turns that do not append an answer: one kind replaces the last answered turn, the other
//! continues its answer. The replaced entries are detached until the new answer is
//! complete, and restored if the turn ends without one.

use super::{EntryBody, Transcript, TranscriptEntry};
use crate::domain::{Advice, CallId, PieceId, PromptKind, TurnId, compaction};
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Entries from `start` on, with their index maps.
#[derive(Debug, Clone)]
pub(super) struct DetachedEntries {
    start: usize,
    /// The detached entries included a summary, so a note takes their place.
    has_summary_note: bool,
    entries: Vec<TranscriptEntry>,
    pieces: HashMap<PieceId, usize>,
    calls: HashMap<CallId, usize>,
    prompts: HashMap<TurnId, usize>,
}

impl Transcript {
    /// Whether the last turn was meant to replace the answered turn above it.
    pub fn is_last_turn_replacement(&self) -> bool {
        let last = self.last_prompt_index();
        last.is_some_and(|at| self.replacement_turns.contains(&self.entries[at].turn))
    }

    /// The last prompt typed by the user, answered or not.
    pub fn last_typed_prompt(&self) -> Option<&str> {
        let typed = |entry: &TranscriptEntry| match &entry.body {
            EntryBody::Prompt { kind, .. } => kind.is_typed(),
            _ => false,
        };
        let at = self.entries.iter().rposition(typed)?;
        match &self.entries[at].body {
            EntryBody::Prompt { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Detaches the last answered turn and everything after it.
    pub(super) fn detach_last_turn(&mut self) {
        let answered = |entry: &TranscriptEntry| match &entry.body {
            EntryBody::Prompt { kind, .. } => {
                kind.is_typed() && !self.unanswered_turns.contains(&entry.turn)
            }
            _ => false,
        };
        let Some(at) = self.entries.iter().rposition(answered) else {
            return;
        };
        let (turn, noted) = (self.entries[at].turn, self.has_summary_from(at));
        self.detached = Some(DetachedEntries {
            start: at,
            has_summary_note: noted,
            entries: self.entries.split_off(at),
            pieces: split_off(&mut self.pieces, at),
            calls: split_off(&mut self.calls, at),
            prompts: split_off(&mut self.prompts, at),
        });
        if noted {
            self.push(turn, EntryBody::Note(compaction::summary_in_use_notice()));
        }
        self.reindex_count += 1;
    }

    /// Finishes a turn without an answer. Restores detached entries above it.
    pub(super) fn finish_unanswered(&mut self, turn: TurnId) {
        self.unanswered_turns.insert(turn);
        if self.kind == PromptKind::Replace {
            self.replacement_turns.insert(turn);
        }
        let Some(detached) = self.detached.take() else {
            return;
        };
        let (at, notes) = (detached.start, usize::from(detached.has_summary_note));
        let count = detached.entries.len();
        self.entries.splice(at..at + notes, detached.entries);
        let moved = |index: usize| Some(index + count - notes);
        reindex(&mut self.pieces, at, moved);
        reindex(&mut self.calls, at, moved);
        reindex(&mut self.prompts, at, moved);
        self.pieces.extend(detached.pieces);
        self.calls.extend(detached.calls);
        self.prompts.extend(detached.prompts);
        self.reindex_count += 1;
    }

    pub(super) fn finish_answered(&mut self, turn: TurnId, answer: &str) {
        self.detached = None;
        if self.kind == PromptKind::Continue {
            self.join_continuation(turn, answer);
        }
    }

    /// Appends a continuation to the first part of its answer.
    fn join_continuation(&mut self, turn: TurnId, half: &str) {
        let Some(&prompt) = self.prompts.get(&turn) else {
            return;
        };
        let is_answer = |entry: &TranscriptEntry| {
            matches!(entry.body, EntryBody::Text { .. })
                && !self.unanswered_turns.contains(&entry.turn)
        };
        let Some(first) = self.entries[..prompt].iter().rposition(is_answer) else {
            return;
        };
        if let EntryBody::Text { text, .. } = &mut self.entries[first].body {
            text.push_str(half);
        }
        self.bump_revision(first);
        let round = self.round;
        let later = self.entries.iter().enumerate().skip(first + 1);
        // Failed attempts to continue.
        let failed = later
            .clone()
            .filter_map(|(index, entry)| match &entry.body {
                EntryBody::Prompt { kind, .. }
                    if index < prompt && *kind == PromptKind::Continue =>
                {
                    Some(entry.turn)
                }
                _ => None,
            });
        let failed: BTreeSet<TurnId> = failed.collect();
        let is_removed = |index: usize, entry: &TranscriptEntry| match &entry.body {
            _ if failed.contains(&entry.turn) => true,
            EntryBody::Prompt { .. } => index == prompt,
            EntryBody::Text {
                round: entry_round, ..
            } => entry.turn == turn && *entry_round == round,
            // This advice applied to the first part.
            EntryBody::Note(notice) => index < prompt && notice.advice.contains(&Advice::Continue),
            _ => false,
        };
        let removed: BTreeSet<usize> = later
            .filter(|(index, entry)| is_removed(*index, entry))
            .map(|(index, _)| index)
            .collect();
        let moved = |index: usize| {
            (!removed.contains(&index)).then(|| index - removed.range(..index).count())
        };
        reindex(&mut self.pieces, first, moved);
        reindex(&mut self.calls, first, moved);
        reindex(&mut self.prompts, first, moved);
        let mut index = 0;
        self.entries.retain(|_| {
            index += 1;
            !removed.contains(&(index - 1))
        });
        self.reindex_count += 1;
    }
}

fn split_off<K: Eq + Hash + Copy>(map: &mut HashMap<K, usize>, at: usize) -> HashMap<K, usize> {
    map.extract_if(|_, index| *index >= at).collect()
}

/// Moves every index from `at` on. Drops those for which `moved` returns `None`.
fn reindex<K: Eq + Hash>(
    map: &mut HashMap<K, usize>,
    at: usize,
    moved: impl Fn(usize) -> Option<usize>,
) {
    map.retain(|_, index| match *index < at {
        true => true,
        false => moved(*index).map(|new| *index = new).is_some(),
    });
}

#[cfg(test)]
mod tests;
