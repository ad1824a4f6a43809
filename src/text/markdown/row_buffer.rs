//! Stores laid-out rows: the text of all rows, the styles of its spans, and each row as a range of
//! the text. New data is only appended, so truncation can undo the layout of an unfinished line.

use super::style::TextStyle;
use crate::text::wrap::{wrap_code_line, wrap_line};
use std::num::NonZeroU16;
use std::ops::Range;

/// Only this many recent prefixes are searched for one to reuse: each item of a numbered list has
/// its own prefix, so older ones rarely match.
const RECENT_PREFIXES: usize = 32;

/// Index of an interned row prefix.
pub type PrefixId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferedRow {
    pub start: u32,
    pub end: u32,
    pub prefix: PrefixId,
    /// The source byte at which the row begins.
    pub source_start: u32,
}

/// A row to draw: its prefix, its text, and the styles of the text.
#[derive(Debug, Clone, Copy)]
pub struct StyledRow<'a> {
    pub prefix: &'a str,
    pub text: &'a str,
    /// Offset of the row in the buffer; `styles` has the end of each span in the buffer.
    start: u32,
    styles: &'a [(u32, TextStyle)],
}

impl<'a> StyledRow<'a> {
    pub fn plain(text: &'a str) -> Self {
        Self {
            prefix: "",
            text,
            start: 0,
            styles: &[],
        }
    }

    /// The end offset and style of each span of the text. The last span may end beyond the text.
    pub fn style_spans(self) -> impl Iterator<Item = (usize, TextStyle)> + use<'a> {
        let start = self.start;
        self.styles
            .iter()
            .map(move |(end, style)| ((end - start) as usize, *style))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checkpoint {
    text: usize,
    styles: usize,
    rows: usize,
    prefixes: usize,
}

#[derive(Debug, Clone, Default)]
pub struct RowBuffer {
    text: String,
    styles: Vec<(u32, TextStyle)>,
    rows: Vec<BufferedRow>,
    prefixes: Vec<Box<str>>,
    /// Bytes written, including those laid out again.
    #[cfg(test)]
    pub bytes_written: usize,
}

/// Converts an offset or index. Saturates, so text beyond 4 GiB is not shown.
pub fn saturating_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Where long lines are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakMode {
    /// Between words.
    Prose,
    /// Anywhere, but preferably after a space near the end of the row.
    Code,
}

impl RowBuffer {
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            text: self.text.len(),
            styles: self.styles.len(),
            rows: self.rows.len(),
            prefixes: self.prefixes.len(),
        }
    }

    /// Removes everything added since the checkpoint.
    pub fn roll_back(&mut self, checkpoint: Checkpoint) {
        self.text.truncate(checkpoint.text);
        self.styles.truncate(checkpoint.styles);
        self.rows.truncate(checkpoint.rows);
        self.prefixes.truncate(checkpoint.prefixes);
        if let Some((end, _)) = self.styles.last_mut() {
            *end = (*end).min(saturating_u32(checkpoint.text));
        }
    }

    /// Approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.text.len() + self.styles.len() * 12 + self.rows.len() * 16 + self.prefixes.len() * 40
    }

    pub fn end(&self) -> usize {
        self.text.len()
    }

    pub fn push_text(&mut self, text: &str, style: TextStyle) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        #[cfg(test)]
        {
            self.bytes_written += text.len();
        }
        let end = saturating_u32(self.text.len());
        match self.styles.last_mut() {
            Some((last_end, last_style)) if *last_style == style => *last_end = end,
            _ => self.styles.push((end, style)),
        }
    }

    pub fn intern_prefix(&mut self, text: &str) -> PrefixId {
        let mut recent = self.prefixes.iter().enumerate().rev().take(RECENT_PREFIXES);
        if let Some((id, _)) = recent.find(|(_, prefix)| ***prefix == *text) {
            return saturating_u32(id);
        }
        self.prefixes.push(text.into());
        saturating_u32(self.prefixes.len() - 1)
    }

    pub fn prefix(&self, id: PrefixId) -> &str {
        self.prefixes.get(id as usize).map_or("", |prefix| prefix)
    }

    /// Adds a row for the text from `start` to the current end.
    pub fn push_row(&mut self, start: usize, prefix: PrefixId, source: usize) {
        let end = self.text.len();
        self.push_row_range(start..end, prefix, source);
    }

    pub fn push_row_range(&mut self, range: Range<usize>, prefix: PrefixId, source: usize) {
        self.rows.push(BufferedRow {
            start: saturating_u32(range.start),
            end: saturating_u32(range.end),
            prefix,
            source_start: saturating_u32(source),
        });
    }

    /// Wraps the text after `start` into rows. `next_prefix` returns the prefix of each row in
    /// turn, and `source_byte` maps a byte of text to a byte of the source. With `hold_last`, the
    /// last row is not added, and its start is returned.
    pub fn wrap(
        &mut self,
        start: usize,
        (width, breaks): (NonZeroU16, BreakMode),
        hold_last: bool,
        mut next_prefix: impl FnMut() -> PrefixId,
        source_byte: impl Fn(usize) -> usize,
    ) -> usize {
        let mut line_start = start;
        let mut last_start = start;
        let mut rows = Vec::new();
        for line in self.text[start..].split('\n') {
            let wrapped = match breaks {
                BreakMode::Prose => wrap_line(line, width),
                BreakMode::Code => wrap_code_line(line, width),
            };
            rows.extend(
                wrapped
                    .iter()
                    .map(|row| line_start + row.start..line_start + row.end),
            );
            line_start += line.len() + 1;
        }
        if hold_last && let Some(last) = rows.pop() {
            last_start = last.start;
        }
        for row in rows {
            let row_source = source_byte(row.start);
            self.push_row_range(row, next_prefix(), row_source);
        }
        last_start
    }

    /// Trims trailing spaces and line breaks from the text after `start`.
    pub fn trim_end(&mut self, start: usize) {
        let trimmed = self.text[start..].trim_end_matches(['\n', ' ']).len();
        let end = start + trimmed;
        self.text.truncate(end);
        while self.styles.len() > 1 && self.styles[self.styles.len() - 2].0 >= saturating_u32(end) {
            self.styles.pop();
        }
        if let Some((last_end, _)) = self.styles.last_mut() {
            *last_end = (*last_end).min(saturating_u32(end));
        }
    }

    pub fn rows(&self) -> &[BufferedRow] {
        &self.rows
    }

    pub fn styled_row(&self, row: usize) -> StyledRow<'_> {
        let Some(row) = self.rows.get(row) else {
            return StyledRow::plain("");
        };
        let first_span = self.styles.partition_point(|(end, _)| *end <= row.start);
        StyledRow {
            prefix: self.prefix(row.prefix),
            text: &self.text[row.start as usize..row.end as usize],
            start: row.start,
            styles: &self.styles[first_span..],
        }
    }
}
