//! The history of changes to a text, within a byte budget. Letters of one word that are typed or
//! deleted one after another form one change.

use super::buffer::TextPosition;
use std::collections::VecDeque;
use std::ops::Range;

/// The oldest changes are dropped when the texts of all changes exceed this many bytes. The last
/// change is kept whatever its size.
const HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Fixed cost of a change, so that the budget also limits the number of small changes.
const CHANGE_BYTES: usize = 200;

/// Cursor, and the other end of the selection.
pub type CursorState = (TextPosition, Option<TextPosition>);

/// `removed` was replaced with `inserted` at `start`. Both are raw text.
#[derive(Debug, Clone)]
pub struct Change {
    pub start: TextPosition,
    pub removed: String,
    pub inserted: String,
    pub before: CursorState,
    pub after: TextPosition,
    /// Bytes of both texts, including the texts of their chips.
    pub bytes: usize,
}

#[derive(Debug, Clone, Default)]
pub struct UndoHistory {
    done: VecDeque<Change>,
    undone: Vec<Change>,
    bytes: usize,
}

impl UndoHistory {
    /// Records a change and discards the undone ones. If `continues`, it may join the change before
    /// it. Returns true if old changes were dropped to keep within the budget.
    pub fn record(&mut self, change: Change, continues: bool) -> bool {
        let undone = self.undone.drain(..);
        self.bytes -= undone
            .map(|change| change.bytes + CHANGE_BYTES)
            .sum::<usize>();
        self.bytes += change.bytes;
        match self.done.back_mut() {
            Some(last) if continues && last.joins(&change) => last.join(change),
            _ => {
                self.bytes += CHANGE_BYTES;
                self.done.push_back(change);
            }
        }
        let mut has_dropped = false;
        while self.bytes > HISTORY_BYTES_MAX && self.done.len() > 1 {
            let oldest = self.done.pop_front();
            self.bytes -= oldest.map_or(0, |change| change.bytes + CHANGE_BYTES);
            has_dropped = true;
        }
        has_dropped
    }

    /// Takes the last change. The caller reverts it and passes it to [`Self::push_undone`].
    pub fn pop_done(&mut self) -> Option<Change> {
        self.done.pop_back()
    }

    /// The range of the text that the last change inserted.
    pub fn last_inserted(&self) -> Option<Range<TextPosition>> {
        let last = self.done.back()?;
        Some(last.start..last.start.after(&last.inserted))
    }

    pub fn push_undone(&mut self, change: Change) {
        self.undone.push(change);
    }

    /// Takes the change that was undone last. The caller applies it and passes it to
    /// [`Self::push_done`].
    pub fn pop_undone(&mut self) -> Option<Change> {
        self.undone.pop()
    }

    pub fn push_done(&mut self, change: Change) {
        self.done.push_back(change);
    }

    /// The raw texts of all changes.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let changes = self.done.iter().chain(&self.undone);
        changes.flat_map(|change| [change.removed.as_str(), change.inserted.as_str()])
    }
}

impl Change {
    /// Whether `next` continues the same word.
    fn joins(&self, next: &Self) -> bool {
        let is_space = |c: Option<char>| c.is_some_and(char::is_whitespace);
        let same_line = !next.inserted.contains('\n') && !next.removed.contains('\n');
        if next.removed.is_empty() {
            // The next word begins after the spaces that follow this one.
            let ends_word =
                is_space(self.inserted.chars().next_back()) && !next.inserted.trim().is_empty();
            return same_line
                && !self.inserted.is_empty()
                && !ends_word
                && next.start == self.start.after(&self.inserted);
        }
        if !next.inserted.is_empty() || !self.inserted.is_empty() || !same_line {
            return false;
        }
        if next.start.after(&next.removed) == self.start {
            let reaches_space = !is_space(self.removed.chars().next());
            return !(reaches_space && is_space(next.removed.chars().next_back()));
        }
        let leaves_space = is_space(self.removed.chars().next_back());
        next.start == self.start && (!leaves_space || is_space(next.removed.chars().next()))
    }

    fn join(&mut self, next: Self) {
        self.bytes += next.bytes;
        self.after = next.after;
        if next.removed.is_empty() {
            self.inserted.push_str(&next.inserted);
        } else if next.start == self.start {
            self.removed.push_str(&next.removed);
        } else {
            self.start = next.start;
            self.removed.insert_str(0, &next.removed);
        }
    }
}
