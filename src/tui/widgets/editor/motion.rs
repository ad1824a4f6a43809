//! Movements of the cursor, by grapheme cluster.

use super::chips::is_chip_char;
use super::{Editor, Motion};
use crate::text::grapheme::{clusters, truncate_to_width};

impl Editor {
    /// Moves the cursor. Returns false if it cannot move, such as up from the first row.
    pub(super) fn move_cursor(&mut self, motion: Motion) -> bool {
        if !matches!(motion, Motion::Up | Motion::Down) {
            self.goal_column = None;
        }
        let before = self.cursor;
        match motion {
            Motion::Left => self.step_left(),
            Motion::Right => self.step_right(),
            Motion::Up => return self.move_vertically(-1),
            Motion::Down => return self.move_vertically(1),
            Motion::WordLeft => self.word_left(),
            Motion::WordRight => self.word_right(),
            Motion::LineStart => self.cursor.byte = 0,
            Motion::LineEnd => self.cursor.byte = self.lines[self.cursor.line].raw.len(),
            Motion::TextStart => self.cursor = Default::default(),
            Motion::TextEnd => self.cursor = self.end(),
        }
        self.cursor != before
    }

    fn step_left(&mut self) {
        if self.cursor.byte > 0 {
            let before = &self.lines[self.cursor.line].raw[..self.cursor.byte];
            self.cursor.byte -= clusters(before).next_back().map_or(0, str::len);
        } else if self.cursor.line > 0 {
            self.cursor.line -= 1;
            self.cursor.byte = self.lines[self.cursor.line].raw.len();
        }
    }

    fn step_right(&mut self) {
        let after = &self.lines[self.cursor.line].raw[self.cursor.byte..];
        if let Some(cluster) = clusters(after).next() {
            self.cursor.byte += cluster.len();
        } else if self.cursor.line + 1 < self.lines.len() {
            self.cursor.line += 1;
            self.cursor.byte = 0;
        }
    }

    fn word_left(&mut self) {
        if self.cursor.byte == 0 {
            return self.step_left();
        }
        let before = &self.lines[self.cursor.line].raw[..self.cursor.byte];
        let word = before.trim_end_matches(is_between_words);
        // A chip is a word by itself.
        let start = match word.strip_suffix(is_chip_char) {
            Some(start) => start,
            None => word.trim_end_matches(char::is_alphanumeric),
        };
        self.cursor.byte = start.len();
        self.snap_to_cluster_start();
    }

    fn word_right(&mut self) {
        let raw = &self.lines[self.cursor.line].raw;
        if self.cursor.byte == raw.len() {
            return self.step_right();
        }
        let word = raw[self.cursor.byte..].trim_start_matches(is_between_words);
        let rest = match word.strip_prefix(is_chip_char) {
            Some(rest) => rest,
            None => word.trim_start_matches(char::is_alphanumeric),
        };
        self.cursor.byte = raw.len() - rest.len();
        self.snap_to_cluster_end();
    }

    /// Moves by visual rows.
    fn move_vertically(&mut self, step: isize) -> bool {
        let (row, column) = self.cursor_in_line();
        let goal = *self.goal_column.get_or_insert(column);
        let before = self.cursor;
        let line = before.line;
        let (line, row) = match (step < 0, row) {
            (true, 0) if line == 0 => return false,
            (true, 0) => (line - 1, self.wrapped_line(line - 1).rows.len() - 1),
            (true, row) => (line, row - 1),
            (false, row) if row + 1 < self.wrapped_line(line).rows.len() => (line, row + 1),
            (false, _) if line + 1 == self.lines.len() => return false,
            (false, _) => (line + 1, 0),
        };
        self.cursor.line = line;
        let shown = self.wrapped_line(line);
        let range = shown.rows[row].clone();
        let last = row + 1 == shown.rows.len();
        let mut byte = range.start + truncate_to_width(&shown.text[range.clone()], goal).len();
        // The end of a soft-wrapped row is the start of the next row.
        if byte == range.end && !last {
            byte = range.start
                + clusters(&shown.text[range.clone()])
                    .next_back()
                    .map_or(0, |cluster| range.len() - cluster.len());
        }
        self.cursor.byte = shown.raw_byte(byte);
        self.snap_to_cluster_end();
        // The label of a chip may fill the row, so that the cursor would not leave the chip.
        if step > 0 && self.cursor <= before {
            self.step_right();
        } else if step < 0 && self.cursor >= before {
            self.step_left();
        }
        true
    }
}

fn is_between_words(c: char) -> bool {
    !c.is_alphanumeric() && !is_chip_char(c)
}
