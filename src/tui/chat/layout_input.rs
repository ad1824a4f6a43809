//! What a flow lays out: which entries, at what width, and how.

use crate::domain::{Body, CallId, Entry, PieceId};
use crate::text::markdown::MarkdownGlyphs;
use std::cell::Cell;
use std::collections::HashSet;

/// What is laid out: entries, or some of them, at a width.
pub struct Source<'a> {
    pub entries: &'a [Entry],
    /// Which entries; all where there is no list.
    pub list: Option<&'a [usize]>,
    pub width: u16,
    /// Thinking has a pane of its own.
    pub aside: bool,
    /// Calls that ran without asking: they show what they were given.
    pub unasked: &'a HashSet<CallId>,
    /// Rows after the last entry.
    pub tail: usize,
    /// Answers are shown as they were written.
    pub raw: bool,
    /// The entry that is still coming in.
    pub open: Option<usize>,
    /// Thinking that has ended and is not folded yet.
    pub lingering: Option<PieceId>,
    pub marks: MarkdownGlyphs,
    /// Entries, from one to before another, of which is known that none is shown.
    /// Nothing can change them while they are borrowed here.
    pub hidden: Cell<(usize, usize)>,
}

impl Source<'_> {
    /// Entries that are shown.
    pub fn count(&self) -> usize {
        self.list.map_or(self.entries.len(), <[usize]>::len)
    }

    pub fn entry(&self, index: usize) -> Option<&Entry> {
        match self.list {
            Some(list) => self.entries.get(*list.get(index)?),
            None => self.entries.get(index),
        }
    }

    /// Is this, of what is shown, the transcript's entry `entry`?
    pub fn is_entry(&self, index: usize, entry: usize) -> bool {
        self.list.map_or(index, |list| list[index]) == entry
    }

    /// Is this thinking that stands in the chat unfolded, between its two lines?
    pub fn lingers(&self, entry: &Entry) -> bool {
        match &entry.body {
            Body::Thinking { open, piece, .. } => *open || self.lingering == Some(*piece),
            _ => false,
        }
    }

    /// Only some entries are shown: the thinking pane.
    pub fn is_pane(&self) -> bool {
        self.list.is_some()
    }
}
