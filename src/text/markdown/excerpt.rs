//! The source of a part of the laid-out text, for copying: whole lines as Markdown, parts of lines
//! as shown. Rows of one line are joined. Code comes without its fences unless more is selected.

use super::block::{BlockKind, MarkdownBlock};
use super::{MarkdownView, StyledRow};
use crate::text::sanitize::Clean;
use crate::text::wrap::line_rows;
use std::ops::{Range, RangeInclusive};

/// A place in a row: before its list marker, or before a byte of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowOffset {
    BeforeMarker,
    Text(usize),
}

impl RowOffset {
    pub fn text_byte(self) -> usize {
        match self {
            Self::BeforeMarker => 0,
            Self::Text(byte) => byte,
        }
    }
}

/// A place in the laid-out text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPlace {
    pub row: usize,
    pub offset: RowOffset,
}

#[derive(Debug, Clone)]
struct SelectedLine {
    rows: RangeInclusive<usize>,
    is_whole: bool,
}

/// The parts of an excerpt, joined by line breaks.
#[derive(Default)]
struct ExcerptText {
    text: Option<String>,
    /// A blank row followed the last part.
    is_after_blank: bool,
}

impl ExcerptText {
    fn push(&mut self, part: &str) {
        let is_after_blank = std::mem::take(&mut self.is_after_blank);
        match &mut self.text {
            Some(text) => {
                text.push_str(if is_after_blank { "\n\n" } else { "\n" });
                text.push_str(part);
            }
            None => self.text = Some(part.to_owned()),
        }
    }
}

impl MarkdownView {
    /// The text from `start` to `end`, which are places of this layout. `raw` is the text that was
    /// laid out. O(len of the text).
    pub fn excerpt(&self, raw: &str, start: RowPlace, end: RowPlace) -> String {
        let lines = self.selected_lines(start, end);
        let source = SourceLines::new(&self.source, raw);
        let mut excerpt = ExcerptText::default();
        let mut rest = &lines[..];
        while let Some(first) = rest.first() {
            let block = self.block_at(*first.rows.start());
            let same_block = |line: &&SelectedLine| self.block_at(*line.rows.start()) == block;
            let count = rest.iter().take_while(same_block).count();
            let (segment, after) = rest.split_at(count);
            rest = after;
            let is_alone = segment.len() == lines.len();
            match block {
                None => self.push_prose(&source, segment, (start, end), &mut excerpt),
                Some(block) if block.kind == BlockKind::Code => {
                    self.push_code(
                        &source,
                        &block,
                        segment,
                        (start, end),
                        is_alone,
                        &mut excerpt,
                    );
                }
                Some(block) => {
                    self.push_table(&source, &block, segment, (start, end), &mut excerpt);
                }
            }
        }
        excerpt.text.unwrap_or_default()
    }

    /// The code of a block without its fences, or the Markdown of a table; `None` if there is no
    /// such block.
    pub fn block_source(&self, raw: &str, index: usize) -> Option<String> {
        let block = self.blocks().get(index)?;
        let last = block.end_row.min(self.len()).checked_sub(1)?;
        let start = RowPlace {
            row: block.first_text_row.min(last),
            offset: RowOffset::BeforeMarker,
        };
        let end = RowPlace {
            row: last,
            offset: RowOffset::Text(self.row(last).text.len()),
        };
        Some(self.excerpt(raw, start, end))
    }

    /// The rows of the line that a row belongs to.
    pub fn line_rows(&self, row: usize) -> RangeInclusive<usize> {
        line_rows(row, |row| self.continues_line(row))
    }

    fn block_at(&self, row: usize) -> Option<MarkdownBlock> {
        let blocks = self.blocks();
        let next = blocks.partition_point(|block| block.first_row <= row);
        let block = blocks.get(next.checked_sub(1)?)?;
        block.contains(row).then_some(*block)
    }

