//! A text editor: lines, a cursor that moves by grapheme cluster, soft wrap. Keeps raw text
//! and sanitizes only what is drawn. An edit re-wraps one line.

mod completion;
mod edit;
mod line_view;

pub use edit::Edit;

use crate::text::grapheme::{clusters, truncate_to_width, width};
use crate::tui::widgets::wrapped_line::{FieldDisplay, WrappedLine};
use unicode_segmentation::GraphemeCursor;

#[derive(Debug, Clone, Default)]
struct EditorLine {
    raw: String,
    wrapped: Option<WrappedLine>,
}

#[derive(Debug, Clone)]
pub struct Editor {
    lines: Vec<EditorLine>,
    line: usize,
    /// Byte offset in the raw line, always at a cluster boundary.
    byte: usize,
    /// The column that Up and Down aim for.
    goal_column: Option<usize>,
    /// First visible row: line, and row within it.
    top: (usize, usize),
    /// First visible byte of a one-line field.
    left: usize,
    columns: u16,
    display: FieldDisplay,
}

/// The visible rows, and the cursor's column and row among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorView {
    pub rows: Vec<String>,
    pub cursor: (u16, u16),
}

impl Default for Editor {
    fn default() -> Self {
        Self::new("")
    }
}

impl Editor {
    pub fn new(text: &str) -> Self {
        let mut this = Self {
            lines: vec![EditorLine::default()],
            line: 0,
            byte: 0,
            goal_column: None,
            top: (0, 0),
            left: 0,
            columns: 80,
            display: FieldDisplay::Readable,
        };
        this.insert(text);
        this
    }

    /// An editor of a text that the user approves: the cursor is before the first character, and
    /// different texts never look the same.
    pub fn for_approval(text: &str) -> Self {
        Self {
            line: 0,
            byte: 0,
            display: FieldDisplay::for_approval(text),
            ..Self::new(text)
        }
    }

