//! Stores laid-out rows: the text of all rows, the styles of its spans, and each row as a range of
//! the text. New data is only appended, so truncation can undo the layout of an unfinished line.

use super::block::{BlockKind, MarkdownBlock};
use super::style::TextStyle;
use crate::text::wrap::{wrap_code_line, wrap_line};
use std::num::NonZeroU16;
use std::ops::Range;

/// Only this many recent prefixes are searched for one to reuse: each item of a numbered list has
/// its own prefix, so older ones rarely match.
const RECENT_PREFIXES_MAX: usize = 32;

/// Index of an interned row prefix.
pub type PrefixId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferedRow {
    pub start: u32,
    pub end: u32,
    /// The highest bit is [`CONTINUES_LINE`]; a field of its own would make every row larger.
    prefix_and_flag: u32,
    /// The source byte at which the row begins.
    pub source_start: u32,
}

/// The row continues the line of the row before it.
const CONTINUES_LINE: u32 = 1 << 31;

impl BufferedRow {
    fn prefix(&self) -> PrefixId {
        self.prefix_and_flag & !CONTINUES_LINE
    }

    pub fn continues_line(&self) -> bool {
        self.prefix_and_flag & CONTINUES_LINE != 0
    }
}

/// Where wrapping begins: an offset in the buffer, and whether the row there continues the line of
/// the row before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowStart {
    pub offset: usize,
    pub continues_line: bool,
}

impl RowStart {
    /// The start of a line.
    pub fn of_line(offset: usize) -> Self {
        Self {
            offset,
            continues_line: false,
        }
    }
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
    blocks: usize,
    is_block_open: bool,
}

impl Checkpoint {
    pub fn rows(self) -> usize {
        self.rows
    }
}

#[derive(Debug, Clone, Default)]
pub struct RowBuffer {
    text: String,
    styles: Vec<(u32, TextStyle)>,
    rows: Vec<BufferedRow>,
    prefixes: Vec<Box<str>>,
    /// Code blocks and tables.
    blocks: Vec<MarkdownBlock>,
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
            blocks: self.blocks.len(),
            is_block_open: self.blocks.last().is_some_and(MarkdownBlock::is_open),
        }
    }

    /// Removes everything added since the checkpoint.
    pub fn roll_back(&mut self, checkpoint: Checkpoint) {
        self.text.truncate(checkpoint.text);
        self.styles.truncate(checkpoint.styles);
        self.rows.truncate(checkpoint.rows);
        self.prefixes.truncate(checkpoint.prefixes);
        self.blocks.truncate(checkpoint.blocks);
        if let Some(last) = self.blocks.last_mut().filter(|_| checkpoint.is_block_open) {
            last.reopen();
        }
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
        let mut recent = self
            .prefixes
            .iter()
            .enumerate()
            .rev()
            .take(RECENT_PREFIXES_MAX);
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
        self.push_row_range(start..end, prefix, source, false);
    }

    fn push_row_range(
        &mut self,
        range: Range<usize>,
        prefix: PrefixId,
        source: usize,
        continues_line: bool,
    ) {
        self.rows.push(BufferedRow {
            start: saturating_u32(range.start),
            end: saturating_u32(range.end),
            prefix_and_flag: if continues_line {
                prefix | CONTINUES_LINE
            } else {
                prefix
            },
            source_start: saturating_u32(source),
        });
    }

    /// Wraps the text after `start` into rows. `next_prefix` returns the prefix of each row in
    /// turn, and `source_byte` maps a byte of text to a byte of the source. With `hold_last`, the
    /// last row is not added, and its start is returned.
    pub fn wrap(
        &mut self,
        start: RowStart,
        (width, breaks): (NonZeroU16, BreakMode),
        hold_last: bool,
        mut next_prefix: impl FnMut() -> PrefixId,
        source_byte: impl Fn(usize) -> usize,
    ) -> RowStart {
        let mut line_start = start.offset;
        let mut last_start = start;
        let mut rows: Vec<(Range<usize>, bool)> = Vec::new();
        for line in self.text[start.offset..].split('\n') {
            let wrapped = match breaks {
                BreakMode::Prose => wrap_line(line, width),
                BreakMode::Code => wrap_code_line(line, width),
            };
            let is_first_line = line_start == start.offset;
            rows.extend(wrapped.iter().enumerate().map(|(index, row)| {
                let range = line_start + row.start..line_start + row.end;
                (range, index > 0 || is_first_line && start.continues_line)
            }));
            line_start += line.len() + 1;
        }
        if hold_last && let Some((last, continues_line)) = rows.pop() {
            last_start = RowStart {
                offset: last.start,
                continues_line,
            };
        }
        for (row, continues_line) in rows {
            let row_source = source_byte(row.start);
            self.push_row_range(row, next_prefix(), row_source, continues_line);
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

    /// Starts a block at the next row.
    pub fn open_block(&mut self, kind: BlockKind) {
        let row = self.rows.len();
        self.blocks.push(MarkdownBlock {
            kind,
            first_row: row,
            first_text_row: row,
            end_row: usize::MAX,
        });
    }

    /// Marks the rows of the open block so far as its label.
    pub fn end_block_label(&mut self) {
        let row = self.rows.len();
        if let Some(block) = self.blocks.last_mut() {
            block.first_text_row = row;
        }
    }

    pub fn close_block(&mut self) {
        let row = self.rows.len();
        if let Some(block) = self.blocks.last_mut() {
            block.end_row = block.end_row.min(row);
        }
    }

    /// The code blocks and tables, in order.
    pub fn blocks(&self) -> &[MarkdownBlock] {
        &self.blocks
    }

    pub fn styled_row(&self, row: usize) -> StyledRow<'_> {
        let Some(row) = self.rows.get(row) else {
            return StyledRow::plain("");
        };
        let first_span = self.styles.partition_point(|(end, _)| *end <= row.start);
        StyledRow {
            prefix: self.prefix(row.prefix()),
            text: &self.text[row.start as usize..row.end as usize],
            start: row.start,
            styles: &self.styles[first_span..],
        }
    }
}
