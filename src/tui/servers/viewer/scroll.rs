//! Selection and scrolling in a list whose items have several rows each. Asks for the height of
//! an item only when the item is near the view.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ItemRow {
    pub item: usize,
    pub row: usize,
}

impl ItemRow {
    pub fn start_of(item: usize) -> Self {
        Self { item, row: 0 }
    }
}

/// The size of the list and of its view.
pub struct ItemHeights<'a> {
    pub count: usize,
    /// Height of the view in rows, at least 1.
    pub view: usize,
    /// Height of an item in rows, at least 1.
    pub height_of: &'a dyn Fn(usize) -> usize,
}

impl ItemHeights<'_> {
    fn move_up(&self, from: ItemRow, mut rows: usize) -> ItemRow {
        let mut place = from;
        while place.row < rows {
            if place.item == 0 {
                return ItemRow::default();
            }
            rows -= place.row;
            place.item -= 1;
            place.row = (self.height_of)(place.item);
        }
        place.row -= rows;
        place
    }

    fn move_down(&self, from: ItemRow, mut rows: usize) -> ItemRow {
        let mut place = from;
        while place.item < self.count {
            let left = (self.height_of)(place.item).saturating_sub(place.row);
            if rows < left {
                place.row += rows;
                return place;
            }
            rows -= left;
            place = ItemRow::start_of(place.item + 1);
        }
        place
    }

    fn last_top(&self) -> ItemRow {
        self.move_up(ItemRow::start_of(self.count), self.view)
    }
}

#[derive(Debug, Default)]
pub struct ItemScroll {
    pub selected: usize,
    /// The first visible row.
    pub top: ItemRow,
}

impl ItemScroll {
    /// Makes selection and view valid again after the items or the size changed.
    pub fn clamp(&mut self, items: &ItemHeights) {
        self.selected = self.selected.min(items.count.saturating_sub(1));
        self.top = self.top.min(items.last_top());
    }

    /// How many items begin above the view, and how many are below it.
    pub fn hidden_items(&self, items: &ItemHeights) -> (usize, usize) {
        let bottom = items.move_down(self.top, items.view);
        let above = self.top.item + usize::from(self.top.row > 0);
        let shown_until = bottom.item + usize::from(bottom.row > 0);
        (above, items.count.saturating_sub(shown_until))
    }

    /// Selects an item and scrolls as little as needed to show it.
    pub fn select(&mut self, item: usize, items: &ItemHeights) {
        self.selected = item.min(items.count.saturating_sub(1));
        let start = ItemRow::start_of(self.selected);
        let end = ItemRow::start_of(self.selected + 1);
        let lowest = items.move_up(end, items.view).min(start);
        self.top = self.top.clamp(lowest, start).min(items.last_top());
    }

    /// Selects the last item and shows its end.
    pub fn select_end(&mut self, items: &ItemHeights) {
        self.selected = items.count.saturating_sub(1);
        self.top = items.last_top();
    }

    /// Moves to the next or previous item. An item that continues beyond the view is scrolled by
    /// one row first, so that every row of a long text can be read.
    pub fn step(&mut self, direction: isize, items: &ItemHeights) {
        let start = ItemRow::start_of(self.selected);
        let end = ItemRow::start_of(self.selected + 1);
        let bottom = items.move_down(self.top, items.view);
        if direction > 0 && end > bottom {
            self.top = items.move_down(self.top, 1);
        } else if direction < 0 && start < self.top {
            self.top = items.move_up(self.top, 1);
        } else if direction > 0 {
            if self.selected + 1 < items.count {
                self.select(self.selected + 1, items);
            }
        } else if let Some(previous) = self.selected.checked_sub(1) {
            let is_tall = (items.height_of)(previous) > items.view;
            if !is_tall {
                return self.select(previous, items);
            }
            // Show the end of a tall item first.
            self.selected = previous;
            self.top = self.top.min(items.move_up(start, items.view));
        }
    }

    /// Scrolls the view. The selection moves only if it would leave the view.
    pub fn scroll(&mut self, rows: isize, items: &ItemHeights) {
        let by = rows.unsigned_abs();
        self.top = match rows < 0 {
            true => items.move_up(self.top, by),
            false => items.move_down(self.top, by).min(items.last_top()),
        };
        let (first, last) = self.visible_items(items);
        self.selected = self.selected.clamp(first, last);
    }

