//! A scrolling view of entries, which are laid out on demand. The reading position is an entry and a
//! row within it, so nothing visits the whole transcript.

use crate::tui::chat::entry_layout::{EntryLayout, LayoutKey};
use crate::tui::chat::entry_rows::{gap_rows_before, is_last_agent_line, names_model};
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::rendered_text::TextAnchor;
use crate::tui::chat::selection::TextSelection;
use crate::tui::chat::stops::Stop;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Upper limit for counting rows below the view; from there on, the view shows `9,999+`.
pub const ROWS_BELOW_MAX: usize = 9_999;
/// Above this size in bytes, the cache drops the text of entries out of view.
const CACHE_BYTES_MAX: usize = 16 << 20;

/// A row within an entry, or within the tail below the last entry. The index of the tail is the
/// number of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RowPosition {
    pub index: usize,
    pub row: usize,
}

impl RowPosition {
    fn start_of(index: usize) -> Self {
        Self { index, row: 0 }
    }
}

#[derive(Debug, Clone)]
pub struct Viewport {
    layouts: Vec<Option<EntryLayout>>,
    cached_bytes: usize,
    bytes_after_eviction: usize,
    pub follows_end: bool,
    top: RowPosition,
    /// Text position at the top of the view, kept from the first new layout until the user
    /// scrolls, so that rounding does not add up over several resizes.
    anchor: Option<TextAnchor>,
    /// Index and text size in bytes of the last entry when the user scrolled away from the end.
    last_seen_end: (usize, usize),
    /// First and last entry in view.
    in_view: (usize, usize),
    unfolded: HashSet<usize>,
    /// The selected stop.
    pub stop: Option<Stop>,
    /// The text selected with the mouse, or line by line with the arrow keys.
    pub selection: Option<TextSelection>,
}

impl Default for Viewport {
    fn default() -> Self {
        Self {
            layouts: Vec::new(),
            cached_bytes: 0,
            bytes_after_eviction: 0,
            follows_end: true,
            top: RowPosition::default(),
            anchor: None,
            last_seen_end: (0, 0),
            in_view: (0, 0),
            unfolded: HashSet::new(),
            stop: None,
            selection: None,
        }
    }
}

impl Viewport {
    pub fn is_unfolded(&self, index: usize) -> bool {
        self.unfolded.contains(&index)
    }

    pub fn toggle_fold(&mut self, index: usize) {
        if !self.unfolded.remove(&index) {
            self.unfolded.insert(index);
        }
    }

    /// Unfolds an entry that would fold automatically while the user is reading it.
    pub fn keep_open_if_in_view(&mut self, index: usize) {
        let (first, last) = self.in_view;
        if !self.follows_end && (first..=last).contains(&index) {
            self.unfolded.insert(index);
        }
    }

    pub fn top_position(&mut self, input: &LayoutInput, height: usize) -> RowPosition {
        let bottom = self.bottom_position(input, height);
        if self.follows_end {
            return bottom;
        }
        let last = self.height_of(input, self.top.index).saturating_sub(1);
        self.top.row = self.top.row.min(last);
        self.top.min(bottom)
    }

    /// Top position of a view that shows the end.
    pub fn bottom_position(&mut self, input: &LayoutInput, height: usize) -> RowPosition {
        let end = RowPosition {
            index: input.count(),
            row: input.tail_rows,
        };
        self.move_up(input, end, height)
    }

    fn move_up(&mut self, input: &LayoutInput, from: RowPosition, mut rows: usize) -> RowPosition {
        let mut position = from;
        loop {
            if position.row >= rows {
                position.row -= rows;
                return position;
            }
            rows -= position.row;
            position.row = 0;
            if position.index == 0 {
                return position;
            }
            position.index -= 1;
            position.row = self.height_of(input, position.index);
        }
    }

    fn move_down(
        &mut self,
        input: &LayoutInput,
        from: RowPosition,
        mut rows: usize,
    ) -> RowPosition {
        let mut position = from;
        while position.index < input.count() {
            let remaining = self
                .height_of(input, position.index)
                .saturating_sub(position.row);
            if rows < remaining {
                position.row += rows;
                return position;
            }
            rows -= remaining;
            position = RowPosition::start_of(position.index + 1);
        }
        position.row = rows.min(input.tail_rows);
        position
    }

