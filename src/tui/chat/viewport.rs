//! A scrolling view of entries that lays out only the rows in view. The reading position is
//! an entry and a row within it, so neither a token, a frame nor a resize walks the whole
//! transcript.

use crate::text::markdown::StyledRow;
use crate::tui::chat::entry_layout::{EntryLayout, LayoutKey};
use crate::tui::chat::entry_rows::{EntryShape, entry_shape, gap_rows_before, names_model};
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::rendered_text::TextAnchor;
use std::collections::HashSet;

/// Upper limit for counting rows below the view; beyond it the view shows `9999+`.
pub const ROWS_BELOW_MAX: usize = 9_999;
/// Limit in bytes for cached text of entries out of view.
const CACHE_BYTES_MAX: usize = 16 << 20;

/// A row within an entry, or within the tail, which has the index just past the last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct RowPosition {
    pub index: usize,
    pub row: usize,
}

#[derive(Debug, Clone, Copy)]
pub enum RowContent<'a> {
    Blank,
    Head(usize),
    Text(StyledRow<'a>),
    Foot,
}

#[derive(Debug, Clone)]
pub struct Viewport {
    layouts: Vec<Option<EntryLayout>>,
    /// Bytes of laid-out text, and how many remained after the last eviction.
    cached_bytes: usize,
    bytes_after_eviction: usize,
    pub follows_end: bool,
    top: RowPosition,
    /// Text position at the top of the view after a new layout moved it to another row.
    /// Kept until the user scrolls, so that rounding does not add up over several resizes.
    anchor: Option<TextAnchor>,
    /// The last entry and its text size when the end left the view.
    last_seen_end: (usize, usize),
    /// First and last entry in view.
    in_view: (usize, usize),
    /// Indices of entries that the user unfolded.
    unfolded: HashSet<usize>,
    /// The selected foldable line.
    pub selected: Option<usize>,
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
            selected: None,
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

    /// Keeps an entry unfolded if the user is reading it while it would fold by itself.
    pub fn keep_open_if_in_view(&mut self, index: usize) {
        let (first, last) = self.in_view;
        if !self.follows_end && (first..=last).contains(&index) {
            self.unfolded.insert(index);
        }
    }

    pub fn top_position(&mut self, source: &LayoutInput, height: usize) -> RowPosition {
        let bottom = self.bottom_position(source, height);
        if self.follows_end {
            return bottom;
        }
        let last = self.height_of(source, self.top.index).saturating_sub(1);
        self.top.row = self.top.row.min(last);
        self.top.min(bottom)
    }

    /// Top position of a view that shows the end.
    fn bottom_position(&mut self, source: &LayoutInput, height: usize) -> RowPosition {
        let end = RowPosition {
            index: source.count(),
            row: source.tail_rows,
        };
        self.move_up(source, end, height)
    }

    fn move_up(&mut self, source: &LayoutInput, from: RowPosition, mut rows: usize) -> RowPosition {
        let mut place = from;
        loop {
            if place.row >= rows {
                place.row -= rows;
                return place;
            }
            rows -= place.row;
            place.row = 0;
            if place.index == 0 {
                return place;
            }
            place.index -= 1;
            place.row = self.height_of(source, place.index);
        }
    }

    fn move_down(
        &mut self,
        source: &LayoutInput,
        from: RowPosition,
        mut rows: usize,
    ) -> RowPosition {
        let mut place = from;
        while place.index < source.count() {
            let left = self
                .height_of(source, place.index)
                .saturating_sub(place.row);
            if rows < left {
                place.row += rows;
                return place;
            }
            rows -= left;
            place = RowPosition {
                index: place.index + 1,
                row: 0,
            };
        }
        place.row = rows.min(source.tail_rows);
        place
    }

    /// Scrolls by rows, up if negative. Reaching the end resumes following.
    pub fn scroll(&mut self, source: &LayoutInput, height: usize, rows: isize) {
        let top = self.top_position(source, height);
        let by = rows.unsigned_abs();
        let top = if rows < 0 {
            self.move_up(source, top, by)
        } else {
            self.move_down(source, top, by)
        };
        let follow = top >= self.bottom_position(source, height);
        self.scroll_to(source, top, follow);
    }

