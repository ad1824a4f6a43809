//! A scrolling view of entries that lays out only the rows in view. The reading position is
//! an entry and a row within it, so neither a token, a frame nor a resize walks the whole
//! transcript.

use crate::text::markdown::StyledRow;
use crate::tui::chat::entry_layout::{Slot, Stamp};
use crate::tui::chat::entry_rows::{Shape, gap_before, shape};
use crate::tui::chat::layout_input::Source;
use crate::tui::chat::rendered_text::Anchor;
use std::collections::HashSet;

/// Upper limit for counting rows below the view; beyond it the view shows `9999+`.
pub const BELOW_MAX: usize = 9_999;
/// Limit in bytes for cached text of entries out of view.
const CACHE_BYTES_MAX: usize = 16 << 20;

/// A row within an entry, or within the tail, which has the index just past the last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    pub index: usize,
    pub row: usize,
}

#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    Blank,
    Head(usize),
    Text(StyledRow<'a>),
    Foot,
}

#[derive(Debug, Clone)]
pub struct Flow {
    slots: Vec<Option<Slot>>,
    /// Bytes of laid-out text, and how many remained after the last eviction.
    cost: usize,
    kept: usize,
    pub follow: bool,
    top: Place,
    /// Text position at the top of the view after a new layout moved it to another row.
    /// Kept until the user scrolls, so that rounding does not add up over several resizes.
    anchor: Option<Anchor>,
    /// The last entry and its text size when the end left the view.
    seen: (usize, usize),
    /// First and last entry in view.
    in_view: (usize, usize),
    /// Indices of entries that the user unfolded.
    unfolded: HashSet<usize>,
    /// The selected foldable line.
    pub selected: Option<usize>,
}

impl Default for Flow {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            cost: 0,
            kept: 0,
            follow: true,
            top: Place::default(),
            anchor: None,
            seen: (0, 0),
            in_view: (0, 0),
            unfolded: HashSet::new(),
            selected: None,
        }
    }
}

impl Flow {
    pub fn is_unfolded(&self, index: usize) -> bool {
        self.unfolded.contains(&index)
    }

    pub fn toggle(&mut self, index: usize) {
        if !self.unfolded.remove(&index) {
            self.unfolded.insert(index);
        }
    }

    /// Keeps an entry unfolded if the user is reading it while it would fold by itself.
    pub fn folds(&mut self, index: usize) {
        let (first, last) = self.in_view;
        if !self.follow && (first..=last).contains(&index) {
            self.unfolded.insert(index);
        }
    }

    pub fn top(&mut self, source: &Source, height: usize) -> Place {
        let bottom = self.bottom(source, height);
        if self.follow {
            return bottom;
        }
        let last = self.height_of(source, self.top.index).saturating_sub(1);
        self.top.row = self.top.row.min(last);
        self.top.min(bottom)
    }

    /// Top position of a view that shows the end.
    fn bottom(&mut self, source: &Source, height: usize) -> Place {
        let end = Place {
            index: source.count(),
            row: source.tail,
        };
        self.up(source, end, height)
    }

    fn up(&mut self, source: &Source, from: Place, mut rows: usize) -> Place {
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

    fn down(&mut self, source: &Source, from: Place, mut rows: usize) -> Place {
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
            place = Place {
                index: place.index + 1,
                row: 0,
            };
        }
        place.row = rows.min(source.tail);
        place
    }

    /// Scrolls by rows, up if negative. Reaching the end resumes following.
    pub fn scroll(&mut self, source: &Source, height: usize, rows: isize) {
        let top = self.top(source, height);
        let by = rows.unsigned_abs();
        let top = if rows < 0 {
            self.up(source, top, by)
        } else {
            self.down(source, top, by)
        };
        let follow = top >= self.bottom(source, height);
        self.go(source, top, follow);
    }

    /// Pins the view to its current position before rows appear or disappear.
    pub fn hold(&mut self, source: &Source, height: usize) {
        let top = self.top(source, height);
        self.go(source, top, false);
    }

    pub fn scroll_to_start(&mut self, source: &Source, height: usize) {
        let top = Place::default();
        let follow = self.bottom(source, height) == top;
        self.go(source, top, follow);
    }

    /// Scrolls the minimum that makes an entry's first row visible.
    pub fn reveal(&mut self, source: &Source, height: usize, index: usize) {
        let gap = self.slot(source, index).map_or(0, |slot| slot.stamp.gap);
        let place = Place { index, row: gap };
        let top = self.top(source, height);
        let earliest = self.up(source, place, height.saturating_sub(1));
        let wanted = top.min(place).max(earliest);
        let follow = self.follow && wanted == top || wanted >= self.bottom(source, height);
        if wanted == top {
            self.follow = follow;
        } else {
            self.go(source, wanted, follow);
        }
    }

    /// Moves the top of the view.
    fn go(&mut self, source: &Source, top: Place, follow: bool) {
        if self.follow && !follow {
            let last = source.count().saturating_sub(1);
            let streamed = self.slot(source, last).map_or(0, Slot::streamed);
            self.seen = (last, streamed);
        }
        self.top = top;
        self.anchor = None;
        self.follow = follow;
    }

    /// Rows below a view that begins at `top`, at most [`ROWS_BELOW_MAX`].
    pub fn below(&mut self, source: &Source, top: Place, height: usize) -> usize {
        let place = self.down(source, top, height);
        self.rows_from(source, place)
    }

    /// Rows below the view that were added since the end left the view.
    pub fn new_below(&mut self, source: &Source) -> usize {
        let (index, byte) = self.seen;
        let Some(slot) = self.slot(source, index) else {
            return 0;
        };
        let text = slot.text.as_ref().filter(|_| slot.streams);
        let grown = text.map_or(0, |text| text.rows_since(byte));
        let place = Place {
            index: index + 1,
            row: 0,
        };
        let tail = source.tail;
        (grown + self.rows_from(source, place).saturating_sub(tail)).min(BELOW_MAX)
    }