    /// Scrolls by rows, up if negative. Reaching the end resumes following.
    pub fn scroll(&mut self, input: &LayoutInput, height: usize, rows: isize) {
        let top = self.top_position(input, height);
        let distance = rows.unsigned_abs();
        let top = if rows < 0 {
            self.move_up(input, top, distance)
        } else {
            self.move_down(input, top, distance)
        };
        let follows_end = top >= self.bottom_position(input, height);
        self.scroll_to(input, top, follows_end);
    }

    /// Pins the view to its current position before rows appear or disappear.
    pub fn pin_position(&mut self, input: &LayoutInput, height: usize) {
        let top = self.top_position(input, height);
        self.scroll_to(input, top, false);
    }

    pub fn scroll_to_start(&mut self, input: &LayoutInput, height: usize) {
        let top = RowPosition::default();
        let follows_end = self.bottom_position(input, height) == top;
        self.scroll_to(input, top, follows_end);
    }

    /// Scrolls no further than necessary to make these rows of an entry visible. If they do not all
    /// fit, the first ones are visible.
    pub fn reveal(
        &mut self,
        input: &LayoutInput,
        height: usize,
        index: usize,
        rows: RangeInclusive<usize>,
    ) {
        let first = RowPosition {
            index,
            row: *rows.start(),
        };
        let last = RowPosition {
            index,
            row: *rows.end(),
        };
        let top = self.top_position(input, height);
        let earliest = self.move_up(input, last, height.saturating_sub(1));
        let wanted = top.max(earliest).min(first);
        let follows_end =
            self.follows_end && wanted == top || wanted >= self.bottom_position(input, height);
        if wanted == top {
            self.follows_end = follows_end;
        } else {
            self.scroll_to(input, wanted, follows_end);
        }
    }

    pub(super) fn scroll_to(&mut self, input: &LayoutInput, top: RowPosition, follows_end: bool) {
        if self.follows_end && !follows_end {
            let last = input.count().saturating_sub(1);
            let streamed_bytes = self
                .entry_layout(input, last)
                .map_or(0, EntryLayout::streamed_bytes);
            self.last_seen_end = (last, streamed_bytes);
        }
        self.top = top;
        self.anchor = None;
        self.follows_end = follows_end;
    }

    /// Rows below a view that begins at `top`, at most [`ROWS_BELOW_MAX`].
    pub fn rows_below(&mut self, input: &LayoutInput, top: RowPosition, height: usize) -> usize {
        let position = self.move_down(input, top, height);
        self.rows_to_end(input, position)
    }

    /// Rows added since the user scrolled away from the end, at most [`ROWS_BELOW_MAX`].
    pub fn new_rows(&mut self, input: &LayoutInput) -> usize {
        let (index, byte) = self.last_seen_end;
        let Some(layout) = self.entry_layout(input, index) else {
            return 0;
        };
        let text = layout.text.as_ref().filter(|_| layout.is_append_only);
        let new_text_rows = text.map_or(0, |text| text.rows_since(byte));
        let position = RowPosition::start_of(index + 1);
        let tail = input.tail_rows;
        (new_text_rows + self.rows_to_end(input, position).saturating_sub(tail)).min(ROWS_BELOW_MAX)
    }

    /// At most [`ROWS_BELOW_MAX`].
    fn rows_to_end(&mut self, input: &LayoutInput, mut position: RowPosition) -> usize {
        let mut rows = 0;
        while position.index < input.count() && rows < ROWS_BELOW_MAX {
            rows += self.height_of(input, position.index) - position.row;
            position = RowPosition::start_of(position.index + 1);
        }
        let tail = input.tail_rows.saturating_sub(position.row);
        (rows + tail).min(ROWS_BELOW_MAX)
    }

    /// The visible row positions from `top` on.
    pub fn visible_rows(
        &mut self,
        input: &LayoutInput,
        top: RowPosition,
        height: usize,
    ) -> Vec<RowPosition> {
        let mut positions = Vec::with_capacity(height);
        let mut position = top;
        while positions.len() < height {
            let rows = if position.index < input.count() {
                self.height_of(input, position.index)
            } else {
                input.tail_rows
            };
            while position.row < rows && positions.len() < height {
                positions.push(position);
                position.row += 1;
            }
            if position.index >= input.count() {
                break;
            }
            position = RowPosition::start_of(position.index + 1);
        }
        if let (Some(first), Some(last)) = (positions.first(), positions.last()) {
            self.in_view = (first.index, last.index);
            self.evict_out_of_view(first.index, last.index);
        }
        for position in &positions {
            self.restore_evicted(input, position.index);
        }
        positions
    }

