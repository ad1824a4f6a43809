//! Searches the transcript for a text, a bounded step at a time, so that neither a key nor a frame
//! waits for it. Searches from the reader's position to the end, and then upward from that position.

use super::index::{EntryIndex, LineSpot};
use crate::domain::Transcript;
use crate::text::find_query::FindQuery;
use crate::text::markdown::MarkdownGlyphs;
use std::collections::BTreeMap;

const INDEX_BYTES_PER_STEP: usize = 16 << 10;
const SEARCH_BYTES_PER_STEP: usize = 1 << 20;
const ENTRIES_PER_STEP: usize = 4_096;
/// Entries at the end of the running turn that are checked for changes.
const CHANGING_ENTRIES_MAX: usize = 64;
/// The search ends after this many matches.
pub const MATCHES_MAX: usize = 100_000;

/// A match: the line, and which of the matches in this line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineMatch {
    pub spot: LineSpot,
    pub nth_in_line: usize,
}

/// A match by its entry and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchId {
    pub entry: usize,
    pub number: usize,
}

#[derive(Debug)]
pub struct FindEngine {
    glyphs: MarkdownGlyphs,
    query: Option<FindQuery>,
    /// The entry at which the search starts: where the reader was, or the first one.
    origin: usize,
    indices: BTreeMap<usize, EntryIndex>,
    matches: BTreeMap<usize, Vec<LineMatch>>,
    match_count: usize,
    current: Option<MatchId>,
    matches_before: usize,
    /// The next entry to search at or below the origin.
    next_forward: usize,
    /// Of the entries above the origin, those before this one have not been searched yet.
    next_backward: usize,
    /// [`Transcript::reindex_count`] at the last step. If it has changed, entries have moved.
    reindex_count: u64,
}

impl FindEngine {
    /// Searches from the first entry on, wherever the reader is.
    pub fn start_at_first_entry(&mut self) {
        (self.origin, self.next_forward, self.next_backward) = (0, 0, 0);
    }

    /// A search without a query. `origin` is the entry at which the reader is.
    pub fn new(origin: usize, glyphs: MarkdownGlyphs) -> Self {
        Self {
            glyphs,
            query: None,
            origin,
            indices: BTreeMap::new(),
            matches: BTreeMap::new(),
            match_count: 0,
            current: None,
            matches_before: 0,
            next_forward: origin,
            next_backward: origin,
            reindex_count: 0,
        }
    }

    pub fn query(&self) -> Option<&FindQuery> {
        self.query.as_ref()
    }

    /// Starts over with another query. The index is kept.
    pub fn set_query(&mut self, query: Option<FindQuery>) {
        self.query = query;
        self.restart();
    }

    fn restart(&mut self) {
        self.matches.clear();
        (self.match_count, self.matches_before) = (0, 0);
        self.current = None;
        (self.next_forward, self.next_backward) = (self.origin, self.origin);
    }

    /// Whether there is nothing left to search.
    pub fn is_done(&self, transcript: &Transcript) -> bool {
        let is_complete =
            self.next_forward >= transcript.entries().len() && self.next_backward == 0;
        self.query.is_none() || self.is_full() || is_complete && !self.has_changed(transcript)
    }

    fn is_full(&self) -> bool {
        self.match_count >= MATCHES_MAX
    }

    /// Whether an entry of the running turn changed since it was searched, or entries have moved.
    fn has_changed(&self, transcript: &Transcript) -> bool {
        self.reindex_count != transcript.reindex_count() || self.changed_entry(transcript).is_some()
    }

    fn changed_entry(&self, transcript: &Transcript) -> Option<usize> {
        // Only the last entries of a turn change: text that streams in, and calls that run.
        let entries = transcript.entries();
        let first = transcript
            .settled_len()
            .max(entries.len().saturating_sub(CHANGING_ENTRIES_MAX));
        (first..entries.len().min(self.next_forward)).find(|index| {
            let indexed = self.indices.get(index);
            indexed.is_none_or(|indexed| !indexed.is_current(&entries[*index]))
        })
    }

    /// Searches a little further.
    pub fn step(&mut self, transcript: &Transcript) {
        if self.reindex_count != transcript.reindex_count() {
            self.reindex_count = transcript.reindex_count();
            self.indices.clear();
            self.origin = self.origin.min(transcript.entries().len());
            self.restart();
        }
        let (mut index_budget, mut search_budget) = (INDEX_BYTES_PER_STEP, SEARCH_BYTES_PER_STEP);
        for _ in 0..ENTRIES_PER_STEP {
            if self.query.is_none() || self.is_full() || index_budget == 0 || search_budget == 0 {
                return;
            }
            let entries = transcript.entries().len();
            let entry = if self.next_forward < entries {
                self.next_forward
            } else if let Some(changed) = self.changed_entry(transcript) {
                changed
            } else if self.next_backward > 0 {
                self.next_backward - 1
            } else {
                return;
            };
            let is_indexed = self.index(transcript, entry, &mut index_budget);
            search_budget = search_budget.saturating_sub(self.search(entry));
            if !is_indexed {
                return;
            }
            if entry == self.next_forward {
                self.next_forward += 1;
            } else if entry + 1 == self.next_backward {
                self.next_backward -= 1;
            }
        }
    }