    pub fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| line.raw.as_str());
        lines.collect::<Vec<_>>().join("\n")
    }
    pub fn is_empty(&self) -> bool {
        self.one_line() == Some("")
    }

    pub fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.raw.trim().is_empty())
    }

    /// The text if it is a single line.
    pub fn one_line(&self) -> Option<&str> {
        (self.lines.len() == 1).then(|| self.lines[0].raw.as_str())
    }

    pub fn take(&mut self) -> String {
        let text = self.text();
        *self = Self {
            columns: self.columns,
            display: std::mem::take(&mut self.display),
            ..Self::new("")
        };
        text
    }

    pub fn set(&mut self, text: &str) {
        self.take();
        self.insert(text);
    }

    /// Inserts at the cursor; `\r\n` and `\r` count as newlines.
    pub fn insert(&mut self, text: &str) {
        self.goal_column = None;
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut parts = text.split('\n');
        let first = parts.next().unwrap_or_default();
        let tail = self.lines[self.line].raw.split_off(self.byte);
        self.lines[self.line].raw.push_str(first);
        // Avoid re-wrapping a whole long line for one character.
        let is_single_line = !text.contains('\n');
        let at = self.byte;
        let spliced = |shown: &mut WrappedLine| is_single_line && shown.splice(at..at, first);
        self.lines[self.line]
            .wrapped
            .take_if(|shown| !spliced(shown));
        let mut added: Vec<EditorLine> = parts
            .map(|part| EditorLine {
                raw: part.to_owned(),
                wrapped: None,
            })
            .collect();
        let last = added.len();
        let line = added.last_mut().unwrap_or(&mut self.lines[self.line]);
        self.byte = line.raw.len();
        line.raw.push_str(&tail);
        let after = self.line + 1;
        self.lines.splice(after..after, added);
        self.line += last;
        self.snap_to_cluster_end();
    }

    /// Moves the cursor to the next cluster boundary: inserted text may have joined its
    /// neighbors.
    fn snap_to_cluster_end(&mut self) {
        let raw = &self.lines[self.line].raw;
        let mut cursor = GraphemeCursor::new(self.byte, raw.len(), true);
        if !cursor.is_boundary(raw, 0).unwrap_or(true) {
            self.byte = cursor
                .next_boundary(raw, 0)
                .ok()
                .flatten()
                .unwrap_or(raw.len());
        }
    }

    /// Applies an edit. Returns false if nothing changed, such as Up on the first row; the
    /// caller may then do something else.
    pub fn edit(&mut self, edit: Edit) -> bool {
        if !matches!(edit, Edit::Up | Edit::Down) {
            self.goal_column = None;
        }
        match edit {
            Edit::Left => self.step_left(),
            Edit::Right => self.step_right(),
            Edit::Up => self.move_vertically(-1),
            Edit::Down => self.move_vertically(1),
            Edit::WordLeft => self.word_left(),
            Edit::WordRight => self.word_right(),
            Edit::LineStart => std::mem::replace(&mut self.byte, 0) > 0,
            Edit::LineEnd => {
                self.byte = self.lines[self.line].raw.len();
                true
            }
            Edit::Backspace => self.delete(Self::step_left),
            Edit::DeleteWordLeft => self.delete(Self::word_left),
            Edit::Delete => self.delete(Self::step_right),
            Edit::DeleteToStart => self.delete(|this| this.edit(Edit::LineStart)),
            Edit::DeleteToEnd => self.delete(|this| {
                if this.byte == this.lines[this.line].raw.len() {
                    return this.step_right();
                }
                this.edit(Edit::LineEnd)
            }),
            Edit::Newline => {
                self.insert("\n");
                true
            }
        }
    }

    fn step_left(&mut self) -> bool {
        if self.byte > 0 {
            let before = &self.lines[self.line].raw[..self.byte];
            self.byte -= clusters(before).next_back().map_or(0, str::len);
            return true;
        }
        if self.line == 0 {
            return false;
        }
        self.line -= 1;
        self.byte = self.lines[self.line].raw.len();
        true
    }

    fn step_right(&mut self) -> bool {
        let raw = &self.lines[self.line].raw;
        if let Some(cluster) = clusters(&raw[self.byte..]).next() {
            self.byte += cluster.len();
            return true;
        }
        if self.line + 1 == self.lines.len() {
            return false;
        }
        self.line += 1;
        self.byte = 0;
        true
    }

    fn word_left(&mut self) -> bool {
        if self.byte == 0 {
            return self.step_left();
        }
        let before = &self.lines[self.line].raw[..self.byte];
        let word = before.trim_end_matches(|c: char| !c.is_alphanumeric());
        let start = word.trim_end_matches(char::is_alphanumeric);
        self.byte = start.len();
        self.snap_to_cluster_start();
        true
    }

    fn word_right(&mut self) -> bool {
        let raw = &self.lines[self.line].raw;
        if self.byte == raw.len() {
            return self.step_right();
        }
        let after = &raw[self.byte..];
        let word = after.trim_start_matches(|c: char| !c.is_alphanumeric());
        let end = word.trim_start_matches(char::is_alphanumeric);
        self.byte = raw.len() - end.len();
        self.snap_to_cluster_end();
        true
    }

    fn snap_to_cluster_start(&mut self) {
        let raw = &self.lines[self.line].raw;
        let mut cursor = GraphemeCursor::new(self.byte, raw.len(), true);
        if !cursor.is_boundary(raw, 0).unwrap_or(true) {
            self.byte = cursor.prev_boundary(raw, 0).ok().flatten().unwrap_or(0);
        }
    }

    /// Deletes from the cursor to where `step` moves it.
    fn delete(&mut self, step: impl FnOnce(&mut Self) -> bool) -> bool {
        let from = (self.line, self.byte);
        if !step(self) {
            return false;
        }
        let (start, end) = (
            from.min((self.line, self.byte)),
            from.max((self.line, self.byte)),
        );
        let tail = self.lines[end.0].raw.split_off(end.1);
        self.lines[start.0].raw.truncate(start.1);
        self.lines[start.0].raw.push_str(&tail);
        let is_single_line = start.0 == end.0;
        let spliced = |shown: &mut WrappedLine| is_single_line && shown.splice(start.1..end.1, "");
        self.lines[start.0].wrapped.take_if(|shown| !spliced(shown));
        self.lines.drain(start.0 + 1..=end.0);
        (self.line, self.byte) = start;
        self.snap_to_cluster_end();
        true
    }

    /// Moves by visual rows.
    fn move_vertically(&mut self, step: isize) -> bool {
        let (row, column) = self.cursor_in_line();
        let goal = *self.goal_column.get_or_insert(column);
        let (line, row) = match (step < 0, row) {
            (true, 0) if self.line == 0 => return false,
            (true, 0) => (
                self.line - 1,
                self.wrapped_line(self.line - 1).rows.len() - 1,
            ),
            (true, row) => (self.line, row - 1),
            (false, row) if row + 1 < self.wrapped_line(self.line).rows.len() => {
                (self.line, row + 1)
            }
            (false, _) if self.line + 1 == self.lines.len() => return false,
            (false, _) => (self.line + 1, 0),
        };
        self.line = line;
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
        self.byte = shown.raw_byte(byte);
        self.snap_to_cluster_end();
        true
    }

    fn wrapped_line(&mut self, line: usize) -> &WrappedLine {
        let (columns, display) = (self.columns, &self.display);
        let line = &mut self.lines[line];
        if line
            .wrapped
            .as_ref()
            .is_some_and(|shown| shown.columns != columns)
        {
            line.wrapped = None;
        }
        line.wrapped
            .get_or_insert_with(|| WrappedLine::new(&line.raw, columns, display))
    }

    /// Row and column of the cursor within its line.
    fn cursor_in_line(&mut self) -> (usize, usize) {
        let (line, at) = (self.line, self.byte);
        let shown = self.wrapped_line(line);
        let byte = shown.shown_byte(at);
        let row = shown
            .rows
            .partition_point(|row| row.start <= byte)
            .saturating_sub(1);
        (row, width(&shown.text[shown.rows[row].start..byte]))
    }

    /// Number of rows at this width, counted up to `max`.
    pub fn height(&mut self, columns: u16, max: usize) -> usize {
        self.columns = text_columns(columns);
        let mut rows = 0;
        for line in 0..self.lines.len() {
            rows += self.wrapped_line(line).rows.len();
            if rows >= max {
                return max;
            }
        }
        rows
    }

    /// The visible rows, scrolled so that the cursor is among them.
    pub fn view(&mut self, columns: u16, height: u16) -> EditorView {
        self.columns = text_columns(columns);
        let height = usize::from(height.max(1));
        let (row, column) = self.cursor_in_line();
        let cursor = (self.line, row);
        self.top.0 = self.top.0.min(self.lines.len() - 1);
        self.top.1 = self.top.1.min(self.wrapped_line(self.top.0).rows.len() - 1);
        let earliest = self.rows_above(cursor, height - 1);
        self.top = self.top.min(cursor).max(earliest);
        let (mut rows, mut y) = (Vec::new(), 0);
        let (mut line, mut first) = self.top;
        while line < self.lines.len() && rows.len() < height {
            let shown = self.wrapped_line(line);
            for (index, range) in shown.rows.iter().enumerate().skip(first) {
                if rows.len() == height {
                    break;
                }
                if (line, index) == cursor {
                    y = rows.len();
                }
                rows.push(shown.text[range.clone()].to_owned());
            }
            line += 1;
            first = 0;
        }
        let x = column.min(usize::from(columns.saturating_sub(1)));
        EditorView {
            rows,
            cursor: (x as u16, y as u16),
        }
    }

    /// The position `count` rows above `from`, or the first row.
    fn rows_above(&mut self, from: (usize, usize), count: usize) -> (usize, usize) {
        let (mut line, mut row) = from;
        for _ in 0..count {
            if row > 0 {
                row -= 1;
            } else if line > 0 {
                line -= 1;
                row = self.wrapped_line(line).rows.len() - 1;
            } else {
                break;
            }
        }
        (line, row)
    }
}

/// Reserves one column for the cursor after a full row.
fn text_columns(columns: u16) -> u16 {
    columns.saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests;
