//! The searchable text of one entry, as the chat shows it when unfolded. It is built in steps of a
//! bounded number of bytes, and extended when text streams in.

use crate::domain::{EntryBody, TranscriptEntry};
use crate::front_end::call_text::{hidden_result, unfolded_call_text};
use crate::text::Clean;
use crate::text::find_query::normalize_for_find;
use crate::text::markdown::{MarkdownGlyphs, MarkdownView};
use crate::text::sanitize::Sanitizer;
use crate::tui::chat::entry_rows::unfolded_text;
use std::borrow::Cow;

/// Prose is practically never wrapped at this width; code and tables never are.
const WIDTH: u16 = u16::MAX;

/// Where a line is in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineSpot {
    /// In the row above the text.
    Head,
    /// At this byte of the sanitized Markdown.
    Source(usize),
    /// The line of the plain text with this number, counted from 0.
    PlainLine(usize),
}

#[derive(Debug, Clone, Copy)]
struct IndexedLine {
    /// Where the line begins in the normalized text.
    start: usize,
    spot: LineSpot,
}

#[derive(Debug)]
enum Reader {
    Markdown {
        view: Box<MarkdownView>,
        /// Indexed rows that later text does not change.
        rows: usize,
        /// [`MarkdownView::relayout_count`] at the last step. If it has changed, rows have moved.
        relayouts: usize,
    },
    Plain {
        sanitizer: Sanitizer,
        /// Text and number of the unfinished last line.
        line: String,
        number: usize,
        /// The text still to be read is the part of a result that the chat does not show. All its
        /// lines get the number of the line that mentions this part.
        is_hidden: bool,
    },
}

#[derive(Debug)]
pub struct EntryIndex {
    revision: u64,
    append_only_since: u64,
    is_case_sensitive: bool,
    reader: Reader,
    /// Bytes of the raw text read.
    read_bytes: usize,
    /// The normalized lines, each with a line break at its end.
    text: String,
    lines: Vec<IndexedLine>,
    /// How much of `text` and `lines` later text leaves unchanged: bytes and lines.
    settled: (usize, usize),
    is_complete: bool,
}

impl EntryIndex {
    pub fn new(entry: &TranscriptEntry, glyphs: MarkdownGlyphs, is_case_sensitive: bool) -> Self {
        let reader = match &entry.body {
            EntryBody::Text { .. } | EntryBody::Thinking { .. } => Reader::Markdown {
                view: Box::new(MarkdownView::new("", WIDTH, glyphs, true)),
                rows: 0,
                relayouts: 0,
            },
            _ => Reader::Plain {
                sanitizer: Sanitizer::default(),
                line: String::new(),
                number: 0,
                is_hidden: false,
            },
        };
        let mut index = Self {
            revision: entry.revision,
            append_only_since: entry.append_only_since,
            is_case_sensitive,
            reader,
            read_bytes: 0,
            text: String::new(),
            lines: Vec::new(),
            settled: (0, 0),
            is_complete: false,
        };
        if let EntryBody::Tool(call) = &entry.body {
            index.push_line(
                &format!("{}  {}", call.tool, call.server.as_str()),
                LineSpot::Head,
            );
            let shown = Clean::new(&unfolded_call_text(call));
            let mut last = 0;
            for (number, line) in shown.as_str().split('\n').enumerate() {
                index.push_line(line, LineSpot::PlainLine(number));
                last = number;
            }
            if let Reader::Plain {
                number, is_hidden, ..
            } = &mut index.reader
            {
                (*number, *is_hidden) = (last, true);
            }
            index.settled = (index.text.len(), index.lines.len());
        }
        index
    }

    /// Whether all of the entry is indexed.
    pub fn is_current(&self, entry: &TranscriptEntry) -> bool {
        self.is_complete && self.revision == entry.revision
    }

    /// Whether this index can be extended to the current text of the entry. Otherwise it must be
    /// rebuilt.
    pub fn can_extend_to(&self, entry: &TranscriptEntry, is_case_sensitive: bool) -> bool {
        let is_streamed = matches!(self.reader, Reader::Markdown { .. })
            && matches!(
                entry.body,
                EntryBody::Text { .. } | EntryBody::Thinking { .. }
            );
        let is_same = self.revision == entry.revision
            || is_streamed && self.append_only_since == entry.append_only_since;
        is_same && self.is_case_sensitive == is_case_sensitive
    }

