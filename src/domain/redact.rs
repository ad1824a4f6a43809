//! Redaction removes secrets from text that leaves the program: log lines, notices, server
//! output and panic reports. It hides known values in any escaping, and patterns such as
//! `--api-key VALUE`. The cost is linear in the length of the text, regardless of the number
//! of values.

mod escapes;
mod patterns;

use super::model::Secret;
use aho_corasick::AhoCorasick;
use escapes::DecodedView;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

pub(super) use patterns::secret_ranges as pattern_matches;

/// The replacement for hidden text.
pub const HIDDEN: &str = "[hidden]";
/// Shorter values are not searched for, because they occur in too many unrelated words.
const VALUE_BYTES_MIN: usize = 4;
/// The same limit for each line of a multi-line value.
const LINE_BYTES_MIN: usize = 6;
/// Longer values are split into chunks of this size.
const CHUNK_BYTES_MAX: usize = 1_024;
/// Maximum number of values kept, so that repeated edits to the settings cannot slow down the
/// search without limit. The oldest are dropped first.
const VALUES_MAX: usize = 20_000;
/// How far beyond a truncation point secrets are recognized: one chunk with every byte
/// escaped as `\u0000`.
const LOOKAHEAD_BYTES: usize = 6 * CHUNK_BYTES_MAX;

/// Hides known values and patterns. The default redactor hides patterns only.
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

    pub fn add_secrets(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        let mut values: Vec<String> = Vec::new();
        for secret in secrets {
            values.extend(search_chunks(secret.expose()));
        }
        let existing: HashSet<&String> = self.values.iter().collect();
        if values.iter().all(|value| existing.contains(value)) {
            return;
        }
        values.append(&mut self.values);
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(value.clone()));
        values.truncate(VALUES_MAX);
        self.finder = Some(build_finder(&values));
        self.values = values;
    }

    pub fn redact(&self, text: &str) -> String {
        self.redact_prefix(text, text.len()).0
    }

    /// Redacts the first `bytes_max` bytes of `text`. Also returns the number of bytes of `text`
    /// that the result covers. A secret across the truncation point is hidden completely;
    /// redacting already truncated text would reveal its beginning.
    pub fn redact_prefix(&self, text: &str, bytes_max: usize) -> (String, usize) {
        let end = text.floor_char_boundary(bytes_max.saturating_add(LOOKAHEAD_BYTES));
        let searched = &text[..end];
        let mut ranges = self.ranges_of_values(searched);
        ranges.extend(patterns::secret_ranges(searched));
        mask_ranges(searched, ranges, bytes_max)
    }

    /// Hides known values only, not patterns. For text that must otherwise stay unchanged,
    /// such as tool results.
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
            // Overlapping matches: if two values share characters, both are hidden.
            let matches = finder.find_overlapping_iter(view.bytes());
            ranges.extend(matches.map(|matched| view.source_range(matched.start()..matched.end())));
        }
        ranges
    }
}

fn build_finder(values: &[String]) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(values)
        .expect("values are bounded in number and length")
}

/// The strings to search for: each line of the value, since lines may be printed
/// separately, and chunks of very long lines.
fn search_chunks(value: &str) -> Vec<String> {
    let value = value.trim().to_ascii_lowercase();
    let lines: Vec<&str> = value.lines().map(str::trim).collect();
    let bytes_min = match lines.len() {
        0 | 1 => VALUE_BYTES_MIN,
        _ => LINE_BYTES_MIN,
    };
    let mut chunks = Vec::new();
    for mut line in lines.into_iter().filter(|line| line.len() >= bytes_min) {
        while line.len() > CHUNK_BYTES_MAX {
            let (head, rest) = line.split_at(line.floor_char_boundary(CHUNK_BYTES_MAX));
            chunks.push(head.to_owned());
            line = rest;
        }
        // The rest of a very long value may be too short to search for.
        if line.len() >= VALUE_BYTES_MIN {
            chunks.push(line.to_owned());
        }
    }
    chunks
}

/// Replaces each range that starts within the first `bytes_max` bytes of `text` with
/// [`HIDDEN`], and drops the text after these bytes. Also returns the number of bytes of `text` that
/// the result covers.
fn mask_ranges(text: &str, mut ranges: Vec<Range<usize>>, bytes_max: usize) -> (String, usize) {
    let bytes_max = text.floor_char_boundary(bytes_max);
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut masked = String::with_capacity(bytes_max);
    // Everything before `position` is written or hidden.
    let (mut position, mut last_mask_end) = (0, None);
    for range in ranges {
        let start = text.floor_char_boundary(range.start);
        let end = text.ceil_char_boundary(range.end);
        if start >= bytes_max {
            break;
        }
        if start < position || last_mask_end == Some(start) {
            position = position.max(end);
            last_mask_end = Some(position);
            continue;
        }
        masked.push_str(&text[position..start]);
        masked.push_str(HIDDEN);
        position = end;
        last_mask_end = Some(end);
    }
    if position < bytes_max {
        masked.push_str(&text[position..bytes_max]);
        position = bytes_max;
    }
    (masked, position)
}

#[cfg(test)]
mod tests;
