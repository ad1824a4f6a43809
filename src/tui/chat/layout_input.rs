//! The input of a layout: the entries, the width and the display options.

use crate::domain::{CallId, EntryBody, PieceId, StopMark, TranscriptEntry};
use crate::text::markdown::MarkdownGlyphs;
use std::cell::Cell;
use std::collections::HashSet;

/// The entries to lay out in the chat or the thinking pane, with width and display options.
pub struct LayoutInput<'a> {
    pub entries: &'a [TranscriptEntry],
    /// Indices of the entries to show; all if `None`.
    pub visible_indices: Option<&'a [usize]>,
    pub width: u16,
    /// Whether thinking is shown in its own pane.
    pub has_thinking_pane: bool,
    /// Calls that ran without asking, because of the tool mode `auto`; their arguments are shown.
    pub auto_approved: &'a HashSet<CallId>,
    /// Rows below the last entry.
    pub tail_rows: usize,
    /// Whether answers are shown as raw text.
    pub shows_raw_text: bool,
    /// The entry that is still streaming.
    pub open_entry: Option<usize>,
    /// Thinking that is not folded yet, even if it is complete.
    pub expanded_thinking: Option<PieceId>,
    pub markdown_glyphs: MarkdownGlyphs,
    /// Start and end of a range of entries that are all hidden. The range stays valid because
    /// the entries are borrowed.
    pub hidden_run: Cell<(usize, usize)>,
}

impl LayoutInput<'_> {
    /// Number of entries to lay out.
    pub fn count(&self) -> usize {
        self.visible_indices
            .map_or(self.entries.len(), <[usize]>::len)
    }

    pub fn entry(&self, index: usize) -> Option<&TranscriptEntry> {
        match self.visible_indices {
            Some(indices) => self.entries.get(*indices.get(index)?),
            None => self.entries.get(index),
        }
    }

    /// Whether the visible entry at `index` is the transcript's entry `entry`.
    pub fn is_transcript_entry(&self, index: usize, entry: usize) -> bool {
        self.visible_indices.map_or(index, |indices| indices[index]) == entry
    }

    /// Whether the visible entry at `index` is incomplete: it is streaming or was stopped.
    /// Its unfinished Markdown is shown as if complete.
    pub fn is_unfinished(&self, index: usize, entry: &TranscriptEntry) -> bool {
        let is_stopped = match &entry.body {
            EntryBody::Text { mark, .. } => *mark != StopMark::None,
            _ => false,
        };
        let mut open = self.open_entry.into_iter();
        is_stopped || open.any(|open| self.is_transcript_entry(index, open))
    }

    /// Whether this is thinking that the chat shows in full, between header and footer.
    pub fn is_expanded_thinking(&self, entry: &TranscriptEntry) -> bool {
        match &entry.body {
            EntryBody::Thinking { is_open, piece, .. } => {
                *is_open || self.expanded_thinking == Some(*piece)
            }
            _ => false,
        }
    }

    /// Whether this is the input of the thinking pane.
    pub fn is_thinking_pane(&self) -> bool {
        self.visible_indices.is_some()
    }
}
