//! Wraps text by grapheme cluster (UAX #29) with breaks like UAX #14: at spaces and after hyphens
//! and slashes. Hangul words stay whole; Han and kana break anywhere except before closing and
//! after opening punctuation.

use super::grapheme::{cluster_width, clusters_forward, is_printable_ascii};
use std::num::NonZeroU16;
use std::ops::Range;

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
            for at in 0..line.len() {
                rows.push_cluster(at, &line[at..=at], 1);
            }
        }
    } else {
        let mut at = 0;
        for cluster in clusters_forward(line) {
            rows.push_cluster(at, cluster, cluster_width(cluster));
            at += cluster.len();
        }
    }
    rows.finish(line.len())
}

/// Like [`wrap_line`], for code, where columns are significant: a row is filled completely unless
/// there is a space in its last third.
pub fn wrap_code_line(line: &str, width: NonZeroU16) -> Vec<Range<usize>> {
    let width = usize::from(width.get());
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    // The break after the last space in the last third of the row.
    let mut space: Option<BreakCandidate> = None;
    let mut at = 0;
    for cluster in clusters_forward(line) {
        let columns = cluster_width(cluster);
        if used + columns > width && at > start {
            let here = BreakCandidate { at, used };
            let end = space.take().unwrap_or(here);
            rows.push(start..end.at);
            (start, used) = (end.at, used - end.used);
        }
        used += columns;
        at += cluster.len();
        if cluster == " " && 3 * used >= 2 * width {
            space = Some(BreakCandidate { at, used });
        }
    }
    rows.push(start..line.len());
    rows
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

/// A possible end of the row.
#[derive(Clone, Copy)]
struct BreakCandidate {
    at: usize,
    /// Columns used up to it, spaces included.
    used: usize,
}

/// Properties of the previous cluster.
#[derive(Clone, Copy, Default)]
struct PreviousCluster {
    space: bool,
    /// Han, kana or emoji: wide but not Hangul.
    ideographic: bool,
    opening: bool,
    /// A hyphen after a letter or digit, as in words but not in `--flag`.
    hyphen: bool,
    slash: bool,
    alphanumeric: bool,
}

/// Fills rows greedily. Remembers the last possible break and its width, so each cluster is
/// examined once.
struct RowFiller {
    width: usize,
    rows: Vec<Range<usize>>,
    start: usize,
    used: usize,
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
            used: 0,
            candidate: None,
            slash_candidate: None,
            previous: PreviousCluster::default(),
            has_visible_text: false,
        }
    }

    fn push_cluster(&mut self, at: usize, cluster: &str, columns: usize) {
        if cluster == " " {
            self.used += columns;
            self.previous = PreviousCluster {
                space: true,
                ..PreviousCluster::default()
            };
            return;
        }
        let first = cluster.chars().next().unwrap_or(' ');
        let ideographic = is_ideographic(first, columns);
        let alphanumeric = first.is_alphanumeric();
        // A row is never ended after its indentation alone, unless the text does not fit.
        if self.has_visible_text && self.can_break_before(first, ideographic) {
            let here = Some(BreakCandidate {
                at,
                used: self.used,
            });
            if self.previous.slash {
                self.slash_candidate = here;
            } else {
                self.candidate = here;
            }
        }
        if self.used + columns > self.width && at > self.start {
            self.end_row(at);
            if self.used + columns > self.width && at > self.start {
                self.end_row(at);
            }
        }
        self.used += columns;
        self.has_visible_text = true;
        self.previous = PreviousCluster {
            space: false,
            ideographic,
            opening: !alphanumeric && NEVER_ENDS_ROW.contains(first),
            hyphen: matches!(first, '-' | '\u{2010}') && self.previous.alphanumeric
                || matches!(first, '–' | '—'),
            slash: matches!(first, '/' | '\\'),
            alphanumeric,
        };
    }

    fn can_break_before(&self, first: char, ideographic: bool) -> bool {
        let before = self.previous;
        if before.space {
            return true;
        }
        if before.hyphen {
            return first.is_alphabetic();
        }
        if before.slash {
            return first.is_alphabetic() || ideographic;
        }
        (before.ideographic || ideographic) && !before.opening && !NEVER_STARTS_ROW.contains(first)
    }

    /// Ends the row at the last possible break, otherwise at `at`.
    fn end_row(&mut self, at: usize) {
        let here = BreakCandidate {
            at,
            used: self.used,
        };
        let end = self
            .candidate
            .take()
            .or(self.slash_candidate)
            .unwrap_or(here);
        self.slash_candidate = self.slash_candidate.filter(|slash| slash.at > end.at);
        if let Some(slash) = &mut self.slash_candidate {
            slash.used -= end.used;
        }
        self.rows.push(self.start..end.at);
        self.start = end.at;
        self.used -= end.used;
        self.has_visible_text = end.at < at;
    }

    fn finish(mut self, length: usize) -> Vec<Range<usize>> {
        self.rows.push(self.start..length);
        self.rows
    }
}

fn is_ideographic(first: char, columns: usize) -> bool {
    let hangul = matches!(first, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}');
    columns == 2 && !hangul || matches!(first, '\u{FF61}'..='\u{FF9F}')
}