    /// Reads at most `budget` bytes of the entry. Returns the number of bytes read.
    pub fn read(&mut self, entry: &TranscriptEntry, is_open: bool, budget: usize) -> usize {
        let raw: Cow<str> = match &entry.body {
            EntryBody::Text { text, .. } | EntryBody::Thinking { text, .. } => text.into(),
            EntryBody::Tool(call) => hidden_result(call).into(),
            _ => unfolded_text(entry),
        };
        self.revision = entry.revision;
        let end = raw.ceil_char_boundary((self.read_bytes + budget).min(raw.len()));
        let has_all = end == raw.len();
        let start = self.read_bytes.min(end);
        self.text.truncate(self.settled.0);
        self.lines.truncate(self.settled.1);
        match &self.reader {
            Reader::Markdown { .. } => {
                self.read_markdown(&raw[..end], is_open || !has_all, has_all)
            }
            Reader::Plain { .. } => self.read_plain(&raw[start..end], has_all),
        }
        self.read_bytes = end;
        self.is_complete = has_all;
        end - start
    }

    fn read_markdown(&mut self, raw: &str, is_open: bool, has_all: bool) {
        let Reader::Markdown {
            view,
            rows,
            relayouts,
        } = &mut self.reader
        else {
            return;
        };
        view.extend_to(raw, is_open);
        if *relayouts != view.relayout_count() {
            *relayouts = view.relayout_count();
            *rows = 0;
            self.text.clear();
            self.lines.clear();
        }
        let mut lines: Vec<(String, usize)> = Vec::new();
        // A line may continue in rows that are not settled yet.
        let mut settled_rows = view.settled_rows().min(view.len());
        while settled_rows > *rows && view.continues_line(settled_rows) {
            settled_rows -= 1;
        }
        let end = if has_all { view.len() } else { settled_rows };
        let mut settled_lines = 0;
        let mut row = *rows;
        while row < end {
            if row == settled_rows {
                settled_lines = lines.len();
            }
            let last = *view.line_rows(row).end();
            let text: String = (row..=last).map(|row| view.row(row).text).collect();
            lines.push((text, view.row_start_byte(row)));
            row = last + 1;
        }
        if end <= settled_rows {
            settled_lines = lines.len();
        }
        *rows = settled_rows;
        for (number, (line, source)) in lines.iter().enumerate() {
            if number == settled_lines {
                self.settled = (self.text.len(), self.lines.len());
            }
            self.push_line(line, LineSpot::Source(*source));
        }
        if settled_lines == lines.len() {
            self.settled = (self.text.len(), self.lines.len());
        }
    }

    fn read_plain(&mut self, raw: &str, has_all: bool) {
        let Reader::Plain {
            sanitizer,
            line,
            number,
            is_hidden,
        } = &mut self.reader
        else {
            return;
        };
        line.push_str(sanitizer.push(raw).as_str());
        let text = std::mem::take(line);
        let mut parts: Vec<&str> = text.split('\n').collect();
        let (first, is_hidden) = (*number, *is_hidden);
        if !is_hidden {
            *number += parts.len() - 1;
        }
        if !has_all && let Some(rest) = parts.pop() {
            rest.clone_into(line);
        }
        for (offset, part) in parts.into_iter().enumerate() {
            let number = if is_hidden { first } else { first + offset };
            self.push_line(part, LineSpot::PlainLine(number));
        }
        self.settled = (self.text.len(), self.lines.len());
    }

    fn push_line(&mut self, line: &str, spot: LineSpot) {
        if line.trim().is_empty() {
            return;
        }
        let start = self.text.len();
        self.lines.push(IndexedLine { start, spot });
        self.text
            .push_str(&normalize_for_find(line, self.is_case_sensitive));
        self.text.push('\n');
    }

    pub fn normalized_text(&self) -> &str {
        &self.text
    }

    /// The line that contains a byte of the normalized text, and where the next line begins.
    pub fn line_at(&self, byte: usize) -> (LineSpot, usize) {
        let next = self.lines.partition_point(|line| line.start <= byte);
        let spot = next
            .checked_sub(1)
            .map_or(LineSpot::Head, |at| self.lines[at].spot);
        let end = self
            .lines
            .get(next)
            .map_or(self.text.len(), |line| line.start);
        (spot, end)
    }
}