    /// Rows from a position to the end, at most [`ROWS_BELOW_MAX`].
    fn rows_from(&mut self, source: &Source, mut place: Place) -> usize {
        let mut rows = 0;
        while place.index < source.count() && rows < BELOW_MAX {
            rows += self.height_of(source, place.index) - place.row;
            place = Place {
                index: place.index + 1,
                row: 0,
            };
        }
        let tail = source.tail.saturating_sub(place.row);
        (rows + tail).min(BELOW_MAX)
    }

    /// The next foldable entry from `from` in the direction of `step`.
    pub fn next_fold(&self, source: &Source, from: Option<usize>, step: isize) -> Option<usize> {
        let mut index = from.unwrap_or(source.count());
        loop {
            index = index.checked_add_signed(step)?;
            let entry = source.entry(index)?;
            if shape(entry, source) == Shape::Line {
                return Some(index);
            }
        }
    }

    /// The visible row positions from `top` on.
    pub fn visible(&mut self, source: &Source, top: Place, height: usize) -> Vec<Place> {
        let mut places = Vec::with_capacity(height);
        let mut place = top;
        while places.len() < height {
            let rows = if place.index < source.count() {
                self.height_of(source, place.index)
            } else {
                source.tail
            };
            while place.row < rows && places.len() < height {
                places.push(place);
                place.row += 1;
            }
            if place.index >= source.count() {
                break;
            }
            place = Place {
                index: place.index + 1,
                row: 0,
            };
        }
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            self.in_view = (first.index, last.index);
            self.forget_beyond(first.index, last.index);
        }
        for place in &places {
            self.lay_out_again(source, place.index);
        }
        places
    }

    /// Drops laid-out text out of view once the cache is too large. Heights are kept.
    fn forget_beyond(&mut self, first: usize, last: usize) {
        // Skip the scan if the last eviction could not free much more.
        if self.cost <= CACHE_BYTES_MAX.max(self.kept + CACHE_BYTES_MAX / 4) {
            return;
        }
        // Keep the newest entries: one of them may be streaming.
        let newest = self.slots.len().saturating_sub(2);
        for (index, slot) in self.slots.iter_mut().enumerate().take(newest) {
            if let Some(slot) = slot.as_mut().filter(|_| index < first || index > last) {
                slot.text = None;
            }
        }
        self.cost = self.slots.iter().flatten().map(Slot::cost).sum();
        self.kept = self.cost;
    }

    fn lay_out_again(&mut self, source: &Source, index: usize) {
        let forgotten = self.slots.get(index).and_then(Option::as_ref);
        if forgotten.is_some_and(|slot| slot.text.is_none() && slot.height > 0) {
            self.slots[index] = None;
            self.height_of(source, index);
        }
    }

    pub fn part(&self, place: Place) -> Part<'_> {
        let Some(slot) = self.slots.get(place.index).and_then(Option::as_ref) else {
            return Part::Blank;
        };
        let Some(row) = place.row.checked_sub(slot.stamp.gap) else {
            return Part::Blank;
        };
        let Some(row) = row.checked_sub(slot.head) else {
            return Part::Head(row);
        };
        match &slot.text {
            Some(text) if row < text.len() => Part::Text(text.row(row)),
            _ => Part::Foot,
        }
    }

    /// Whether this is the first row of its entry's text.
    pub fn is_first(&self, place: Place) -> bool {
        let slot = self.slots.get(place.index).and_then(Option::as_ref);
        slot.is_some_and(|slot| place.row == slot.stamp.gap + slot.head)
    }

    pub fn height_of(&mut self, source: &Source, index: usize) -> usize {
        self.slot(source, index).map_or(0, |slot| slot.height)
    }

    fn slot(&mut self, source: &Source, index: usize) -> Option<&Slot> {
        let entry = source.entry(index)?;
        if self.slots.len() <= index {
            self.slots.resize(source.count(), None);
        }
        let stamp = Stamp {
            entry: source.list.map_or(index, |list| list[index]),
            revision: entry.revision,
            grows_since: entry.grows_since,
            width: source.width,
            aside: source.aside,
            unfolded: self.is_unfolded(index),
            gap: gap_before(source, index),
            raw: source.raw,
            open: source.open.is_some_and(|open| source.is_entry(index, open)),
            lingers: source.lingers(entry),
        };
        let fresh = |slot: &Slot| slot.stamp == stamp;
        if !self.slots[index].as_ref().is_some_and(fresh) {
            let old = self.slots[index].take();
            self.cost -= old.as_ref().map_or(0, Slot::cost);
            let anchor = self.anchor_of(index, old.as_ref());
            let slot = Slot::new(entry, source, stamp, old);
            self.cost += slot.cost();
            if let (Some(place), Some(text)) = (anchor, &slot.text) {
                self.anchor = anchor;
                self.top.row = slot.stamp.gap + slot.head + text.row_at(place);
            }
            self.slots[index] = Some(slot);
        }
        self.slots[index].as_ref()
    }

    /// The text position at the top of the view, if the top entry is about to be laid out
    /// again: rows above it may appear or disappear.
    fn anchor_of(&self, index: usize, old: Option<&Slot>) -> Option<Anchor> {
        let old = old.filter(|_| index == self.top.index && !self.follow)?;
        let row = self.top.row.checked_sub(old.stamp.gap + old.head)?;
        let text = old.text.as_ref()?;
        self.anchor.or_else(|| Some(text.anchor_of(row)))
    }
}
