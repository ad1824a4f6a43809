//! The lines of a paragraph or heading, and which byte of the source each byte of
//! what is shown came from.

use super::block_event::Kind;
use super::close_pending::complete;
use super::inline::Ink;
use super::row_buffer::RowBuffer;
use super::style::{Look, Role};
use crate::text::sanitize::Sanitizer;
use std::ops::Range;

/// A paragraph of more bytes is laid out in parts; emphasis ends with its part.
const PART_BYTES_MAX: usize = 2_048;

#[derive(Debug, Clone)]
pub struct Words {
    pub kind: Kind,
    lines: Vec<Range<usize>>,
    bytes: usize,
    /// Where the row begins that this part goes on with, in what is laid out and in
    /// the source.
    pub held: Option<(usize, usize)>,
    /// More may follow: what is begun is shown as if it were complete.
    pub ending: bool,
}

impl Words {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            lines: Vec::new(),
            bytes: 0,
            held: None,
            ending: false,
        }
    }

    pub fn add(&mut self, line: Range<usize>) {
        self.bytes += line.len() + 1;
        self.lines.push(line);
    }

    pub fn clear(&mut self) {
        self.lines.clear();
        self.bytes = 0;
    }

    pub fn take_last(&mut self) -> Option<Range<usize>> {
        let line = self.lines.pop()?;
        self.bytes -= line.len() + 1;
        Some(line)
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.held.is_none()
    }

    pub fn is_full(&self) -> bool {
        self.bytes >= PART_BYTES_MAX
    }

    /// One line so far, which looks like a table's first row.
    pub fn begins_table(&self, source: &str) -> bool {
        let [line] = &self.lines[..] else {
            return false;
        };
        self.kind == Kind::Paragraph && self.held.is_none() && source[line.clone()].starts_with('|')
    }

    pub fn first_line(&self) -> Range<usize> {
        self.lines.first().cloned().unwrap_or_default()
    }

    pub fn look(&self) -> Look {
        match self.kind {
            Kind::Heading(level) => Look {
                role: Role::Heading,
                bold: true,
                underlined: level == 1,
                italic: level > 2,
                struck: false,
            },
            _ => Look::default(),
        }
    }

    pub fn text(&self, source: &str) -> Text {
        let mut text = String::with_capacity(self.bytes);
        let mut starts = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            if !text.is_empty() {
                text.push('\n');
            }
            starts.push((text.len(), line.start));
            text.push_str(&source[line.clone()]);
        }
        if self.ending {
            complete(&mut text);
        }
        let end = self.lines.last().map_or(0, |line| line.end);
        Text { text, starts, end }
    }
}

/// The joined lines of a leaf.
pub struct Text {
    pub text: String,
    /// Where each line begins, here and in the source.
    starts: Vec<(usize, usize)>,
    /// Where the last line ends in the source.
    end: usize,
}

impl Text {
    /// The byte of the source that a byte of the text came from.
    pub fn source_of(&self, at: usize) -> usize {
        let after = self.starts.partition_point(|(start, _)| *start <= at);
        let line = after.checked_sub(1).and_then(|line| self.starts.get(line));
        line.map_or(0, |(start, source)| (source + (at - start)).min(self.end))
    }
}

/// Puts a leaf's stretches into the arena and remembers where they came from.
pub struct ArenaInk<'a> {
    arena: &'a mut RowBuffer,
    sanitizer: Sanitizer,
    places: Places,
}

impl<'a> ArenaInk<'a> {
    pub fn new(arena: &'a mut RowBuffer) -> Self {
        Self {
            arena,
            sanitizer: Sanitizer::default(),
            places: Places::default(),
        }
    }

    pub fn finish(self) -> Places {
        self.places
    }
}

impl Ink for ArenaInk<'_> {
    fn put(&mut self, words: &str, look: Look, at: usize) {
        // Character references may stand for what must not reach a terminal.
        let clean = self.sanitizer.push(words);
        if !clean.is_empty() {
            self.places.0.push((self.arena.end(), at));
            self.arena.put(clean.as_str(), look);
        }
    }
}

/// Where stretches begin in what is laid out, and in their leaf.
#[derive(Default)]
pub struct Places(Vec<(usize, usize)>);

impl Places {
    /// The byte of the leaf that a byte of what is laid out came from, nearly.
    pub fn at(&self, byte: usize) -> usize {
        let after = self.0.partition_point(|(start, _)| *start <= byte);
        let place = after.checked_sub(1).and_then(|place| self.0.get(place));
        let next = self.0.get(after).map_or(usize::MAX, |(_, at)| *at);
        place.map_or(0, |(start, at)| (at + (byte - start)).min(next))
    }
}
