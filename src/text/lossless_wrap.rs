//! Text as rows from which it can be rebuilt, for whatever somebody is to agree to: no
//! space is lost at the end of a row, and a row that goes on with the one above cannot
//! pass for a line of its own.

use super::grapheme::{cluster_width, clusters_forward};
use std::num::NonZeroU16;
use std::ops::Range;

/// Columns left of each row, for the sign of one that goes on with the row above.
pub const MARGIN_COLUMNS: u16 = 2;

/// The rows of a text, each with its margin.
#[derive(Debug, Clone, Default)]
pub struct LosslessRows {
    pub rows: Vec<String>,
    /// The byte at which each row begins.
    pub starts: Vec<usize>,
}

/// Wraps clean `text` at its line ends and into `columns` columns with the margin.
/// `signs` stand in the margin of rows that follow one that ended behind a space, at its
/// last column, or one column before it. O(len).
pub fn lossless_rows(text: &str, columns: u16, signs: [&str; 3]) -> LosslessRows {
    let columns = columns.saturating_sub(MARGIN_COLUMNS);
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let [space, full, short] = signs;
    let mut laid = LosslessRows::default();
    let mut start = 0;
    for line in text.split('\n') {
        for (joint, row) in lossless_line_rows(line, columns) {
            let sign = match joint {
                RowJoin::LineStart => " ",
                RowJoin::AfterSpace => space,
                RowJoin::AfterFullRow => full,
                RowJoin::AfterShortRow => short,
            };
            laid.starts.push(start + row.start);
            laid.rows.push(format!("{sign} {}", &line[row]));
        }
        start += line.len() + 1;
    }
    laid
}

/// A place where the row may end, and the columns before it.
#[derive(Clone, Copy)]
struct LosslessBreak {
    at: usize,
    used: usize,
}

/// How a row of [`exact_line`] follows the one above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowJoin {
    /// It begins a line.
    LineStart,
    /// Exactly one space ends the row above.
    AfterSpace,
    /// The row above is full, blanks at its end included.
    AfterFullRow,
    /// The last column of the row above is empty: a wide cluster did not fit.
    AfterShortRow,
}

/// Splits `line` into rows at most `width` columns wide such that the line can be
/// rebuilt from the rows and their joints. No space hangs beyond the width, and a row
/// ends early only behind a single space in its last third. O(len).
fn lossless_line_rows(line: &str, width: NonZeroU16) -> Vec<(RowJoin, Range<usize>)> {
    let width = usize::from(width.get());
    let mut rows = Vec::new();
    let (mut joint, mut start, mut used) = (RowJoin::LineStart, 0, 0);
    // Spaces right before `at`, and the last place behind a single one.
    let mut spaces = 0;
    let mut single: Option<LosslessBreak> = None;
    let mut at = 0;
    for cluster in clusters_forward(line) {
        let columns = cluster_width(cluster);
        if cluster != " " && spaces == 1 && at > start + 1 && 3 * used >= 2 * width {
            single = Some(LosslessBreak { at, used });
        }
        spaces = if cluster == " " { spaces + 1 } else { 0 };
        if used + columns > width && at > start {
            let (end, next) = match single.take() {
                Some(single) => (single, RowJoin::AfterSpace),
                None if used < width => (LosslessBreak { at, used }, RowJoin::AfterShortRow),
                None => (LosslessBreak { at, used }, RowJoin::AfterFullRow),
            };
            rows.push((joint, start..end.at));
            (joint, start, used) = (next, end.at, used - end.used);
        }
        used += columns;
        at += cluster.len();
    }
    rows.push((joint, start..line.len()));
    rows
}
