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
            Motion::BlankLeft => self.blank_left(),
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
        self.cursor.byte -= word_len(clusters(before).rev());
    }

    fn blank_left(&mut self) {
        if self.cursor.byte == 0 {
            return self.step_left();
        }
        let before = &self.lines[self.cursor.line].raw[..self.cursor.byte];
        let word = before.trim_end_matches(char::is_whitespace);
        let start = word.trim_end_matches(|c: char| !c.is_whitespace());
        self.cursor.byte = start.len();
        self.snap_to_cluster_start();
    }

    fn word_right(&mut self) {
        let raw = &self.lines[self.cursor.line].raw;
        if self.cursor.byte == raw.len() {
            return self.step_right();
        }
        self.cursor.byte += word_len(clusters(&raw[self.cursor.byte..]));
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

/// The length in bytes of the first word and of what is before it.
fn word_len<'a>(clusters: impl Iterator<Item = &'a str>) -> usize {
    let mut len = 0;
    let mut in_word = false;
    for cluster in clusters {
        match ClusterKind::of(cluster) {
            ClusterKind::BetweenWords if in_word => break,
            ClusterKind::BetweenWords => {}
            ClusterKind::Letter => in_word = true,
            ClusterKind::Word if in_word => break,
            ClusterKind::Word => return len + cluster.len(),
        }
        len += cluster.len();
    }
    len
}

/// What a cluster is to the keys that move by words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClusterKind {
    Letter,
    /// A word by itself: a chip or an emoji.
    Word,
    BetweenWords,
}

impl ClusterKind {
    fn of(cluster: &str) -> Self {
        let is_word = |c| is_chip_char(c) || is_emoji_char(c);
        match cluster.chars().next() {
            _ if cluster.contains(is_word) => Self::Word,
            Some(c) if c.is_alphanumeric() => Self::Letter,
            _ => Self::BetweenWords,
        }
    }
}

/// Whether a character makes its cluster an emoji: a pictograph, a flag letter, or the selector that
/// asks for an emoji.
fn is_emoji_char(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{FE0F}')
}
