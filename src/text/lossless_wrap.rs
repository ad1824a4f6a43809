//! Wraps text so that it can be reconstructed from its rows, for text the user must approve: no
//! trailing space is lost, and a continuation row cannot pass for a line of its own.

use super::grapheme::{cluster_width, clusters_forward};
use std::num::NonZeroU16;
use std::ops::Range;

/// Columns left of each row, for the sign that marks a continuation.
pub const MARGIN_COLUMNS: u16 = 2;

/// The rows of a text, each including its margin.
#[derive(Debug, Clone, Default)]
pub struct LosslessRows {
    pub rows: Vec<String>,
    /// The byte offset at which each row begins.
    pub starts: Vec<usize>,
}

/// Splits sanitized `text` at line breaks and wraps it into `columns` columns, margin included.
/// `signs` mark a row whose predecessor ended after a space, at its last column, or one column
/// short of it. O(len).
pub fn lossless_rows(text: &str, columns: u16, signs: [&str; 3]) -> LosslessRows {
    let columns = columns.saturating_sub(MARGIN_COLUMNS);
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let [space, full, short] = signs;
    let mut wrapped = LosslessRows::default();
    let mut start = 0;
    for line in text.split('\n') {
        for (join, row) in lossless_line_rows(line, columns) {
            let sign = match join {
                RowJoin::LineStart => " ",
                RowJoin::AfterSpace => space,
                RowJoin::AfterFullRow => full,
                RowJoin::AfterShortRow => short,
            };
            wrapped.starts.push(start + row.start);
            wrapped.rows.push(format!("{sign} {}", &line[row]));
        }
        start += line.len() + 1;
    }
    wrapped
}

/// A possible end of the row, and the columns used up to it.
#[derive(Clone, Copy)]
struct LosslessBreak {
    at: usize,
    used: usize,
}

/// How a row of [`lossless_line_rows`] continues the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowJoin {
    LineStart,
    /// The previous row ends in exactly one space.
    AfterSpace,
    /// The previous row is full, trailing blanks included.
    AfterFullRow,
    /// The last column of the previous row is empty: a wide cluster did not fit.
    AfterShortRow,
}

/// Splits `line` into rows at most `width` columns wide, such that the rows and their joins
/// reconstruct it. No space hangs beyond the width, and a row ends early only after a single space
/// in its last third. O(len).
pub fn lossless_line_rows(line: &str, width: NonZeroU16) -> Vec<(RowJoin, Range<usize>)> {
    let width = usize::from(width.get());
    let mut rows = Vec::new();
    let (mut join, mut start, mut used) = (RowJoin::LineStart, 0, 0);
    // Spaces directly before `at`, and the last break after a single space.
    let mut spaces = 0;
    let mut space_break: Option<LosslessBreak> = None;
    let mut at = 0;
    for cluster in clusters_forward(line) {
        let columns = cluster_width(cluster);
        if cluster != " " && spaces == 1 && at > start + 1 && 3 * used >= 2 * width {
            space_break = Some(LosslessBreak { at, used });
        }
        spaces = if cluster == " " { spaces + 1 } else { 0 };
        if used + columns > width && at > start {
            let (end, next) = match space_break.take() {
                Some(space_break) => (space_break, RowJoin::AfterSpace),
                None if used < width => (LosslessBreak { at, used }, RowJoin::AfterShortRow),
                None => (LosslessBreak { at, used }, RowJoin::AfterFullRow),
            };
            rows.push((join, start..end.at));
            (join, start, used) = (next, end.at, used - end.used);
        }
        used += columns;
        at += cluster.len();
    }
    rows.push((join, start..line.len()));
    rows
}
