//! Wraps text so that it can be reconstructed from its rows, for text the user must approve: no
//! trailing space is lost, and a continuation row cannot pass for a line of its own.

use super::grapheme::{cluster_width, clusters_forward};
use std::num::NonZeroU16;
use std::ops::Range;

/// Columns to the left of each row, for the marker of a continuation row.
pub const MARGIN_COLUMNS: u16 = 2;

/// The rows of a text, each including its margin.
#[derive(Debug, Clone, Default)]
pub struct LosslessRows {
    pub rows: Vec<String>,
    /// The byte offset at which each row begins.
    pub starts: Vec<usize>,
}

/// Splits sanitized `text` at line breaks and wraps it into `columns` columns, margin included.
/// The margin of a continuation row shows how the previous row ended: `markers` are the markers after
/// a row that ends in a space, a full row, and a row that is one column short. O(len).
pub fn lossless_rows(text: &str, columns: u16, markers: [&str; 3]) -> LosslessRows {
    let columns = columns.saturating_sub(MARGIN_COLUMNS);
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let [after_space, after_full_row, after_short_row] = markers;
    let mut wrapped = LosslessRows::default();
    let mut start = 0;
    for line in text.split('\n') {
        for (join, row) in lossless_line_rows(line, columns) {
            let marker = match join {
                RowJoin::LineStart => " ",
                RowJoin::AfterSpace => after_space,
                RowJoin::AfterFullRow => after_full_row,
                RowJoin::AfterShortRow => after_short_row,
            };
            wrapped.starts.push(start + row.start);
            wrapped.rows.push(format!("{marker} {}", &line[row]));
        }
        start += line.len() + 1;
    }
    wrapped
}

/// A possible end of the row, and the number of columns that the row then uses.
#[derive(Clone, Copy)]
struct LosslessBreak {
    offset: usize,
    used_columns: usize,
}

/// How a row of [`lossless_line_rows`] continues the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowJoin {
    LineStart,
    /// The previous row ends in exactly one space.
    AfterSpace,
    /// The previous row is full, trailing spaces included.
    AfterFullRow,
    /// The last column of the previous row is empty: a wide cluster did not fit.
    AfterShortRow,
}

/// Splits `line` into rows at most `width` columns wide, from which it can be reconstructed. No
/// space extends beyond the width. A row ends early only after a single space in its last third, or
/// one column early before a wide cluster. O(len).
pub fn lossless_line_rows(line: &str, width: NonZeroU16) -> Vec<(RowJoin, Range<usize>)> {
    let width = usize::from(width.get());
    let mut rows = Vec::new();
    let (mut join, mut start, mut used_columns) = (RowJoin::LineStart, 0, 0);
    // Spaces directly before `offset`.
    let mut trailing_spaces = 0;
    // The last break after a single space.
    let mut space_break: Option<LosslessBreak> = None;
    let mut offset = 0;
    for cluster in clusters_forward(line) {
        let columns = cluster_width(cluster);
        if cluster != " "
            && trailing_spaces == 1
            && offset > start + 1
            && 3 * used_columns >= 2 * width
        {
            space_break = Some(LosslessBreak {
                offset,
                used_columns,
            });
        }
        trailing_spaces = if cluster == " " {
            trailing_spaces + 1
        } else {
            0
        };
        if used_columns + columns > width && offset > start {
            let here = LosslessBreak {
                offset,
                used_columns,
            };
            let (end, next_join) = match space_break.take() {
                Some(space_break) => (space_break, RowJoin::AfterSpace),
                None if used_columns < width => (here, RowJoin::AfterShortRow),
                None => (here, RowJoin::AfterFullRow),
            };
            rows.push((join, start..end.offset));
            (join, start, used_columns) = (next_join, end.offset, used_columns - end.used_columns);
        }
        used_columns += columns;
        offset += cluster.len();
    }
    rows.push((join, start..line.len()));
    rows
}