    /// Pins the view to its current position before rows appear or disappear.
    pub fn pin_position(&mut self, source: &LayoutInput, height: usize) {
        let top = self.top_position(source, height);
        self.scroll_to(source, top, false);
    }

    pub fn scroll_to_start(&mut self, source: &LayoutInput, height: usize) {
        let top = RowPosition::default();
        let follow = self.bottom_position(source, height) == top;
        self.scroll_to(source, top, follow);
    }

    /// Scrolls the minimum that makes an entry's first row visible.
    pub fn reveal(&mut self, source: &LayoutInput, height: usize, index: usize) {
        let gap = self
            .entry_layout(source, index)
            .map_or(0, |slot| slot.key.gap_rows);
        let place = RowPosition { index, row: gap };
        let top = self.top_position(source, height);
        let earliest = self.move_up(source, place, height.saturating_sub(1));
        let wanted = top.min(place).max(earliest);
        let follow =
            self.follows_end && wanted == top || wanted >= self.bottom_position(source, height);
        if wanted == top {
            self.follows_end = follow;
        } else {
            self.scroll_to(source, wanted, follow);
        }
    }

    /// Moves the top of the view.
    fn scroll_to(&mut self, source: &LayoutInput, top: RowPosition, follow: bool) {
        if self.follows_end && !follow {
            let last = source.count().saturating_sub(1);
            let streamed = self
                .entry_layout(source, last)
                .map_or(0, EntryLayout::streamed_bytes);
            self.last_seen_end = (last, streamed);
        }
        self.top = top;
        self.anchor = None;
        self.follows_end = follow;
    }

    /// Rows below a view that begins at `top`, at most [`ROWS_BELOW_MAX`].
    pub fn rows_below(&mut self, source: &LayoutInput, top: RowPosition, height: usize) -> usize {
        let place = self.move_down(source, top, height);
        self.rows_to_end(source, place)
    }

    /// Rows below the view that were added since the end left the view.
    pub fn new_rows_below(&mut self, source: &LayoutInput) -> usize {
        let (index, byte) = self.last_seen_end;
        let Some(slot) = self.entry_layout(source, index) else {
            return 0;
        };
        let text = slot.text.as_ref().filter(|_| slot.is_streaming);
        let grown = text.map_or(0, |text| text.rows_since(byte));
        let place = RowPosition {
            index: index + 1,
            row: 0,
        };
        let tail = source.tail_rows;
        (grown + self.rows_to_end(source, place).saturating_sub(tail)).min(ROWS_BELOW_MAX)
    }

    /// Rows from a position to the end, at most [`ROWS_BELOW_MAX`].
    fn rows_to_end(&mut self, source: &LayoutInput, mut place: RowPosition) -> usize {
        let mut rows = 0;
        while place.index < source.count() && rows < ROWS_BELOW_MAX {
            rows += self.height_of(source, place.index) - place.row;
            place = RowPosition {
                index: place.index + 1,
                row: 0,
            };
        }
        let tail = source.tail_rows.saturating_sub(place.row);
        (rows + tail).min(ROWS_BELOW_MAX)
    }

    /// The next foldable entry from `from` in the direction of `step`.
    pub fn next_fold(
        &self,
        source: &LayoutInput,
        from: Option<usize>,
        step: isize,
    ) -> Option<usize> {
        let mut index = from.unwrap_or(source.count());
        loop {
            index = index.checked_add_signed(step)?;
            let entry = source.entry(index)?;
            if entry_shape(entry, source) == EntryShape::FoldedLine {
                return Some(index);
            }
        }
    }

