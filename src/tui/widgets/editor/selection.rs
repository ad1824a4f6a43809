//! Extending the selection, and leaving it.

use super::{Editor, Motion, TextPosition};

impl Editor {
    /// Moves the cursor. Left and Right move from a selection to its start or end.
    pub(super) fn move_or_collapse(&mut self, motion: Motion) -> bool {
        let range = self.selected_range();
        self.anchor = None;
        match motion {
            _ if range.is_empty() => self.move_cursor(motion),
            Motion::Left => {
                self.cursor = range.start;
                true
            }
            Motion::Right => {
                self.cursor = range.end;
                true
            }
            _ => {
                self.move_cursor(motion);
                true
            }
        }
    }

    pub(super) fn select(&mut self, motion: Motion) -> bool {
        let from = self.cursor;
        let has_moved = self.move_cursor(motion);
        if has_moved {
            self.anchor.get_or_insert(from);
        }
        has_moved
    }

    pub(super) fn select_all(&mut self) -> bool {
        self.goal_column = None;
        (self.anchor, self.cursor) = (Some(TextPosition::default()), self.end());
        !self.is_empty()
    }
}