    /// Scrolls by a page with two rows of overlap. At either end it selects the outermost item.
    pub fn page(&mut self, direction: isize, items: &ItemHeights) {
        let before = self.top;
        let rows = isize::try_from(items.view.saturating_sub(2).max(1)).unwrap_or(isize::MAX);
        self.scroll(direction * rows, items);
        self.selected = match (self.top == before, direction > 0) {
            (true, true) => items.count.saturating_sub(1),
            (true, false) => 0,
            (false, _) => self.visible_items(items).0,
        };
    }

    /// The first item that begins in the view, and the last one that is at least partly visible.
    fn visible_items(&self, items: &ItemHeights) -> (usize, usize) {
        let bottom = items.move_down(self.top, items.view);
        let last = match bottom.row {
            0 => bottom.item.saturating_sub(1),
            _ => bottom.item,
        };
        let first = self.top.item + usize::from(self.top.row > 0);
        (first.min(last), last)
    }

    /// Rows from the top of the view to the start of the selected item; negative if the item
    /// begins above the view.
    pub fn selected_offset(&self, items: &ItemHeights) -> isize {
        let start = ItemRow::start_of(self.selected);
        if start < self.top {
            return -isize::try_from(self.top.row).unwrap_or(isize::MAX);
        }
        let between = (self.top.item..self.selected).map(items.height_of);
        let rows = between.sum::<usize>().saturating_sub(self.top.row);
        isize::try_from(rows).unwrap_or(isize::MAX)
    }

    /// Selects an item and shows it at this offset from the top of the view.
    pub fn restore(&mut self, item: usize, offset: isize, items: &ItemHeights) {
        self.selected = item;
        let start = ItemRow::start_of(item);
        let rows = offset.unsigned_abs();
        self.top = match offset < 0 {
            true => items.move_down(start, rows.min((items.height_of)(item).saturating_sub(1))),
            false => items.move_up(start, rows),
        };
        self.clamp(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::collections::HashSet;

    fn visible_rows(scroll: &ItemScroll, items: &ItemHeights) -> Vec<ItemRow> {
        (0..items.view)
            .map(|rows| items.move_down(scroll.top, rows))
            .filter(|row| row.item < items.count)
            .collect()
    }

    proptest! {
        #[test]
        fn repeated_steps_down_or_up_show_every_row(
            heights in prop::collection::vec(1usize..30, 1..20),
            view in 1usize..12,
        ) {
            let items = ItemHeights { count: heights.len(), view, height_of: &|item| heights[item] };
            let mut scroll = ItemScroll::default();
            for direction in [1, -1] {
                let mut seen = HashSet::new();
                for _ in 0..heights.iter().sum::<usize>() + heights.len() {
                    let rows = visible_rows(&scroll, &items);
                    prop_assert!(rows.iter().any(|row| row.item == scroll.selected));
                    seen.extend(rows.into_iter().map(|row| (row.item, row.row)));
                    scroll.step(direction, &items);
                }
                prop_assert_eq!(seen.len(), heights.iter().sum::<usize>());
            }
            prop_assert_eq!(scroll.top, ItemRow::default());
        }

        #[test]
        fn the_selection_stays_in_the_view_and_its_position_can_be_restored(
            heights in prop::collection::vec(1usize..30, 1..20),
            view in 1usize..12,
            moves in prop::collection::vec((0u8..4, -40isize..40), 0..20),
        ) {
            let items = ItemHeights { count: heights.len(), view, height_of: &|item| heights[item] };
            let mut scroll = ItemScroll::default();
            for (kind, by) in moves {
                match kind {
                    0 => scroll.step(if by < 0 { -1 } else { 1 }, &items),
                    1 => scroll.scroll(by, &items),
                    2 => scroll.page(if by < 0 { -1 } else { 1 }, &items),
                    _ => scroll.select(by.unsigned_abs(), &items),
                }
                let rows = visible_rows(&scroll, &items);
                prop_assert!(rows.iter().any(|row| row.item == scroll.selected));
                let mut restored = ItemScroll::default();
                restored.restore(scroll.selected, scroll.selected_offset(&items), &items);
                prop_assert_eq!(restored.top, scroll.top);
            }
        }
    }

    #[test]
    fn only_items_near_the_view_are_measured() {
        let measured = RefCell::new(HashSet::new());
        let height_of = |item| {
            measured.borrow_mut().insert(item);
            3
        };
        let items = ItemHeights {
            count: 5_000,
            view: 20,
            height_of: &height_of,
        };
        let mut scroll = ItemScroll::default();
        scroll.clamp(&items);
        scroll.page(1, &items);
        scroll.step(1, &items);
        scroll.select(4_999, &items);
        assert!(measured.borrow().len() < 60, "{}", measured.borrow().len());
    }
}
