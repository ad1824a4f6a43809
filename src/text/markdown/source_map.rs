//! Joins the lines of a paragraph or heading, and maps laid-out bytes back to the source.

use super::block_event::LeafKind;
use super::close_pending::close_pending;
use super::inline::{InlineSink, LeafText};
use super::math::{TextEnd, math_spans};
use super::row_buffer::{RowBuffer, RowStart};
use super::style::{StyleRole, TextStyle};
use crate::text::sanitize::Sanitizer;
use std::ops::Range;

/// A longer paragraph is laid out in parts; no emphasis extends beyond its part.
const PART_BYTES_MAX: usize = 2_048;

#[derive(Debug, Clone)]
pub struct ParagraphText {
    pub kind: LeafKind,
    lines: Vec<Range<usize>>,
    /// Bytes of the lines, line breaks included.
    bytes: usize,
    /// The start of the row that this part continues, in the row buffer and in the source.
    pub pending_row: Option<(RowStart, usize)>,
    /// More text may follow; unfinished syntax is shown as if complete.
    pub is_streaming: bool,
}

impl ParagraphText {
    pub fn new(kind: LeafKind) -> Self {
        Self {
            kind,
            lines: Vec::new(),
            bytes: 0,
            pending_row: None,
            is_streaming: false,
        }
    }

    pub fn push_line(&mut self, line: Range<usize>) {
        self.bytes += line.len() + 1;
        self.lines.push(line);
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.bytes = 0;
    }

    pub fn pop_line(&mut self) -> Option<Range<usize>> {
        let line = self.lines.pop()?;
        self.bytes -= line.len() + 1;
        Some(line)
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.pending_row.is_none()
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= PART_BYTES_MAX
    }

    /// Whether the paragraph has a single line that looks like the header of a table.
    pub fn looks_like_table(&self, source: &str) -> bool {
        let [line] = &self.lines[..] else {
            return false;
        };
        self.kind == LeafKind::Paragraph
            && self.pending_row.is_none()
            && source[line.clone()].starts_with('|')
    }

    pub fn first_line(&self) -> Range<usize> {
        self.lines.first().cloned().unwrap_or_default()
    }

    pub fn base_style(&self) -> TextStyle {
        match self.kind {
            LeafKind::Heading(level) => TextStyle {
                role: StyleRole::Heading,
                bold: true,
                underlined: level == 1,
                italic: level > 2,
                strikethrough: false,
            },
            _ => TextStyle::default(),
        }
    }

    pub fn join(&self, source: &str) -> JoinedText {
        let mut text = String::with_capacity(self.bytes);
        let mut starts = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            if !text.is_empty() {
                text.push('\n');
            }
            starts.push((text.len(), line.start));
            text.push_str(&source[line.clone()]);
        }
        let math = match self.is_streaming {
            true => close_pending(&mut text),
            false => math_spans(&text, TextEnd::Final),
        };
        let end = self.lines.last().map_or(0, |line| line.end);
        let leaf = LeafText { text, math };
        JoinedText { leaf, starts, end }
    }
}

/// The joined lines of a leaf.
pub struct JoinedText {
    pub leaf: LeafText,
    /// Start of each line in the leaf's text and in the source.
    starts: Vec<(usize, usize)>,
    /// End of the last line in the source.
    end: usize,
}

impl JoinedText {
    /// Maps a byte of the joined text to a byte of the source.
    pub fn source_byte(&self, byte: usize) -> usize {
        let next = self.starts.partition_point(|(start, _)| *start <= byte);
        let line = next.checked_sub(1).and_then(|line| self.starts.get(line));
        line.map_or(0, |(start, source)| (source + (byte - start)).min(self.end))
    }
}

/// Writes the spans of a leaf to the row buffer and records where in the leaf each one starts.
pub struct RowBufferSink<'a> {
    row_buffer: &'a mut RowBuffer,
    sanitizer: Sanitizer,
    map: SourceMap,
}

impl<'a> RowBufferSink<'a> {
    pub fn new(row_buffer: &'a mut RowBuffer) -> Self {
        Self {
            row_buffer,
            sanitizer: Sanitizer::default(),
            map: SourceMap::default(),
        }
    }

    pub fn finish(self) -> SourceMap {
        self.map
    }
}

impl InlineSink for RowBufferSink<'_> {
    fn push_text(&mut self, text: &str, style: TextStyle, offset: usize) {
        // Character references may decode to characters that must not reach a terminal.
        let clean = self.sanitizer.push(text);
        if !clean.is_empty() {
            self.map.0.push((self.row_buffer.end(), offset));
            self.row_buffer.push_text(clean.as_str(), style);
        }
    }
}

/// The start of each span: its laid-out offset and its offset in the leaf.
#[derive(Default)]
pub struct SourceMap(Vec<(usize, usize)>);

impl SourceMap {
    /// Maps a laid-out byte to an approximate byte of the leaf.
    pub fn leaf_byte(&self, byte: usize) -> usize {
        let next = self.0.partition_point(|(start, _)| *start <= byte);
        let span = next.checked_sub(1).and_then(|span| self.0.get(span));
        let limit = self.0.get(next).map_or(usize::MAX, |(_, leaf)| *leaf);
        span.map_or(0, |(start, leaf)| (leaf + (byte - start)).min(limit))
    }
}
