//! Where laid-out rows live: one text, the looks of its stretches, and rows as
//! ranges of it. Everything grows at its end, so that taking back what a line that
//! is still coming in looked like is a truncation.

use super::style::Look;
use crate::text::wrap::{break_line, wrap_line};
use std::num::NonZeroU16;
use std::ops::Range;

/// Prefixes among which an equal one is looked for. Numbered items have each their
/// own, so that a table of all would be searched, and kept, for nothing.
const RECENT_PREFIXES: usize = 32;

/// What stands in front of rows, by its number.
pub type PrefixId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub start: u32,
    pub end: u32,
    pub prefix: PrefixId,
    /// The byte of the source that the row begins with.
    pub source: u32,
}

/// One row for the view: what stands in front of it, its text, and the looks of
/// the text as ends of stretches.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub prefix: &'a str,
    pub text: &'a str,
    start: u32,
    looks: &'a [(u32, Look)],
}

impl<'a> Line<'a> {
    pub fn plain(text: &'a str) -> Self {
        Self {
            prefix: "",
            text,
            start: 0,
            looks: &[],
        }
    }

    /// The stretches of the text in order, as ends within it; the last may end
    /// beyond it.
    pub fn looks(self) -> impl Iterator<Item = (usize, Look)> + use<'a> {
        let start = self.start;
        let looks = self.looks.iter();
        looks.map(move |(end, look)| ((end - start) as usize, *look))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    text: usize,
    looks: usize,
    rows: usize,
    prefixes: usize,
}

#[derive(Debug, Clone, Default)]
pub struct RowBuffer {
    text: String,
    looks: Vec<(u32, Look)>,
    rows: Vec<Row>,
    prefixes: Vec<Box<str>>,
    /// Bytes that were put, again and again.
    #[cfg(test)]
    pub work: usize,
}

/// A longer text than this has no rows of its own.
pub fn place(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// How lines that are too long are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Between words.
    Words,
    /// Anywhere: code.
    Anywhere,
}

impl RowBuffer {
    pub fn mark(&self) -> Mark {
        Mark {
            text: self.text.len(),
            looks: self.looks.len(),
            rows: self.rows.len(),
            prefixes: self.prefixes.len(),
        }
    }

    /// Forgets everything that came since.
    pub fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.text);
        self.looks.truncate(mark.looks);
        self.rows.truncate(mark.rows);
        self.prefixes.truncate(mark.prefixes);
        if let Some((end, _)) = self.looks.last_mut() {
            *end = (*end).min(place(mark.text));
        }
    }

    /// Memory held, in bytes, nearly.
    pub fn cost(&self) -> usize {
        self.text.len() + self.looks.len() * 12 + self.rows.len() * 16 + self.prefixes.len() * 40
    }

    pub fn end(&self) -> usize {
        self.text.len()
    }

    pub fn put(&mut self, words: &str, look: Look) {
        if words.is_empty() {
            return;
        }
        self.text.push_str(words);
        #[cfg(test)]
        {
            self.work += words.len();
        }
        let end = place(self.text.len());
        match self.looks.last_mut() {
            Some((last, same)) if *same == look => *last = end,
            _ => self.looks.push((end, look)),
        }
    }

    pub fn prefix(&mut self, words: &str) -> PrefixId {
        let recent = self.prefixes.iter().enumerate().rev().take(RECENT_PREFIXES);
        let mut recent = recent.filter(|(_, known)| ***known == *words);
        if let Some((id, _)) = recent.next() {
            return place(id);
        }
        self.prefixes.push(words.into());
        place(self.prefixes.len() - 1)
    }

    pub fn prefix_of(&self, id: PrefixId) -> &str {
        self.prefixes.get(id as usize).map_or("", |prefix| prefix)
    }

    /// A row of the text from `start` to where it ends now.
    pub fn row(&mut self, start: usize, prefix: PrefixId, source: usize) {
        let end = self.text.len();
        self.row_at(start..end, prefix, source);
    }

    pub fn row_at(&mut self, range: Range<usize>, prefix: PrefixId, source: usize) {
        self.rows.push(Row {
            start: place(range.start),
            end: place(range.end),
            prefix,
            source: place(source),
        });
    }

    /// The text from `start` on as rows of a width. `prefix` gives what stands in
    /// front of each, `source` the byte of the source that a byte of text came
    /// from. With `hold`, the last row is left out, to be gone on with later; where
    /// it begins is returned.
    pub fn wrap(
        &mut self,
        start: usize,
        (width, breaks): (NonZeroU16, Breaks),
        hold: bool,
        mut prefix: impl FnMut() -> PrefixId,
        source: impl Fn(usize) -> usize,
    ) -> usize {
        let mut at = start;
        let mut held = start;
        let mut rows = Vec::new();
        for line in self.text[start..].split('\n') {
            let wrapped = match breaks {
                Breaks::Words => wrap_line(line, width),
                Breaks::Anywhere => break_line(line, width),
            };
            rows.extend(wrapped.iter().map(|row| at + row.start..at + row.end));
            at += line.len() + 1;
        }
        if hold && let Some(last) = rows.pop() {
            held = last.start;
        }
        for row in rows {
            let from = source(row.start);
            self.row_at(row, prefix(), from);
        }
        held
    }

    /// Takes a line end at the end of the text away.
    pub fn trim_end(&mut self, start: usize) {
        let trimmed = self.text[start..].trim_end_matches(['\n', ' ']).len();
        let end = start + trimmed;
        self.text.truncate(end);
        while self.looks.len() > 1 && self.looks[self.looks.len() - 2].0 >= place(end) {
            self.looks.pop();
        }
        if let Some((last, _)) = self.looks.last_mut() {
            *last = (*last).min(place(end));
        }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn line(&self, row: usize) -> Line<'_> {
        let Some(row) = self.rows.get(row) else {
            return Line::plain("");
        };
        let first = self.looks.partition_point(|(end, _)| *end <= row.start);
        Line {
            prefix: self.prefix_of(row.prefix),
            text: &self.text[row.start as usize..row.end as usize],
            start: row.start,
            looks: &self.looks[first..],
        }
    }
}