    /// The visible row positions from `top` on.
    pub fn visible_rows(
        &mut self,
        source: &LayoutInput,
        top: RowPosition,
        height: usize,
    ) -> Vec<RowPosition> {
        let mut places = Vec::with_capacity(height);
        let mut place = top;
        while places.len() < height {
            let rows = if place.index < source.count() {
                self.height_of(source, place.index)
            } else {
                source.tail_rows
            };
            while place.row < rows && places.len() < height {
                places.push(place);
                place.row += 1;
            }
            if place.index >= source.count() {
                break;
            }
            place = RowPosition {
                index: place.index + 1,
                row: 0,
            };
        }
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            self.in_view = (first.index, last.index);
            self.evict_out_of_view(first.index, last.index);
        }
        for place in &places {
            self.restore_evicted(source, place.index);
        }
        places
    }

    /// Drops laid-out text out of view once the cache is too large. Heights are kept.
    fn evict_out_of_view(&mut self, first: usize, last: usize) {
        // Skip the scan if the last eviction could not free much more.
        if self.cached_bytes <= CACHE_BYTES_MAX.max(self.bytes_after_eviction + CACHE_BYTES_MAX / 4)
        {
            return;
        }
        // Keep the newest entries: one of them may be streaming.
        let newest = self.layouts.len().saturating_sub(2);
        for (index, slot) in self.layouts.iter_mut().enumerate().take(newest) {
            if let Some(slot) = slot.as_mut().filter(|_| index < first || index > last) {
                slot.text = None;
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

    fn restore_evicted(&mut self, source: &LayoutInput, index: usize) {
        let forgotten = self.layouts.get(index).and_then(Option::as_ref);
        if forgotten.is_some_and(|slot| slot.text.is_none() && slot.height > 0) {
            self.layouts[index] = None;
            self.height_of(source, index);
        }
    }

    pub fn row_content(&self, place: RowPosition) -> RowContent<'_> {
        let Some(slot) = self.layouts.get(place.index).and_then(Option::as_ref) else {
            return RowContent::Blank;
        };
        let Some(row) = place.row.checked_sub(slot.key.gap_rows) else {
            return RowContent::Blank;
        };
        let Some(row) = row.checked_sub(slot.head_rows) else {
            return RowContent::Head(row);
        };
        match &slot.text {
            Some(text) if row < text.len() => RowContent::Text(text.row(row)),
            _ => RowContent::Foot,
        }
    }

    /// Whether this is the first row of its entry's text.
    pub fn is_first_text_row(&self, place: RowPosition) -> bool {
        let slot = self.layouts.get(place.index).and_then(Option::as_ref);
        slot.is_some_and(|slot| place.row == slot.key.gap_rows + slot.head_rows)
    }

    pub fn height_of(&mut self, source: &LayoutInput, index: usize) -> usize {
        self.entry_layout(source, index)
            .map_or(0, |slot| slot.height)
    }

    fn entry_layout(&mut self, source: &LayoutInput, index: usize) -> Option<&EntryLayout> {
        let entry = source.entry(index)?;
        if self.layouts.len() <= index {
            self.layouts.resize(source.count(), None);
        }
        let stamp = LayoutKey {
            entry: source.visible_indices.map_or(index, |list| list[index]),
            revision: entry.revision,
            grows_since: entry.append_only_since,
            width: source.width,
            has_thinking_pane: source.has_thinking_pane,
            unfolded: self.is_unfolded(index),
            gap_rows: gap_rows_before(source, index),
            names_model: names_model(source, index),
            raw: source.raw,
            is_open: source.is_unfinished(index, entry),
            is_expanded_thinking: source.is_expanded_thinking(entry),
        };
        let fresh = |slot: &EntryLayout| slot.key == stamp;
        if !self.layouts[index].as_ref().is_some_and(fresh) {
            let old = self.layouts[index].take();
            self.cached_bytes -= old.as_ref().map_or(0, EntryLayout::memory_bytes);
            let anchor = self.reading_anchor(index, old.as_ref());
            let slot = EntryLayout::new(entry, source, stamp, old);
            self.cached_bytes += slot.memory_bytes();
            if let (Some(place), Some(text)) = (anchor, &slot.text) {
                self.anchor = anchor;
                self.top.row = slot.key.gap_rows + slot.head_rows + text.row_of_anchor(place);
            }
            self.layouts[index] = Some(slot);
        }
        self.layouts[index].as_ref()
    }

    /// The text position at the top of the view, if the top entry is about to be laid out
    /// again: rows above it may appear or disappear.
    fn reading_anchor(&self, index: usize, old: Option<&EntryLayout>) -> Option<TextAnchor> {
        let old = old.filter(|_| index == self.top.index && !self.follows_end)?;
        let row = self.top.row.checked_sub(old.key.gap_rows + old.head_rows)?;
        let text = old.text.as_ref()?;
        self.anchor.or_else(|| Some(text.anchor_of(row)))
    }
}
