//! What a flow lays out: which entries, at what width, and how.

use crate::domain::{CallId, EntryBody, PieceId, TranscriptEntry};
use crate::text::markdown::MarkdownGlyphs;
use std::cell::Cell;
use std::collections::HashSet;

/// What is laid out: entries, or some of them, at a width.
pub struct LayoutInput<'a> {
    pub entries: &'a [TranscriptEntry],
    /// Which entries; all where there is no list.
    pub visible_indices: Option<&'a [usize]>,
    pub width: u16,
    /// Thinking has a pane of its own.
    pub has_thinking_pane: bool,
    /// Calls that ran without asking: they show what they were given.
    pub auto_approved: &'a HashSet<CallId>,
    /// Rows after the last entry.
    pub tail_rows: usize,
    /// Answers are shown as they were written.
    pub raw: bool,
    /// The entry that is still coming in.
    pub open_entry: Option<usize>,
    /// Thinking that has ended and is not folded yet.
    pub expanded_thinking: Option<PieceId>,
    pub markdown_glyphs: MarkdownGlyphs,
    /// Entries, from one to before another, of which is known that none is shown.
    /// Nothing can change them while they are borrowed here.
    pub hidden_run: Cell<(usize, usize)>,
}

impl LayoutInput<'_> {
    /// Entries that are shown.
    pub fn count(&self) -> usize {
        self.visible_indices
            .map_or(self.entries.len(), <[usize]>::len)
    }

    pub fn entry(&self, index: usize) -> Option<&TranscriptEntry> {
        match self.visible_indices {
            Some(list) => self.entries.get(*list.get(index)?),
            None => self.entries.get(index),
        }
    }

    /// Is this, of what is shown, the transcript's entry `entry`?
    pub fn is_transcript_entry(&self, index: usize, entry: usize) -> bool {
        self.visible_indices.map_or(index, |list| list[index]) == entry
    }

    /// Is this thinking that stands in the chat unfolded, between its two lines?
    pub fn is_expanded_thinking(&self, entry: &TranscriptEntry) -> bool {
        match &entry.body {
            EntryBody::Thinking {
                is_open: open,
                piece,
                ..
            } => *open || self.expanded_thinking == Some(*piece),
            _ => false,
        }
    }

    /// Only some entries are shown: the thinking pane.
    pub fn is_thinking_pane(&self) -> bool {
        self.visible_indices.is_some()
    }
}
