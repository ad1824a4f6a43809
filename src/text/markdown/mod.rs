//! Markdown as rows of a width, while it streams in. A scanner takes the text line
//! by line and keeps a small state; what is settled is laid out once, and only the
//! last line and the paragraph that it belongs to are laid out again when more
//! comes. So the ten-thousandth token costs what the first did, in a paragraph as in
//! a list, a table or a block of code of any length.

mod block_event;
mod close_pending;
mod code;
mod container;
mod emphasis;
mod inline;
mod layout;
mod line_syntax;
mod row_buffer;
mod scan;
mod source_map;
mod style;
mod table;

pub use row_buffer::StyledRow;
pub use style::{MarkdownGlyphs, StyleRole, TextStyle};

use crate::text::sanitize::Sanitizer;
use layout::{MarkdownLayout, OpenLeaf};
use row_buffer::Checkpoint;
use scan::{BlockScanner, LinePart};
use std::num::NonZeroU16;

/// A line is taken whole up to here; a longer one comes in parts, broken at a space
/// where there is one before [`LINE_BYTES_MAX`].
const LINE_BYTES_SOFT: usize = 2_048;
const LINE_BYTES_MAX: usize = 4_096;
/// Bytes laid out again, for each byte of the text, because references were
/// defined behind their use; and those that are free.
const RELAYOUT_SHARE: usize = 8;
const RELAYOUT_BYTES_FREE: usize = 1 << 20;

/// The state behind the last settled line.
#[derive(Debug, Clone, Default)]
struct SettledState {
    scanner: BlockScanner,
    leaf: OpenLeaf,
    /// Bytes of the source that are in.
    source_end: usize,
    /// The line at `at` began before it.
    is_mid_line: bool,
}

#[derive(Debug, Clone)]
pub struct MarkdownView {
    sanitizer: Sanitizer,
    raw_bytes: usize,
    /// The text, sanitised.
    source: String,
    state: SettledState,
    /// What is laid out for good.
    checkpoint: Checkpoint,
    layout: MarkdownLayout,
    is_open: bool,
    relayout_bytes: usize,
}

