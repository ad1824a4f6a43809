//! Where the arrow keys stop in the chat: messages, calls and notices, and the code blocks and
//! tables in messages.

use crate::domain::EntryBody;
use crate::text::markdown::BlockKind;
use crate::tui::chat::entry_layout::EntryLayout;
use crate::tui::chat::layout_input::LayoutInput;
use crate::tui::chat::viewport::{RowPosition, Viewport};
use std::ops::RangeInclusive;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stop {
    /// Index of the entry in the layout.
    pub index: usize,
    /// A code block or table of the entry; `None` means the whole entry.
    pub block: Option<usize>,
}

impl Stop {
    pub fn at_entry(index: usize) -> Self {
        Self { index, block: None }
    }
}

impl EntryLayout {
    fn block_count(&self) -> usize {
        self.text.as_ref().map_or(0, |text| text.blocks().len())
    }

    /// The rows of the entry, or of one of its blocks, without the blank rows above.
    fn stop_rows(&self, block: Option<usize>) -> RangeInclusive<usize> {
        let text = self.text.as_ref();
        let block = block.and_then(|block| text?.blocks().get(block));
        let last_row = self.height.saturating_sub(1);
        let Some(block) = block else {
            return self.key.gap_rows..=last_row;
        };
        let offset = self.key.gap_rows + self.head_rows;
        let end = block.end_row.min(text.map_or(0, |text| text.len()));
        offset + block.first_row..=(offset + end).saturating_sub(1)
    }

    fn block_at(&self, row: usize) -> Option<usize> {
        let row = row.checked_sub(self.key.gap_rows + self.head_rows)?;
        let mut blocks = self.text.as_ref()?.blocks().iter();
        blocks.position(|block| block.contains(row))
    }
}

impl Viewport {
    /// The rows of a stop within its entry; `None` if the entry has no rows.
    pub fn stop_rows(&mut self, input: &LayoutInput, stop: Stop) -> Option<RangeInclusive<usize>> {
        self.restore_evicted(input, stop.index);
        let layout = self.entry_layout(input, stop.index)?;
        (layout.height > 0).then(|| layout.stop_rows(stop.block))
    }

    /// The first row of a stop's own text: the label of a code block is not part of the code.
    pub fn first_text_row(&mut self, input: &LayoutInput, stop: Stop) -> Option<usize> {
        let rows = self.stop_rows(input, stop)?;
        let text = self.layout_at(stop.index)?.text.as_ref();
        let block = stop.block.and_then(|block| text?.blocks().get(block));
        let label_rows = match block {
            Some(block) if block.kind == BlockKind::Code => block.first_text_row - block.first_row,
            _ => 0,
        };
        Some((*rows.start() + label_rows).min(*rows.end()))
    }

    /// Whether a stop is a code block or a table; `None` for an entry.
    pub fn block_kind(&self, stop: Stop) -> Option<BlockKind> {
        let text = self.layout_at(stop.index)?.text.as_ref()?;
        Some(text.blocks().get(stop.block?)?.kind)
    }

    /// Whether a row belongs to the selected stop.
    pub fn is_at_stop(&self, position: RowPosition) -> bool {
        let Some(stop) = self.stop.filter(|stop| stop.index == position.index) else {
            return false;
        };
        let layout = self.layout_at(stop.index);
        layout.is_some_and(|layout| layout.stop_rows(stop.block).contains(&position.row))
    }

    /// The stop at a row on the screen.
    pub fn stop_at(&self, position: RowPosition) -> Option<Stop> {
        let layout = self.layout_at(position.index)?;
        Some(Stop {
            index: position.index,
            block: layout.block_at(position.row),
        })
    }

    /// The stop after or before `from`.
    pub fn next_stop(&mut self, input: &LayoutInput, from: Stop, step: isize) -> Option<Stop> {
        let index = from.index;
        let blocks = self.block_count(input, index);
        let next = match (step > 0, from.block) {
            (true, None) => Some(Some(0)).filter(|_| blocks > 0),
            (true, Some(block)) => Some(Some(block + 1)).filter(|_| block + 1 < blocks),
            (false, Some(block)) => Some(block.min(blocks).checked_sub(1)),
            (false, None) => None,
        };
        if let Some(block) = next {
            return Some(Stop { index, block });
        }
        let mut index = index;
        loop {
            index = index.checked_add_signed(step.signum())?;
            if index >= input.count() {
                return None;
            }
            if self.height_of(input, index) > 0 {
                break;
            }
        }
        let last_block = match step > 0 {
            true => None,
            false => self.block_count(input, index).checked_sub(1),
        };
        Some(Stop {
            index,
            block: last_block,
        })
    }

    fn block_count(&mut self, input: &LayoutInput, index: usize) -> usize {
        self.restore_evicted(input, index);
        self.entry_layout(input, index)
            .map_or(0, EntryLayout::block_count)
    }

    /// The last stop that begins in the view, or else the one at the top of the view.
    pub fn last_stop_in_view(&mut self, input: &LayoutInput, height: usize) -> Option<Stop> {
        let top = self.top_position(input, height);
        let visible = self.visible_rows(input, top, height);
        let mut entries = visible.iter().filter(|row| row.index < input.count());
        let begins_here = |viewport: &Self, position: &RowPosition| {
            let stop = viewport.stop_at(*position)?;
            let layout = viewport.layout_at(stop.index)?;
            (*layout.stop_rows(stop.block).start() == position.row).then_some(stop)
        };
        let last = entries
            .clone()
            .rev()
            .find_map(|position| begins_here(self, position));
        last.or_else(|| self.stop_at(*entries.next()?))
    }

    /// The user's message before or after the selected stop. If nothing is selected, the one before
    /// or after the top of the view, or before the end of a chat that follows its end.
    pub fn next_prompt(&mut self, input: &LayoutInput, height: usize, step: isize) -> Option<Stop> {
        let is_prompt = |index: &usize| {
            let entry = input.entry(*index);
            entry.is_some_and(|entry| matches!(entry.body, EntryBody::Prompt { .. }))
        };
        // At the end of the chat, the last message is the previous one even if it is in view.
        let from = match self.stop {
            Some(stop) if stop.block.is_some() && step < 0 => stop.index + 1,
            Some(stop) => stop.index,
            None if self.follows_end => input.count(),
            None => {
                // In the middle of a message, its own beginning is the previous one.
                let top = self.top_position(input, height);
                top.index + usize::from(step < 0 && top.row > 0)
            }
        };
        let found = match step < 0 {
            true => (0..from.min(input.count())).rev().find(is_prompt),
            false => (from + 1..input.count()).find(is_prompt),
        };
        found.map(Stop::at_entry)
    }

    /// Selects a stop and scrolls it to the top of the view, so that the text after it is visible.
    pub fn go_to_top(&mut self, input: &LayoutInput, height: usize, stop: Stop) {
        self.stop = Some(stop);
        let Some(rows) = self.stop_rows(input, stop) else {
            return;
        };
        let first = RowPosition {
            index: stop.index,
            row: *rows.start(),
        };
        let bottom = self.bottom_position(input, height);
        self.scroll_to(input, first.min(bottom), first >= bottom);
    }

    /// Selects a stop and scrolls it into view.
    pub fn go_to_stop(&mut self, input: &LayoutInput, height: usize, stop: Stop) {
        self.stop = Some(stop);
        if let Some(rows) = self.stop_rows(input, stop) {
            self.reveal(input, height, stop.index, rows);
        }
    }
}
