//! Untrusted text, sanitized and wrapped to a width. Appending re-wraps only the last rows, so a
//! streamed token takes no longer in a long answer than in a short one.

use crate::text::markdown::RowPlace;
use crate::text::sanitize::Sanitizer;
use crate::text::wrap::{line_rows, wrap_line};
use std::num::NonZeroU16;
use std::ops::RangeInclusive;

/// Maximum number of blank rows trimmed at either end. Without this limit, each token of a text
/// that consists of newlines would cause a scan of all rows.
const BLANK_ROWS_MAX: usize = 8;

#[derive(Debug, Clone)]
pub struct PlainText {
    width: NonZeroU16,
    sanitizer: Sanitizer,
    /// Bytes of the raw text processed so far.
    raw_bytes: usize,
    text: String,
    /// Byte ranges into `text`.
    rows: Vec<(u32, u32)>,
    /// Index of the row at which the last line begins.
    line_row: usize,
}

impl PlainText {
    pub fn new(raw: &str, width: u16) -> Self {
        let mut plain = Self {
            width: NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN),
            sanitizer: Sanitizer::default(),
            raw_bytes: 0,
            text: String::new(),
            rows: Vec::new(),
            line_row: 0,
        };
        plain.extend_to(raw);
        plain
    }

    pub fn raw_bytes(&self) -> usize {
        self.raw_bytes
    }

    pub fn width(&self) -> u16 {
        self.width.get()
    }

    /// Approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.text.len() + self.rows.len() * 8
    }

    /// Appends the part of `raw` that has not been processed yet.
    pub fn extend_to(&mut self, raw: &str) {
        let clean = self.sanitizer.push(&raw[self.raw_bytes..]);
        self.raw_bytes = raw.len();
        self.text.push_str(clean.as_str());
        // Two rows of margin: a growing cluster at the end can change the ends of two rows
        // at once.
        let first_changed = self.line_row.max(self.rows.len().saturating_sub(3));
        let mut start = self
            .rows
            .get(first_changed)
            .map_or(self.text.len(), |row| row.0 as usize);
        if self.rows.is_empty() {
            start = 0;
        }
        self.rows.truncate(first_changed);
        for (index, line) in self.text[start..].split('\n').enumerate() {
            if index > 0 {
                self.line_row = self.rows.len();
            }
            for row in wrap_line(line, self.width) {
                let offset = |byte: usize| u32::try_from(start + byte).unwrap_or(u32::MAX);
                self.rows.push((offset(row.start), offset(row.end)));
            }
            start += line.len() + 1;
        }
    }

    fn is_blank_row(&self, row: usize) -> bool {
        let (start, end) = self.rows[row];
        self.text[start as usize..end as usize].trim().is_empty()
    }

    fn leading_blank_rows(&self) -> usize {
        let rows_max = self.rows.len().min(BLANK_ROWS_MAX);
        (0..rows_max)
            .take_while(|row| self.is_blank_row(*row))
            .count()
    }

    /// Number of rows, without blank rows at either end.
    pub fn len(&self) -> usize {
        let leading = self.leading_blank_rows();
        let rest = self.rows.len() - leading;
        let trailing = (0..rest.min(BLANK_ROWS_MAX))
            .take_while(|back| self.is_blank_row(self.rows.len() - 1 - back))
            .count();
        rest - trailing
    }

    pub fn row(&self, row: usize) -> &str {
        self.rows
            .get(row + self.leading_blank_rows())
            .map_or("", |(start, end)| {
                &self.text[*start as usize..*end as usize]
            })
    }

    /// Byte offset at which a row begins. Unlike a row number, the offset stays valid when the
    /// width changes.
    pub fn row_start(&self, row: usize) -> usize {
        self.rows
            .get(row + self.leading_blank_rows())
            .map_or(self.text.len(), |row| row.0 as usize)
    }

    /// Whether a row continues the line of the row before it.
    pub fn continues_line(&self, row: usize) -> bool {
        let row = self.rows.get(row + self.leading_blank_rows());
        row.is_some_and(|(start, _)| {
            *start > 0 && self.text.as_bytes()[*start as usize - 1] != b'\n'
        })
    }

    /// The rows of the line that a row belongs to.
    pub fn line_rows(&self, row: usize) -> RangeInclusive<usize> {
        line_rows(row, |row| self.continues_line(row))
    }

    /// The first row of the line with this index, counted from 0.
    pub fn row_of_line(&self, line: usize) -> usize {
        let mut breaks = self.text.match_indices('\n');
        let byte = line.checked_sub(1).and_then(|before| breaks.nth(before));
        let row = self.row_at_byte(byte.map_or(0, |(byte, _)| byte + 1));
        row.min(self.len().saturating_sub(1))
    }

    /// The text from `start` to `end`, with wrapped lines joined.
    pub fn excerpt(&self, start: RowPlace, end: RowPlace) -> &str {
        let byte = |place: RowPlace| {
            let row_length = self.row(place.row).len();
            self.row_start(place.row) + place.offset.text_byte().min(row_length)
        };
        self.text.get(byte(start)..byte(end)).unwrap_or_default()
    }

    /// Size of the sanitized text in bytes.
    pub fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Number of rows that begin at or after a byte offset.
    pub fn rows_since(&self, byte: usize) -> usize {
        let before = self.rows.partition_point(|row| (row.0 as usize) < byte);
        (self.leading_blank_rows() + self.len()).saturating_sub(before)
    }

    /// The row that contains a byte offset.
    pub fn row_at_byte(&self, byte: usize) -> usize {
        let after = self.rows.partition_point(|row| row.0 as usize <= byte);
        after
            .saturating_sub(1)
            .saturating_sub(self.leading_blank_rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &PlainText) -> Vec<String> {
        (0..text.len())
            .map(|row| text.row(row).to_owned())
            .collect()
    }

    proptest! {
        #[test]
        fn streamed_text_wraps_like_the_whole_text(
            parts in prop::collection::vec("[a-c 가나漢👩‍👩‍👧é\u{301}\n]{0,12}", 0..12),
            width in 1u16..14,
        ) {
            let mut raw = String::new();
            let mut streamed = PlainText::new("", width);
            for part in parts {
                raw.push_str(&part);
                streamed.extend_to(&raw);
                prop_assert_eq!(rows(&streamed), rows(&PlainText::new(&raw, width)));
            }
        }
    }

    #[test]
    fn leading_and_trailing_blank_rows_are_dropped() {
        let text = PlainText::new("\n\none\n\ntwo\n\n", 10);
        assert_eq!(rows(&text), ["one", "", "two"]);
    }

    #[test]
    fn row_start_and_row_at_byte_are_inverse() {
        let text = PlainText::new("\none\ntwo\nthree", 10);
        assert_eq!(text.row_at_byte(text.row_start(2)), 2);
    }
}