    /// Indexes an entry as far as the budget allows. Returns whether all of it is indexed.
    fn index(&mut self, transcript: &Transcript, at: usize, budget: &mut usize) -> bool {
        let entry = &transcript.entries()[at];
        let is_case_sensitive = self
            .query
            .as_ref()
            .is_some_and(FindQuery::is_case_sensitive);
        let old = self.indices.remove(&at);
        let old = old.filter(|index| index.can_extend_to(entry, is_case_sensitive));
        let mut index =
            old.unwrap_or_else(|| EntryIndex::new(entry, self.glyphs, is_case_sensitive));
        let is_open = transcript.open_entry() == Some(at);
        if !index.is_current(entry) {
            let read = index.read(entry, is_open, *budget);
            *budget = budget.saturating_sub(read.max(1));
        }
        let is_current = index.is_current(entry);
        self.indices.insert(at, index);
        is_current
    }

    /// Searches the indexed part of an entry. Returns its size.
    fn search(&mut self, entry: usize) -> usize {
        let (Some(query), Some(index)) = (&self.query, self.indices.get(&entry)) else {
            return 0;
        };
        let text = index.normalized_text();
        let mut matches = Vec::new();
        let (mut line_end, mut spot, mut nth_in_line) = (0, LineSpot::Head, 0);
        for offset in query.offsets_in(text).take(MATCHES_MAX) {
            if offset >= line_end {
                (spot, line_end) = index.line_at(offset);
                nth_in_line = 0;
            }
            matches.push(LineMatch { spot, nth_in_line });
            nth_in_line += 1;
        }
        let searched = text.len().max(1);
        let old = self.matches.get(&entry).map_or(0, Vec::len);
        self.match_count = self.match_count + matches.len() - old;
        if self.current.is_some_and(|current| current.entry > entry) {
            self.matches_before = self.matches_before + matches.len() - old;
        }
        if matches.is_empty() {
            self.matches.remove(&entry);
        } else {
            self.matches.insert(entry, matches);
        }
        searched
    }

    pub fn current(&self) -> Option<MatchId> {
        self.current
    }

    pub fn get(&self, id: MatchId) -> Option<LineMatch> {
        self.matches.get(&id.entry)?.get(id.number).copied()
    }

    /// Selects the first match at or below the reader's position, or, once everything below has been
    /// searched, the nearest one above. `is_above` returns whether a line of the entry at the origin
    /// is above that position. Returns whether this call selected a match.
    pub fn select_first(
        &mut self,
        transcript: &Transcript,
        is_above: impl Fn(LineSpot) -> bool,
    ) -> bool {
        if self.current.is_some() || self.query.is_none() {
            return false;
        }
        let mut forward = self.matches.range(self.origin..);
        let first = forward.find_map(|(entry, matches)| {
            let number = matches
                .iter()
                .position(|found| *entry != self.origin || !is_above(found.spot))?;
            Some(MatchId {
                entry: *entry,
                number,
            })
        });
        let has_searched_forward =
            self.next_forward >= transcript.entries().len() || self.is_full();
        let last_above = || {
            let above = self.matches.range(..=self.origin).next_back();
            let (entry, matches) = above.filter(|_| has_searched_forward)?;
            Some(MatchId {
                entry: *entry,
                number: matches.len() - 1,
            })
        };
        self.current = first.or_else(last_above);
        if let Some(current) = self.current {
            self.count_matches_before(current);
        }
        self.current.is_some()
    }

    /// Counts the matches in the entries before the current match. Called only when another match is
    /// selected, because it visits all of these entries.
    fn count_matches_before(&mut self, current: MatchId) {
        let before = self.matches.range(..current.entry);
        self.matches_before = before.map(|(_, matches)| matches.len()).sum();
    }

    /// Selects the next or the previous match, and wraps around.
    pub fn select_adjacent(&mut self, step: isize) -> Option<MatchId> {
        let current = self.current?;
        let count = self.matches.get(&current.entry).map_or(0, Vec::len);
        let number = current.number.checked_add_signed(step.signum());
        let in_entry = number
            .filter(|number| *number < count)
            .map(|number| MatchId {
                entry: current.entry,
                number,
            });
        let next = in_entry.or_else(|| {
            let (entry, matches) = match step > 0 {
                true => {
                    let mut after = self.matches.range(current.entry + 1..);
                    after.next().or_else(|| self.matches.iter().next())
                }
                false => {
                    let mut before = self.matches.range(..current.entry);
                    before
                        .next_back()
                        .or_else(|| self.matches.iter().next_back())
                }
            }?;
            let number = if step > 0 { 0 } else { matches.len() - 1 };
            Some(MatchId {
                entry: *entry,
                number,
            })
        })?;
        self.current = Some(next);
        if next.entry != current.entry {
            self.count_matches_before(next);
        }
        Some(next)
    }

    /// `3 of 17`; `searching…` or `no match` while no match is selected.
    pub fn label(&self, transcript: &Transcript) -> String {
        if self.query.is_none() {
            return String::new();
        }
        let more = match (self.is_full(), self.is_done(transcript)) {
            (true, _) => "+",
            (false, false) => "…",
            (false, true) => "",
        };
        match self.current {
            Some(current) => {
                let number = self.matches_before + current.number + 1;
                format!("{number} of {}{more}", self.match_count)
            }
            None if more == "…" => "searching…".to_owned(),
            None => "no match".to_owned(),
        }
    }
}