    fn selected_lines(&self, start: RowPlace, end: RowPlace) -> Vec<SelectedLine> {
        let mut lines = Vec::new();
        let mut row = start.row;
        while row <= end.row && row < self.len() {
            let rows = self.line_rows(row);
            let (first, last) = (*rows.start(), *rows.end());
            let has_start = match first.cmp(&start.row) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Equal => self.row(first).starts_at(start.offset),
                std::cmp::Ordering::Greater => true,
            };
            let text_end = self.row(last).text.trim_end().len();
            let has_end = last < end.row || last == end.row && end.offset.text_byte() >= text_end;
            let is_whole = has_start && has_end;
            row = last + 1;
            lines.push(SelectedLine { rows, is_whole });
        }
        lines
    }

    /// The shown text between two places of the same line, with its rows joined.
    pub fn shown_part(&self, start: RowPlace, end: RowPlace) -> String {
        self.shown_text(start.row..=end.row, (start, end))
    }

    fn shown_text(
        &self,
        rows: RangeInclusive<usize>,
        (start, end): (RowPlace, RowPlace),
    ) -> String {
        let mut text = String::new();
        for row in rows {
            let shown = self.row(row).text;
            let from = match row.cmp(&start.row) {
                std::cmp::Ordering::Less => shown.len(),
                std::cmp::Ordering::Equal => start.offset.text_byte().min(shown.len()),
                std::cmp::Ordering::Greater => 0,
            };
            let to = match row.cmp(&end.row) {
                std::cmp::Ordering::Less => shown.len(),
                std::cmp::Ordering::Equal => end.offset.text_byte().min(shown.len()),
                std::cmp::Ordering::Greater => 0,
            };
            text.push_str(shown.get(from..to).unwrap_or_default());
        }
        text
    }

    fn is_blank(&self, line: &SelectedLine) -> bool {
        let row = self.row(*line.rows.start());
        row.text.trim().is_empty() && row.marker().is_empty()
    }

    fn source_line(&self, source: &SourceLines, row: usize) -> usize {
        source.number_at(self.row_start_byte(row))
    }

    fn push_prose(
        &self,
        source: &SourceLines,
        lines: &[SelectedLine],
        places: (RowPlace, RowPlace),
        excerpt: &mut ExcerptText,
    ) {
        // The first and last source line of the current run of whole lines.
        let mut run: Option<(usize, usize)> = None;
        let flush = |run: &mut Option<(usize, usize)>, excerpt: &mut ExcerptText| {
            if let Some((first, last)) = run.take() {
                excerpt.push(&source.join(first..last + 1));
            }
        };
        for line in lines {
            if self.is_blank(line) {
                excerpt.is_after_blank |= run.is_none();
                continue;
            }
            if line.is_whole {
                let number = self.source_line(source, *line.rows.start());
                let (first, _) = *run.get_or_insert((number, number));
                run = Some((first, number.max(first)));
            } else {
                flush(&mut run, excerpt);
                excerpt.push(&self.shown_text(line.rows.clone(), places));
            }
        }
        flush(&mut run, excerpt);
        excerpt.is_after_blank = lines.last().is_some_and(|line| self.is_blank(line));
    }

    fn push_code(
        &self,
        source: &SourceLines,
        block: &MarkdownBlock,
        lines: &[SelectedLine],
        places: (RowPlace, RowPlace),
        is_alone: bool,
        excerpt: &mut ExcerptText,
    ) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return;
        };
        let end_row = block.end_row.min(self.len());
        let is_whole_block = *first.rows.start() == block.first_row
            && *last.rows.end() + 1 == end_row
            && lines.iter().all(|line| line.is_whole);
        if is_whole_block && !is_alone {
            let code = self.source_line(source, block.first_text_row.min(end_row - 1));
            let last = self.source_line(source, end_row - 1);
            let opening = code.checked_sub(1).filter(|line| source.is_fence(*line));
            let closing = Some(last + 1).filter(|line| opening.is_some() && source.is_fence(*line));
            let range = opening.unwrap_or(code)..closing.unwrap_or(last) + 1;
            return excerpt.push(&source.join(range));
        }
        let is_code = |line: &&SelectedLine| *line.rows.start() >= block.first_text_row;
        if !lines.iter().any(|line| is_code(&line)) {
            return excerpt.push(&self.shown_text(first.rows.clone(), places));
        }
        for line in lines.iter().filter(is_code) {
            if line.is_whole {
                excerpt.push(source.content_from(self.row_start_byte(*line.rows.start())));
            } else {
                excerpt.push(&self.shown_text(line.rows.clone(), places));
            }
        }
    }

    fn push_table(
        &self,
        source: &SourceLines,
        block: &MarkdownBlock,
        lines: &[SelectedLine],
        places: (RowPlace, RowPlace),
        excerpt: &mut ExcerptText,
    ) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return;
        };
        if lines.len() == 1 && !first.is_whole {
            let text = self.shown_text(first.rows.clone(), places);
            let bar = self.layout.glyphs.bar;
            if !text.contains(bar) {
                return excerpt.push(text.trim());
            }
        }
        let first_line = self.source_line(source, *first.rows.start());
        let mut last_line = self.source_line(source, *last.rows.start());
        if *first.rows.start() == block.first_row && lines.len() > 1 {
            // The rule below the header begins at the source of the header; include the delimiter row.
            last_line = last_line.max(first_line + 1);
        }
        let indent = self.row_start_byte(*first.rows.start()) - source.start_of(first_line);
        excerpt.push(&source.join_without_prefix(first_line..last_line + 1, indent));
    }
}

