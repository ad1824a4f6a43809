//! Wraps text by grapheme cluster (UAX #29) with line breaks similar to UAX #14: at spaces and
//! after hyphens and slashes. Hangul words stay whole; Han and kana break anywhere except before
//! closing and after opening punctuation.

use super::grapheme::{cluster_width, clusters_forward, is_printable_ascii};
use crate::text::Clean;
use std::num::NonZeroU16;
use std::ops::{Range, RangeInclusive};

const NEVER_STARTS_ROW: &str = "、。，．・：；？！」』）】〉》〕］｝”’｡｣､ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ)]},.!?:;%…";
const NEVER_ENDS_ROW: &str = "「『（【〈《〔［｛“‘｢([{";

/// Splits `line`, which contains no `\n`, into rows at most `width` columns wide. The byte ranges
/// cover the whole line; trailing spaces of a row may exceed the width. Never splits a cluster; a
/// cluster wider than `width` gets a row of its own. An empty line is one empty row. O(len).
pub fn wrap_line(line: &str, width: NonZeroU16) -> Vec<Range<usize>> {
    let width = usize::from(width.get());
    let mut rows = RowFiller::new(width);
    if is_printable_ascii(line) {
        if line.len() > width {
            for offset in 0..line.len() {
                rows.push_cluster(offset, &line[offset..=offset], 1);
            }
        }
    } else {
        let mut offset = 0;
        for cluster in clusters_forward(line) {
            rows.push_cluster(offset, cluster, cluster_width(cluster));
            offset += cluster.len();
        }
    }
    rows.finish(line.len())
}

/// Like [`wrap_line`], for code, where columns are significant: a row is filled completely unless
/// there is a space in its last third.
pub fn wrap_code_line(line: &str, width: NonZeroU16) -> Vec<Range<usize>> {
    let width = usize::from(width.get());
    let mut rows = Vec::new();
    let (mut start, mut used_columns) = (0, 0);
    // The break after the last space in the last third of the row.
    let mut space_break: Option<BreakCandidate> = None;
    let mut offset = 0;
    for cluster in clusters_forward(line) {
        let columns = cluster_width(cluster);
        if used_columns + columns > width && offset > start {
            let here = BreakCandidate {
                offset,
                used_columns,
            };
            let end = space_break.take().unwrap_or(here);
            rows.push(start..end.offset);
            (start, used_columns) = (end.offset, used_columns - end.used_columns);
        }
        used_columns += columns;
        offset += cluster.len();
        if cluster == " " && 3 * used_columns >= 2 * width {
            space_break = Some(BreakCandidate {
                offset,
                used_columns,
            });
        }
    }
    rows.push(start..line.len());
    rows
}

/// The rows of the line that `row` belongs to. `continues_line` returns whether a row continues the
/// line of the row before it.
pub fn line_rows(row: usize, continues_line: impl Fn(usize) -> bool) -> RangeInclusive<usize> {
    let mut first = row;
    while first > 0 && continues_line(first) {
        first -= 1;
    }
    let mut last = row;
    while continues_line(last + 1) {
        last += 1;
    }
    first..=last
}

/// Splits `text` at line breaks and wraps each line; the ranges exclude the `\n`. Never empty.
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

/// Wraps clean text into rows.
pub fn wrapped_rows(text: &Clean, columns: u16) -> Vec<String> {
    let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
    let text = text.as_str();
    let rows = wrap(text, columns).into_iter();
    rows.map(|row| text[row].to_owned()).collect()
}

#[derive(Clone, Copy)]
struct BreakCandidate {
    offset: usize,
    /// Columns of the row before the break, spaces included.
    used_columns: usize,
}

#[derive(Clone, Copy, Default)]
struct PreviousCluster {
    is_space: bool,
    /// Han, kana or emoji: wide but not Hangul.
    is_ideographic: bool,
    is_opening: bool,
    /// A dash, or a hyphen after a letter or digit, as in words but not in `--flag`.
    is_hyphen: bool,
    is_slash: bool,
    is_alphanumeric: bool,
}