    /// Drops the laid-out text of entries out of view once the cache is too large. Their heights
    /// are kept.
    fn evict_out_of_view(&mut self, first: usize, last: usize) {
        // The last eviction may have left more than the limit in view: evict again only after
        // substantial growth.
        if self.cached_bytes <= CACHE_BYTES_MAX.max(self.bytes_after_eviction + CACHE_BYTES_MAX / 4)
        {
            return;
        }
        // Keep the newest entries: one of them may be streaming.
        let newest = self.layouts.len().saturating_sub(2);
        for (index, layout) in self.layouts.iter_mut().enumerate().take(newest) {
            if let Some(layout) = layout.as_mut().filter(|_| index < first || index > last) {
                layout.text = None;
            }
        }
        self.cached_bytes = self
            .layouts
            .iter()
            .flatten()
            .map(EntryLayout::memory_bytes)
            .sum();
        self.bytes_after_eviction = self.cached_bytes;
    }

    pub(super) fn restore_evicted(&mut self, input: &LayoutInput, index: usize) {
        let layout = self.layouts.get(index).and_then(Option::as_ref);
        if layout.is_some_and(|layout| layout.text.is_none() && layout.height > 0) {
            self.layouts[index] = None;
            self.height_of(input, index);
        }
    }

    /// As of the last frame.
    pub(super) fn layout_at(&self, index: usize) -> Option<&EntryLayout> {
        self.layouts.get(index).and_then(Option::as_ref)
    }

    pub fn height_of(&mut self, input: &LayoutInput, index: usize) -> usize {
        self.entry_layout(input, index)
            .map_or(0, |layout| layout.height)
    }

    pub(super) fn entry_layout(
        &mut self,
        input: &LayoutInput,
        index: usize,
    ) -> Option<&EntryLayout> {
        let entry = input.entry(index)?;
        if self.layouts.len() <= index {
            self.layouts.resize(input.count(), None);
        }
        let key = LayoutKey {
            entry: input
                .visible_indices
                .map_or(index, |indices| indices[index]),
            revision: entry.revision,
            append_only_since: entry.append_only_since,
            width: input.width,
            has_thinking_pane: input.has_thinking_pane,
            is_unfolded: self.is_unfolded(index),
            gap_rows: gap_rows_before(input, index),
            names_model: names_model(input, index),
            is_last_agent_line: is_last_agent_line(input, index),
            shows_raw_text: input.shows_raw_text,
            is_open: input.is_unfinished(index, entry),
            is_expanded_thinking: input.is_expanded_thinking(entry),
        };
        if (self.layouts[index].as_ref()).is_none_or(|layout| layout.key != key) {
            let old = self.layouts[index].take();
            self.cached_bytes -= old.as_ref().map_or(0, EntryLayout::memory_bytes);
            let anchor = self.reading_anchor(index, old.as_ref());
            let layout = EntryLayout::new(entry, input, key, old);
            self.cached_bytes += layout.memory_bytes();
            if let (Some(anchor_in_text), Some(text)) = (anchor, &layout.text) {
                self.anchor = anchor;
                self.top.row =
                    layout.key.gap_rows + layout.head_rows + text.row_of_anchor(anchor_in_text);
            }
            self.layouts[index] = Some(layout);
        }
        self.layouts[index].as_ref()
    }

    /// The text position at the top of the view if the entry there is about to be laid out again,
    /// which may add or remove rows above that position.
    fn reading_anchor(&self, index: usize, old: Option<&EntryLayout>) -> Option<TextAnchor> {
        let old = old.filter(|_| index == self.top.index && !self.follows_end)?;
        let row = self.top.row.checked_sub(old.key.gap_rows + old.head_rows)?;
        let text = old.text.as_ref()?;
        self.anchor.or_else(|| Some(text.anchor_of(row)))
    }
}