impl<'a> StyledRow<'a> {
    /// The end of the prefix, if it is part of the text: the marker of a list item with its
    /// indentation, but without the bars of quotes and code.
    pub fn marker(self) -> &'a str {
        let is_bar = |c: char| matches!(c, '│' | '|' | '▏' | '↳' | '>');
        let after_bars = self.prefix.rsplit(is_bar).next().unwrap_or_default();
        match after_bars.trim().is_empty() {
            true => "",
            false => after_bars,
        }
    }

    /// Whether `offset` is before everything in the row that can be selected.
    fn starts_at(self, offset: RowOffset) -> bool {
        match offset {
            RowOffset::BeforeMarker => true,
            RowOffset::Text(byte) => byte == 0 && self.marker().is_empty(),
        }
    }
}

/// The lines of a text. Lines that differ only in tabs are taken from the raw text. Hidden
/// characters are left out, so that only shown text is copied.
struct SourceLines<'a> {
    source: &'a str,
    starts: Vec<usize>,
    raw: Vec<&'a str>,
}

impl<'a> SourceLines<'a> {
    fn new(source: &'a str, raw: &'a str) -> Self {
        let breaks = source.match_indices('\n').map(|(index, _)| index + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(breaks).collect();
        let raw: Vec<&str> = raw.split('\n').collect();
        let raw = match raw.len() == starts.len() {
            true => raw,
            false => Vec::new(),
        };
        Self {
            source,
            starts,
            raw,
        }
    }

    fn number_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte) - 1
    }

    fn start_of(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.source.len())
    }

    fn shown(&self, line: usize) -> &'a str {
        let end = self.starts.get(line + 1).map(|end| end - 1);
        let end = end.unwrap_or(self.source.len());
        self.source
            .get(self.start_of(line)..end)
            .unwrap_or_default()
    }

    fn line(&self, line: usize) -> &'a str {
        let shown = self.shown(line);
        let Some(raw) = self.raw.get(line) else {
            return shown;
        };
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        if raw == shown || !raw.contains('\t') || Clean::new(raw).as_str() != shown {
            return shown;
        }
        let without_tabs = raw.replace('\t', "");
        match Clean::new(&without_tabs).as_str() == without_tabs {
            true => raw,
            false => shown,
        }
    }

    /// The part of a line from a byte offset of the source to its end.
    fn content_from(&self, byte: usize) -> &'a str {
        let number = self.number_at(byte);
        let (line, shown) = (self.line(number), self.shown(number));
        let offset = byte - self.start_of(number);
        match line.get(..offset) == shown.get(..offset) {
            true => line.get(offset..).unwrap_or_default(),
            false => shown.get(offset..).unwrap_or_default(),
        }
    }

    fn is_fence(&self, line: usize) -> bool {
        let text = self.shown(line).trim_start_matches([' ', '>']);
        text.starts_with("```") || text.starts_with("~~~")
    }

    fn join(&self, lines: Range<usize>) -> String {
        let lines: Vec<&str> = lines.map(|line| self.line(line)).collect();
        lines.join("\n")
    }

    /// The lines, each without its indentation and quote marks, of which at most `prefix_bytes`
    /// bytes are dropped.
    fn join_without_prefix(&self, lines: Range<usize>, prefix_bytes: usize) -> String {
        let lines = lines.map(|line| {
            let line = self.line(line);
            let is_prefix = |byte: &&u8| matches!(byte, b' ' | b'>');
            let dropped = line
                .bytes()
                .take(prefix_bytes)
                .take_while(|byte| is_prefix(&byte));
            &line[dropped.count()..]
        });
        let lines: Vec<&str> = lines.collect();
        lines.join("\n")
    }
}