impl MarkdownView {
    /// `open`: more may follow.
    pub fn new(raw: &str, width: u16, marks: MarkdownGlyphs, open: bool) -> Self {
        let width = NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN);
        let layout = MarkdownLayout::new(width, marks);
        let mut this = Self {
            sanitizer: Sanitizer::default(),
            raw_bytes: 0,
            source: String::new(),
            state: SettledState::default(),
            checkpoint: layout.rows.checkpoint(),
            layout,
            is_open: !open,
            relayout_bytes: 0,
        };
        this.extend_to(raw, open);
        this
    }

    /// Takes in what `raw` holds beyond what was taken in before. The work grows
    /// with what is new, and with the last paragraph up to a bound.
    pub fn extend_to(&mut self, raw: &str, open: bool) {
        if raw.len() == self.raw_bytes && open == self.is_open {
            return;
        }
        let clean = self.sanitizer.push(&raw[self.raw_bytes..]);
        self.raw_bytes = raw.len();
        self.is_open = open;
        self.source.push_str(clean.as_str());
        self.layout.rows.roll_back(self.checkpoint);
        self.advance();
        let may_again =
            self.relayout_bytes <= RELAYOUT_BYTES_FREE + RELAYOUT_SHARE * self.source.len();
        if std::mem::take(&mut self.layout.needs_relayout) && may_again {
            self.relayout_bytes += self.source.len();
            self.relayout();
        }
    }

    fn advance(&mut self) {
        while let Some(piece) = self.next_line_part() {
            let mut state = std::mem::take(&mut self.state);
            self.push_line_part(&mut state, piece);
            let newline = self.source.as_bytes().get(piece.end) == Some(&b'\n');
            state.is_mid_line = !newline;
            state.source_end = piece.end + usize::from(newline);
            self.state = state;
        }
        self.checkpoint = self.layout.rows.checkpoint();
        let mut state = self.state.clone();
        self.push_last_line(&mut state);
        let (layout, source) = (&mut self.layout, &self.source);
        let SettledState { scanner, leaf, .. } = &mut state;
        let open = self.is_open;
        scanner.finish(&mut |op| layout.apply(leaf, source, op, open));
    }

    fn push_line_part(&mut self, state: &mut SettledState, piece: LinePart) {
        let (layout, source) = (&mut self.layout, &self.source);
        let SettledState { scanner, leaf, .. } = state;
        layout.is_line_partial = piece.is_partial;
        scanner.push_line(source, piece, &mut |op| {
            layout.apply(leaf, source, op, false)
        });
    }

    /// The next line that has ended, or a part of a long one.
    fn next_line_part(&self) -> Option<LinePart> {
        let start = self.state.source_end;
        let rest = &self.source[start..];
        let window = &rest[..rest.floor_char_boundary(LINE_BYTES_MAX)];
        let newline = window.find('\n');
        let whole = newline.filter(|length| *length <= LINE_BYTES_SOFT);
        let length = whole.or_else(|| line_part_length(window, newline))?;
        let end = start + length;
        Some(LinePart {
            start,
            end,
            is_continuation: self.state.is_mid_line,
            is_cut: self.source.as_bytes().get(end) != Some(&b'\n'),
            is_partial: false,
        })
    }

    /// The line that is still coming in, as it is now.
    fn push_last_line(&mut self, state: &mut SettledState) {
        let start = state.source_end;
        let mut end = self.source.len();
        if self.is_open && !state.is_mid_line {
            let line = &self.source[start..end];
            end = start + close_pending::visible_length(line, &state.scanner);
        }
        if start < end || state.is_mid_line && start < self.source.len() {
            let piece = LinePart {
                start,
                end,
                is_continuation: state.is_mid_line,
                is_cut: false,
                is_partial: self.is_open,
            };
            self.push_line_part(state, piece);
        }
    }

    /// References were defined behind their use.
    fn relayout(&mut self) {
        self.layout.clear();
        self.state = SettledState::default();
        self.checkpoint = self.layout.rows.checkpoint();
        self.advance();
        self.layout.needs_relayout = false;
    }

    pub fn width(&self) -> u16 {
        self.layout.width().get()
    }

    pub fn raw_bytes(&self) -> usize {
        self.raw_bytes
    }

    /// Bytes of the sanitised text.
    pub fn text_bytes(&self) -> usize {
        self.source.len()
    }

    /// Memory held, in bytes, nearly.
    pub fn memory_bytes(&self) -> usize {
        self.source.len() + self.layout.rows.memory_bytes()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.layout.rows.rows().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn row(&self, row: usize) -> StyledRow<'_> {
        self.layout.rows.line(row)
    }

    /// The byte of the text that a row begins with: what stays the same when the
    /// width changes.
    pub fn row_start_byte(&self, row: usize) -> usize {
        let rows = self.layout.rows.rows();
        rows.get(row)
            .map_or(self.source.len(), |row| row.source_start as usize)
    }

    /// The row that holds a byte of the text.
    pub fn row_at_byte(&self, byte: usize) -> usize {
        let rows = self.layout.rows.rows();
        let after = rows.partition_point(|row| row.source_start as usize <= byte);
        let last = after.checked_sub(1).and_then(|row| rows.get(row));
        // The first of those that begin with the same byte.
        last.map_or(0, |last| {
            rows.partition_point(|row| row.source_start < last.source_start)
        })
    }

    /// Rows that begin at a byte of the text or behind it.
    pub fn rows_since(&self, byte: usize) -> usize {
        let rows = self.layout.rows.rows();
        rows.len() - rows.partition_point(|row| (row.source_start as usize) < byte)
    }
}

/// Where a long line is cut, if that is known: behind a space where no emphasis is
/// open, or where the line ends.
fn line_part_length(window: &str, newline: Option<usize>) -> Option<usize> {
    let line = &window[..newline.unwrap_or(window.len())];
    let calm = emphasis::safe_break_space(line, LINE_BYTES_SOFT);
    let full = window.len() + 3 >= LINE_BYTES_MAX;
    let any_space = || {
        let spaces = line.bytes().enumerate().skip(LINE_BYTES_SOFT);
        let mut spaces = spaces.filter(|(_, byte)| *byte == b' ');
        spaces.next().map(|(space, _)| space)
    };
    let cut = calm.or_else(|| any_space().filter(|_| full && newline.is_none()));
    // The space belongs to the part that it ends.
    cut.map(|space| space + 1)
        .or(newline)
        .or_else(|| full.then_some(window.len()))
}

#[cfg(test)]
mod tests;
