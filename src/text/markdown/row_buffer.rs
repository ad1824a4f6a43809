//! Where laid-out rows live: one text, the looks of its stretches, and rows as
//! ranges of it. Everything grows at its end, so that taking back what a line that
//! is still coming in looked like is a truncation.

use super::style::TextStyle;
use crate::text::wrap::{wrap_code_line, wrap_line};
use std::num::NonZeroU16;
use std::ops::Range;

/// Prefixes among which an equal one is looked for. Numbered items have each their
/// own, so that a table of all would be searched, and kept, for nothing.
const RECENT_PREFIXES: usize = 32;

/// What stands in front of rows, by its number.
pub type PrefixId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferedRow {
    pub start: u32,
    pub end: u32,
    pub prefix: PrefixId,
    /// The byte of the source that the row begins with.
    pub source_start: u32,
}

/// One row for the view: what stands in front of it, its text, and the looks of
/// the text as ends of stretches.
#[derive(Debug, Clone, Copy)]
pub struct StyledRow<'a> {
    pub prefix: &'a str,
    pub text: &'a str,
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

    /// The stretches of the text in order, as ends within it; the last may end
    /// beyond it.
    pub fn style_spans(self) -> impl Iterator<Item = (usize, TextStyle)> + use<'a> {
        let start = self.start;
        let looks = self.styles.iter();
        looks.map(move |(end, look)| ((end - start) as usize, *look))
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
    /// Bytes that were put, again and again.
    #[cfg(test)]
    pub bytes_written: usize,
}

/// A longer text than this has no rows of its own.
pub fn saturating_u32(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// How lines that are too long are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakMode {
    /// Between words.
    Prose,
    /// Anywhere: code.
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

    /// Forgets everything that came since.
    pub fn roll_back(&mut self, mark: Checkpoint) {
        self.text.truncate(mark.text);
        self.styles.truncate(mark.styles);
        self.rows.truncate(mark.rows);
        self.prefixes.truncate(mark.prefixes);
        if let Some((end, _)) = self.styles.last_mut() {
            *end = (*end).min(saturating_u32(mark.text));
        }
    }

    /// Memory held, in bytes, nearly.
    pub fn memory_bytes(&self) -> usize {
        self.text.len() + self.styles.len() * 12 + self.rows.len() * 16 + self.prefixes.len() * 40
    }

    pub fn end(&self) -> usize {
        self.text.len()
    }

    pub fn push_text(&mut self, words: &str, look: TextStyle) {
        if words.is_empty() {
            return;
        }
        self.text.push_str(words);
        #[cfg(test)]
        {
            self.bytes_written += words.len();
        }
        let end = saturating_u32(self.text.len());
        match self.styles.last_mut() {
            Some((last, same)) if *same == look => *last = end,
            _ => self.styles.push((end, look)),
        }
    }

    pub fn intern_prefix(&mut self, words: &str) -> PrefixId {
        let recent = self.prefixes.iter().enumerate().rev().take(RECENT_PREFIXES);
        let mut recent = recent.filter(|(_, known)| ***known == *words);
        if let Some((id, _)) = recent.next() {
            return saturating_u32(id);
        }
        self.prefixes.push(words.into());
        saturating_u32(self.prefixes.len() - 1)
    }

    pub fn prefix(&self, id: PrefixId) -> &str {
        self.prefixes.get(id as usize).map_or("", |prefix| prefix)
    }

    /// A row of the text from `start` to where it ends now.
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

    /// The text from `start` on as rows of a width. `prefix` gives what stands in
    /// front of each, `source` the byte of the source that a byte of text came
    /// from. With `hold`, the last row is left out, to be gone on with later; where
    /// it begins is returned.
    pub fn wrap(
        &mut self,
        start: usize,
        (width, breaks): (NonZeroU16, BreakMode),
        hold: bool,
        mut prefix: impl FnMut() -> PrefixId,
        source: impl Fn(usize) -> usize,
    ) -> usize {
        let mut at = start;
        let mut held = start;
        let mut rows = Vec::new();
        for line in self.text[start..].split('\n') {
            let wrapped = match breaks {
                BreakMode::Prose => wrap_line(line, width),
                BreakMode::Code => wrap_code_line(line, width),
            };
            rows.extend(wrapped.iter().map(|row| at + row.start..at + row.end));
            at += line.len() + 1;
        }
        if hold && let Some(last) = rows.pop() {
            held = last.start;
        }
        for row in rows {
            let from = source(row.start);
            self.push_row_range(row, prefix(), from);
        }
        held
    }

    /// Takes a line end at the end of the text away.
    pub fn trim_end(&mut self, start: usize) {
        let trimmed = self.text[start..].trim_end_matches(['\n', ' ']).len();
        let end = start + trimmed;
        self.text.truncate(end);
        while self.styles.len() > 1 && self.styles[self.styles.len() - 2].0 >= saturating_u32(end) {
            self.styles.pop();
        }
        if let Some((last, _)) = self.styles.last_mut() {
            *last = (*last).min(saturating_u32(end));
        }
    }

    pub fn rows(&self) -> &[BufferedRow] {
        &self.rows
    }

    pub fn line(&self, row: usize) -> StyledRow<'_> {
        let Some(row) = self.rows.get(row) else {
            return StyledRow::plain("");
        };
        let first = self.styles.partition_point(|(end, _)| *end <= row.start);
        StyledRow {
            prefix: self.prefix(row.prefix),
            text: &self.text[row.start as usize..row.end as usize],
            start: row.start,
            styles: &self.styles[first..],
        }
    }
}
