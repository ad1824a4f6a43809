//! What the chat pane lays out: the entries, the width and the display options.

use crate::domain::{Body, CallId, Entry, PieceId};
use crate::text::markdown::MarkdownGlyphs;
use std::cell::Cell;
use std::collections::HashSet;

/// The entries to lay out, at what width, and with what options.
pub struct Source<'a> {
    pub entries: &'a [Entry],
    /// Indices of the entries to show; all if `None`.
    pub list: Option<&'a [usize]>,
    pub width: u16,
    /// Thinking is shown in its own pane.
    pub aside: bool,
    /// Calls that ran without approval; their arguments are shown.
    pub unasked: &'a HashSet<CallId>,
    /// Rows below the last entry.
    pub tail: usize,
    /// Show the raw text of answers.
    pub raw: bool,
    /// The entry that is still streaming.
    pub open: Option<usize>,
    /// Completed thinking that is not folded yet.
    pub lingering: Option<PieceId>,
    pub marks: MarkdownGlyphs,
    /// A range of entries known to be all hidden. It stays valid because the entries are
    /// borrowed.
    pub hidden: Cell<(usize, usize)>,
}

impl Source<'_> {
    /// Number of entries to lay out.
    pub fn count(&self) -> usize {
        self.list.map_or(self.entries.len(), <[usize]>::len)
    }

    pub fn entry(&self, index: usize) -> Option<&Entry> {
        match self.list {
            Some(list) => self.entries.get(*list.get(index)?),
            None => self.entries.get(index),
        }
    }

    /// Whether the visible entry at `index` is the transcript's entry `entry`.
    pub fn is_entry(&self, index: usize, entry: usize) -> bool {
        self.list.map_or(index, |list| list[index]) == entry
    }

    /// Whether this is thinking shown unfolded in the chat, between header and footer.
    pub fn lingers(&self, entry: &Entry) -> bool {
        match &entry.body {
            Body::Thinking { open, piece, .. } => *open || self.lingering == Some(*piece),
            _ => false,
        }
    }

    /// Whether this is the input of the thinking pane.
    pub fn is_pane(&self) -> bool {
        self.list.is_some()
    }
}
