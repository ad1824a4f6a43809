//! Extending the selection, leaving it, and unfolding chips.

use super::{Editor, EditorLine, Motion, TextPosition};

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

    /// Whether the text has a chip that [`Edit::Unfold`] would unfold.
    pub fn has_chip(&self) -> bool {
        self.chip_to_unfold().is_some()
    }

    /// Unfolds a chip and puts the cursor after its text.
    pub(super) fn unfold(&mut self) -> bool {
        let Some((start, chip)) = self.chip_to_unfold() else {
            return false;
        };
        let text = self.chips.pasted(chip).unwrap_or_default().to_owned();
        let text = self.chips.raw(&text).into_owned();
        let end = start.after(chip.encode_utf8(&mut [0; 4]));
        self.anchor = None;
        self.replace(start..end, &text, false);
        true
    }

    /// The chip that ends at the cursor, else the next one, else the last one before.
    pub(super) fn chip_to_unfold(&self) -> Option<(TextPosition, char)> {
        if self.chips.is_empty() {
            return None;
        }
        let in_line = |(line, content): (usize, &EditorLine)| {
            let chips = content.raw.char_indices();
            let chips = chips.filter(|(_, c)| self.chips.pasted(*c).is_some());
            let at = move |(byte, c)| (TextPosition { line, byte }, c);
            chips.map(at).collect::<Vec<_>>()
        };
        let all: Vec<_> = self.lines.iter().enumerate().flat_map(in_line).collect();
        let ends_here = |(start, c): &&(TextPosition, char)| {
            start.after(c.encode_utf8(&mut [0; 4])) == self.cursor
        };
        let here = all.iter().find(ends_here);
        let next = || all.iter().find(|(start, _)| *start >= self.cursor);
        here.or_else(next).or(all.last()).copied()
    }
}
