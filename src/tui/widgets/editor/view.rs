//! The visible part of the text: rows, cursor, selection and chips.

use super::{Editor, TextPosition};
use crate::text::grapheme::width;
use crate::tui::widgets::wrapped_line::WrappedLine;
use std::ops::Range;

/// The visible rows, and the cursor's column and row among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorView {
    pub rows: Vec<String>,
    pub cursor: (u16, u16),
    /// Parts of rows that look different, in drawing order.
    pub spans: Vec<EditorSpan>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorSpan {
    pub row: u16,
    pub column: u16,
    /// The part of the row; a space for a selected line break.
    pub text: String,
    pub kind: SpanKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Chip,
    Selected,
}

impl Editor {
    pub(super) fn wrapped_line(&mut self, line: usize) -> &WrappedLine {
        let (columns, display, chips) = (self.columns, &self.display, &self.chips);
        let line = &mut self.lines[line];
        line.wrapped.take_if(|shown| shown.columns != columns);
        line.wrapped
            .get_or_insert_with(|| WrappedLine::new(&line.raw, columns, display, chips))
    }

    /// Row and column of the cursor within its line.
    pub(super) fn cursor_in_line(&mut self) -> (usize, usize) {
        let TextPosition { line, byte } = self.cursor;
        let shown = self.wrapped_line(line);
        let byte = shown.shown_byte(byte);
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

    /// The number of the line with the cursor, and the number of lines.
    pub fn line_number(&self) -> (usize, usize) {
        (self.cursor.line + 1, self.lines.len())
    }

    /// The visible rows, scrolled so that the cursor is among them.
    pub fn view(&mut self, columns: u16, height: u16) -> EditorView {
        self.columns = text_columns(columns);
        let height = usize::from(height.max(1));
        let (row, column) = self.cursor_in_line();
        let cursor = (self.cursor.line, row);
        self.top.0 = self.top.0.min(self.lines.len() - 1);
        self.top.1 = self.top.1.min(self.wrapped_line(self.top.0).rows.len() - 1);
        let earliest = self.rows_above(cursor, height - 1);
        self.top = self.top.min(cursor).max(earliest);
        let selection = self.selected_range();
        let (mut rows, mut spans, mut y) = (Vec::new(), Vec::new(), 0);
        let (mut line, mut first) = self.top;
        while line < self.lines.len() && rows.len() < height {
            let selected = selected_bytes(&selection, line);
            let shown = self.wrapped_line(line);
            for (index, range) in shown.rows.iter().enumerate().skip(first) {
                if rows.len() == height {
                    break;
                }
                if (line, index) == cursor {
                    y = rows.len();
                }
                spans.extend(spans_of_row(shown, index, &selected, rows.len() as u16));
                rows.push(shown.text[range.clone()].to_owned());
            }
            line += 1;
            first = 0;
        }
        let x = column.min(usize::from(columns.saturating_sub(1)));
        EditorView {
            rows,
            cursor: (x as u16, y as u16),
            spans,
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

/// The selected bytes of a raw line. The end is `None` if its line break is selected, too.
fn selected_bytes(selection: &Range<TextPosition>, line: usize) -> Option<(usize, Option<usize>)> {
    let Range { start, end } = selection;
    if selection.is_empty() || line < start.line || line > end.line {
        return None;
    }
    let from = if line == start.line { start.byte } else { 0 };
    Some((from, (line == end.line).then_some(end.byte)))
}

fn spans_of_row(
    shown: &WrappedLine,
    index: usize,
    selected: &Option<(usize, Option<usize>)>,
    y: u16,
) -> Vec<EditorSpan> {
    let row = shown.rows[index].clone();
    let span = |part: Range<usize>, kind| {
        let part = part.start.max(row.start)..part.end.min(row.end);
        (part.start < part.end).then(|| EditorSpan {
            row: y,
            column: width(&shown.text[row.start..part.start]) as u16,
            text: shown.text[part].to_owned(),
            kind,
        })
    };
    let chips = shown.chips_in(row.clone());
    let mut spans: Vec<_> = chips
        .filter_map(|chip| span(chip, SpanKind::Chip))
        .collect();
    if let Some((from, to)) = selected {
        let from = shown.shown_byte(*from);
        let end = to.map_or(row.end, |to| shown.shown_byte(to));
        spans.extend(span(from..end, SpanKind::Selected));
        if to.is_none() && index + 1 == shown.rows.len() {
            spans.push(EditorSpan {
                row: y,
                column: width(&shown.text[row]) as u16,
                text: " ".to_owned(),
                kind: SpanKind::Selected,
            });
        }
    }
    spans
}

/// Reserves one column for the cursor after a full row.
fn text_columns(columns: u16) -> u16 {
    columns.saturating_sub(1).max(1)
}
