//! Redaction: the only place that removes secrets from text that leaves the program
//! (log lines, notices, server output, panic reports). Two passes find what to hide:
//! known values, whatever way they are escaped, and patterns such as `--api-key VALUE`.
//! Cost is linear in the length of the text, however many values are known.

mod escapes;
mod patterns;

use super::model::Secret;
use aho_corasick::AhoCorasick;
use escapes::DecodedView;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

pub(super) use patterns::secret_ranges as pattern_matches;

/// Replaces every hidden piece of text.
pub const HIDDEN: &str = "[hidden]";
/// Shorter values occur in too many unrelated words.
const VALUE_BYTES_MIN: usize = 4;
/// The same for the single lines of a value that has several.
const LINE_BYTES_MIN: usize = 6;
/// Longer values are searched for in pieces of this size.
const CHUNK_BYTES_MAX: usize = 1_024;
/// Values kept at most. The oldest are dropped first, so editing the settings over and
/// over does not grow the search without limit.
const VALUES_MAX: usize = 20_000;
/// How far past the cut a secret is still recognized: one piece with each byte
/// escaped as `\u0000`.
const LOOKAHEAD_BYTES: usize = 6 * CHUNK_BYTES_MAX;

/// Hides known values and known patterns. The default one knows patterns only.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Lower case, newest first.
    values: Vec<String>,
    /// `None` while there are no values.
    finder: Option<AhoCorasick>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values)", self.values.len())
    }
}

impl Redactor {
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut redactor = Self::default();
        redactor.add_secrets(secrets);
        redactor
    }

    /// Hides these values too from now on.
    pub fn add_secrets(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        let mut values: Vec<String> = Vec::new();
        for secret in secrets {
            values.extend(search_chunks(secret.expose()));
        }
        let known: HashSet<&String> = self.values.iter().collect();
        if values.iter().all(|value| known.contains(value)) {
            return;
        }
        values.append(&mut self.values);
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(value.clone()));
        values.truncate(VALUES_MAX);
        self.finder = Some(build_finder(&values));
        self.values = values;
    }

    /// `text` without secrets.
    pub fn redact(&self, text: &str) -> String {
        self.redact_prefix(text, text.len()).0
    }

    /// The first `bytes_max` bytes of `text` without secrets, and how many bytes of
    /// `text` that covers. A secret that crosses the cut is hidden whole: redacting the
    /// cut text instead would show its beginning.
    pub fn redact_prefix(&self, text: &str, bytes_max: usize) -> (String, usize) {
        let seen = text.floor_char_boundary(bytes_max.saturating_add(LOOKAHEAD_BYTES));
        let seen = &text[..seen];
        let mut ranges = self.ranges_of_values(seen);
        ranges.extend(patterns::secret_ranges(seen));
        mask_ranges(seen, ranges, bytes_max)
    }

    /// `text` without the known values; patterns stay. For text whose exact words
    /// matter, such as the result of a tool.
    pub fn redact_known_values(&self, text: &str) -> String {
        mask_ranges(text, self.ranges_of_values(text), text.len()).0
    }

    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    fn ranges_of_values(&self, text: &str) -> Vec<Range<usize>> {
        let Some(finder) = &self.finder else {
            return Vec::new();
        };
        let mut ranges = Vec::new();
        for view in DecodedView::all(text) {
            // Overlapping: of two values that share some letters, both are hidden.
            let matches = finder.find_overlapping_iter(view.bytes());
            ranges.extend(matches.map(|it| view.source_range(it.start()..it.end())));
        }
        ranges
    }
}

fn build_finder(values: &[String]) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(values)
        .expect("the values are few and short enough for its state numbers")
}

/// The strings to search for on account of one value: its lines, which may be printed
/// one by one, and pieces of those that are very long.
fn search_chunks(value: &str) -> Vec<String> {
    let value = value.trim().to_ascii_lowercase();
    let lines: Vec<&str> = value.lines().map(str::trim).collect();
    let bytes_min = match lines.len() {
        0 | 1 => VALUE_BYTES_MIN,
        _ => LINE_BYTES_MIN,
    };
    let mut pieces = Vec::new();
    for mut line in lines.into_iter().filter(|line| line.len() >= bytes_min) {
        while line.len() > CHUNK_BYTES_MAX {
            let (head, rest) = line.split_at(line.floor_char_boundary(CHUNK_BYTES_MAX));
            pieces.push(head.to_owned());
            line = rest;
        }
        // The end of a very long value may be too short to be searched for alone.
        if line.len() >= VALUE_BYTES_MIN {
            pieces.push(line.to_owned());
        }
    }
    pieces
}

/// `text` up to `bytes_max` with [`HIDDEN`] in place of each range; also how many bytes
/// of it were used.
fn mask_ranges(text: &str, mut ranges: Vec<Range<usize>>, bytes_max: usize) -> (String, usize) {
    let bytes_max = text.floor_char_boundary(bytes_max);
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut out = String::with_capacity(bytes_max);
    // Up to here everything is written or hidden, and up to `hidden` it is hidden.
    let (mut done, mut hidden) = (0, None);
    for range in ranges {
        let start = text.floor_char_boundary(range.start);
        let end = text.ceil_char_boundary(range.end);
        if start >= bytes_max {
            break;
        }
        if start < done || hidden == Some(start) {
            done = done.max(end);
            hidden = Some(done);
            continue;
        }
        out.push_str(&text[done..start]);
        out.push_str(HIDDEN);
        done = end;
        hidden = Some(end);
    }
    if done < bytes_max {
        out.push_str(&text[done..bytes_max]);
        done = bytes_max;
    }
    (out, done)
}

#[cfg(test)]
mod tests;