/// Fills rows greedily. Remembers the last possible break and the columns before it, so each
/// cluster is examined once.
struct RowFiller {
    width: usize,
    rows: Vec<Range<usize>>,
    start: usize,
    used_columns: usize,
    candidate: Option<BreakCandidate>,
    /// The last break after a slash, used only if the row has no other, so that URLs stay whole if
    /// possible.
    slash_candidate: Option<BreakCandidate>,
    previous: PreviousCluster,
    has_visible_text: bool,
}

impl RowFiller {
    fn new(width: usize) -> Self {
        Self {
            width,
            rows: Vec::new(),
            start: 0,
            used_columns: 0,
            candidate: None,
            slash_candidate: None,
            previous: PreviousCluster::default(),
            has_visible_text: false,
        }
    }

    fn push_cluster(&mut self, offset: usize, cluster: &str, columns: usize) {
        if cluster == " " {
            self.used_columns += columns;
            self.previous = PreviousCluster {
                is_space: true,
                ..PreviousCluster::default()
            };
            return;
        }
        let first = cluster.chars().next().unwrap_or(' ');
        let is_ideographic = is_ideographic(first, columns);
        let is_alphanumeric = first.is_alphanumeric();
        // Do not break right after the indentation, unless not even the next cluster fits.
        if self.has_visible_text && self.can_break_before(first, is_ideographic) {
            let here = Some(BreakCandidate {
                offset,
                used_columns: self.used_columns,
            });
            if self.previous.is_slash {
                self.slash_candidate = here;
            } else {
                self.candidate = here;
            }
        }
        if self.used_columns + columns > self.width && offset > self.start {
            self.end_row(offset);
            if self.used_columns + columns > self.width && offset > self.start {
                self.end_row(offset);
            }
        }
        self.used_columns += columns;
        self.has_visible_text = true;
        self.previous = PreviousCluster {
            is_space: false,
            is_ideographic,
            is_opening: !is_alphanumeric && NEVER_ENDS_ROW.contains(first),
            is_hyphen: matches!(first, '-' | '\u{2010}') && self.previous.is_alphanumeric
                || matches!(first, '–' | '—'),
            is_slash: matches!(first, '/' | '\\'),
            is_alphanumeric,
        };
    }

    fn can_break_before(&self, first: char, is_ideographic: bool) -> bool {
        let previous = self.previous;
        if previous.is_space {
            return true;
        }
        if previous.is_hyphen {
            return first.is_alphabetic();
        }
        if previous.is_slash {
            return first.is_alphabetic() || is_ideographic;
        }
        (previous.is_ideographic || is_ideographic)
            && !previous.is_opening
            && !NEVER_STARTS_ROW.contains(first)
    }

    /// Ends the row at the last possible break, or at `offset` if there is none.
    fn end_row(&mut self, offset: usize) {
        let here = BreakCandidate {
            offset,
            used_columns: self.used_columns,
        };
        let end = self
            .candidate
            .take()
            .or(self.slash_candidate)
            .unwrap_or(here);
        self.slash_candidate = self
            .slash_candidate
            .filter(|slash| slash.offset > end.offset);
        if let Some(slash) = &mut self.slash_candidate {
            slash.used_columns -= end.used_columns;
        }
        self.rows.push(self.start..end.offset);
        self.start = end.offset;
        self.used_columns -= end.used_columns;
        self.has_visible_text = end.offset < offset;
    }

    fn finish(mut self, length: usize) -> Vec<Range<usize>> {
        self.rows.push(self.start..length);
        self.rows
    }
}

fn is_ideographic(first: char, columns: usize) -> bool {
    let is_hangul = matches!(first, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}');
    columns == 2 && !is_hangul || matches!(first, '\u{FF61}'..='\u{FF9F}')
}
