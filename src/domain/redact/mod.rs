//! Redaction removes secrets from text. It hides known values in any escaping and in Base64, and
//! patterns such as `--api-key VALUE`. The cost is linear in the length of the text, regardless of
//! the number of values.

mod escapes;
mod patterns;
mod pieces;
mod registry;

use super::model::Secret;
use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use escapes::DecodedView;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

pub(super) use patterns::secret_ranges as pattern_matches;
pub use pieces::PieceRedactor;
pub use registry::SecretRegistry;

/// The replacement for hidden text.
pub const HIDDEN: &str = "[hidden]";
/// Shorter values are not searched for, because they occur in too many unrelated words.
const VALUE_BYTES_MIN: usize = 4;
/// The same limit for each line of a multi-line value.
const LINE_BYTES_MIN: usize = 6;
/// Shorter values are not searched for in Base64, where they are too short to be told from other
/// text.
const ENCODED_BYTES_MIN: usize = 8;
/// Longer values are split into chunks of this size.
const CHUNK_BYTES_MAX: usize = 1_024;
/// Maximum number of values kept, so that neither edits to the settings nor tokens can slow down the
/// search without limit. The oldest tokens are dropped first.
const VALUES_MAX: usize = 20_000;
/// Texts are searched in parts of this size.
const WINDOW_BYTES: usize = 1 << 20;
/// How far beyond a truncation point secrets are recognized: one chunk with every byte
/// escaped as `\u0000`.
const LOOKAHEAD_BYTES: usize = 6 * CHUNK_BYTES_MAX;

/// Hides known values and patterns. The default redactor hides patterns only.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Lower case. First those of the settings, then those of tokens, each newest first.
    values: Vec<String>,
    /// Number of values of the settings.
    lasting: usize,
    /// `None` while there are no values.
    finder: Option<AhoCorasick>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values)", self.values.len())
    }
}

impl Redactor {
    pub fn add_secrets(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        let new = search_values(secrets);
        self.lasting += new.len();
        self.values.splice(..0, new);
        self.rebuild();
    }

    /// Adds secrets that servers chose. They never displace those of the settings.
    pub fn add_tokens(&mut self, tokens: impl IntoIterator<Item = Secret>) {
        let new = search_values(tokens);
        self.values.splice(self.lasting..self.lasting, new);
        self.rebuild();
    }

    fn rebuild(&mut self) {
        let tokens = self.values.split_off(self.lasting);
        let mut seen = HashSet::new();
        let mut is_new = |value: &String| seen.insert(value.clone());
        self.values.retain(&mut is_new);
        self.lasting = self.values.len();
        self.values.extend(tokens.into_iter().filter(is_new));
        self.values.truncate(VALUES_MAX);
        self.finder = Some(build_finder(&self.values));
    }

    /// Whether adding these secrets would change nothing.
    pub fn knows_all(&self, secrets: &[Secret]) -> bool {
        let mut chunks = secrets
            .iter()
            .flat_map(|secret| search_chunks(secret.expose()));
        chunks.all(|chunk| self.values.contains(&chunk))
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

    /// Hides known values in every string and every key of `value`. Returns whether there were any.
    pub fn redact_value(&self, value: &mut Value) -> bool {
        match value {
            _ if self.finder.is_none() => false,
            Value::String(text) => self.redact_in_place(text),
            Value::Array(items) => {
                let redact = |found, item| self.redact_value(item) || found;
                items.iter_mut().fold(false, redact)
            }
            Value::Object(fields) => {
                let redact = |found, field| self.redact_value(field) || found;
                let found = fields.values_mut().fold(false, redact);
                let has_value = |key: &String| !self.ranges_of_values(key).is_empty();
                if !fields.keys().any(has_value) {
                    return found;
                }
                let before = std::mem::take(fields).into_iter();
                fields.extend(before.map(|(mut key, field)| {
                    self.redact_in_place(&mut key);
                    (key, field)
                }));
                true
            }
            _ => false,
        }
    }

    fn redact_in_place(&self, text: &mut String) -> bool {
        let ranges = self.ranges_of_values(text);
        if !ranges.is_empty() {
            *text = mask_ranges(text, ranges, text.len()).0;
            return true;
        }
        false
    }

    fn ranges_of_values(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let Some(finder) = &self.finder else {
            return ranges;
        };
        // In windows, because a decoded view takes several times the memory of its text.
        for start in (0..text.len()).step_by(WINDOW_BYTES) {
            let start = text.floor_char_boundary(start);
            let end = text.ceil_char_boundary(start + WINDOW_BYTES + LOOKAHEAD_BYTES);
            for view in DecodedView::all(&text[start..end]) {
                // Overlapping matches: if two values share characters, both are hidden.
                for matched in finder.find_overlapping_iter(view.bytes()) {
                    let range = view.source_range(matched.start()..matched.end());
                    add_range(&mut ranges, start + range.start..start + range.end);
                }
            }
        }
        ranges
    }
}

/// Joins `range` with the last one if they overlap: one letter can be repeated a million times, and be
/// in a value as often as it has letters.
fn add_range(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if range.start < last.end && last.start < range.end => {
            *last = last.start.min(range.start)..last.end.max(range.end);
        }
        _ => ranges.push(range),
    }
}

fn build_finder(values: &[String]) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(values)
        .expect("values are bounded in number and length")
}

fn search_values(secrets: impl IntoIterator<Item = Secret>) -> Vec<String> {
    let mut values = Vec::new();
    for secret in secrets {
        values.extend(search_chunks(secret.expose()));
        values.extend(base64_cores(secret.expose()));
    }
    values
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

/// The letters that stand for `value` in every Base64 text that contains it, such as the
/// credentials of `Basic`: one form for each position of its first byte in a group of three, without
/// the letters that also depend on the bytes before and after.
fn base64_cores(value: &str) -> Vec<String> {
    let value = value.trim();
    if !(ENCODED_BYTES_MIN..=CHUNK_BYTES_MAX).contains(&value.len()) || value.contains('\n') {
        return Vec::new();
    }
    let mut cores = Vec::new();
    for bytes_before in 0..3 {
        let shifted = [&b"\0\0"[..bytes_before], value.as_bytes()].concat();
        let core = (bytes_before * 8).div_ceil(6)..shifted.len() * 8 / 6;
        for encoding in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let encoded = encoding.encode(&shifted);
            cores.push(encoded[core.clone()].to_ascii_lowercase());
        }
    }
    cores.dedup();
    cores
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
