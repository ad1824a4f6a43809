//! Deleting, with and without the kill ring, and inserting killed text again.

use super::{Editor, Motion, PreviousEdit, TextPosition};
use std::ops::Range;

impl Editor {
    /// The selection, or else the range between the cursor and the target of `motion`.
    pub(super) fn range_to(&mut self, motion: Motion) -> Range<TextPosition> {
        if self.has_selection() {
            return self.selected_range();
        }
        let from = self.cursor;
        self.move_cursor(motion);
        let to = std::mem::replace(&mut self.cursor, from);
        from.min(to)..from.max(to)
    }

    pub(super) fn erase(&mut self, motion: Motion, previous: PreviousEdit) -> bool {
        let continues = previous == PreviousEdit::Erased && !self.has_selection();
        let range = self.range_to(motion);
        if range.is_empty() {
            return false;
        }
        self.replace(range, "", continues);
        self.previous = PreviousEdit::Erased;
        true
    }

    /// Deletes into the kill ring. Consecutive kills are yanked as one text.
    pub(super) fn kill(&mut self, motion: Motion, previous: PreviousEdit) -> bool {
        let continues = previous == PreviousEdit::Killed && !self.has_selection();
        let range = self.range_to(motion);
        if range.is_empty() {
            return false;
        }
        let is_left = range.end == self.cursor;
        let removed = self.replace(range, "", false);
        let bytes = self.chips.expanded_len(&removed);
        match continues {
            true => self.kills.join(&removed, bytes, is_left),
            false => self.kills.push(removed, bytes),
        }
        self.previous = PreviousEdit::Killed;
        true
    }

    pub(super) fn copy(&mut self) -> bool {
        let range = self.selected_range();
        if range.is_empty() {
            return false;
        }
        let text = self.raw_text(range);
        self.kills
            .push(text.clone(), self.chips.expanded_len(&text));
        true
    }

    pub(super) fn cut(&mut self) -> bool {
        self.copy() && {
            self.replace(self.selected_range(), "", false);
            true
        }
    }

    pub(super) fn yank(&mut self) -> bool {
        let Some(text) = self.kills.newest() else {
            return false;
        };
        self.replace(self.selected_range(), &text, false);
        self.previous = PreviousEdit::Yanked;
        true
    }

    /// Replaces the text that was just yanked. Undo restores it.
    pub(super) fn yank_earlier(&mut self) -> bool {
        let Some(yanked) = self.history.last_inserted() else {
            return false;
        };
        let Some(text) = self.kills.earlier() else {
            return false;
        };
        self.replace(yanked, &text, false);
        self.previous = PreviousEdit::Yanked;
        true
    }
}
