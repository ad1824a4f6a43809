//! Lays out Markdown as rows of a given width while it streams in. A block scanner reads the text
//! line by line. Finished lines are laid out once; when text arrives, only the last line and its
//! paragraph are laid out again. Long lines and paragraphs are split into parts, so the cost per
//! token does not depend on the length of a paragraph, list, table or code block.

mod block;
mod block_event;
mod close_pending;
mod code;
mod container;
mod emphasis;
mod excerpt;
mod inline;
mod layout;
mod line_syntax;
mod math;
mod open_block;
mod row_buffer;
mod scan;
mod source_map;
mod style;
mod table;
mod table_plan;
mod unclosed_backticks;

pub use block::{BlockKind, MarkdownBlock};
pub use excerpt::{RowOffset, RowPlace};
pub use row_buffer::StyledRow;
pub use style::{MarkdownGlyphs, StyleRole, TextStyle};

use crate::text::sanitize::Sanitizer;
use layout::{MarkdownLayout, OpenLeaf};
use open_block::LinePart;
use row_buffer::{BufferedRow, Checkpoint};
use scan::BlockScanner;
use std::num::NonZeroU16;

/// Lines up to this length are processed whole. A longer line is split into parts, at a space if
/// there is one before [`LINE_BYTES_MAX`].
const LINE_BYTES_SOFT_MAX: usize = 2_048;
const LINE_BYTES_MAX: usize = 4_096;
/// The text is laid out again when a link is defined after its use. These bound the total work:
/// bytes laid out again per byte of text, plus a fixed allowance.
const RELAYOUT_BYTES_PER_BYTE: usize = 8;
const RELAYOUT_BYTES_ALLOWANCE: usize = 1 << 20;

/// The state after the last complete line, or after a part of a long line.
#[derive(Debug, Clone, Default)]
struct SettledState {
    scanner: BlockScanner,
    leaf: OpenLeaf,
    /// Bytes of the source processed.
    source_end: usize,
    /// `source_end` is in the middle of a line.
    is_mid_line: bool,
}

#[derive(Debug, Clone)]
pub struct MarkdownView {
    sanitizer: Sanitizer,
    raw_bytes: usize,
    /// The sanitized text.
    source: String,
    state: SettledState,
    /// The rows up to here are final.
    checkpoint: Checkpoint,
    layout: MarkdownLayout,
    is_open: bool,
    relayout_bytes: usize,
    relayout_count: usize,
}

impl MarkdownView {
    /// Lays out `raw`. While `is_open`, more text may follow.
    pub fn new(raw: &str, width: u16, glyphs: MarkdownGlyphs, is_open: bool) -> Self {
        let width = NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN);
        let layout = MarkdownLayout::new(width, glyphs);
        let mut this = Self {
            sanitizer: Sanitizer::default(),
            raw_bytes: 0,
            source: String::new(),
            state: SettledState::default(),
            checkpoint: layout.row_buffer.checkpoint(),
            layout,
            // Differs from the argument, so that `extend_to` lays out even an empty text.
            is_open: !is_open,
            relayout_bytes: 0,
            relayout_count: 0,
        };
        this.extend_to(raw, is_open);
        this
    }

    /// Appends the part of `raw` beyond the text processed so far. The cost grows with the new text
    /// and, up to a bound, with the last paragraph.
    pub fn extend_to(&mut self, raw: &str, is_open: bool) {
        if raw.len() == self.raw_bytes && is_open == self.is_open {
            return;
        }
        let clean = self.sanitizer.push(&raw[self.raw_bytes..]);
        self.raw_bytes = raw.len();
        self.is_open = is_open;
        self.source.push_str(clean.as_str());
        self.layout.row_buffer.roll_back(self.checkpoint);
        self.lay_out_new_text();
        let is_within_budget = self.relayout_bytes
            <= RELAYOUT_BYTES_ALLOWANCE + RELAYOUT_BYTES_PER_BYTE * self.source.len();
        if std::mem::take(&mut self.layout.needs_relayout) && is_within_budget {
            self.relayout_bytes += self.source.len();
            self.relayout();
        }
    }

    /// Lays out the text after `state.source_end`. The rows of complete lines are final; those of
    /// the last line are provisional.
    fn lay_out_new_text(&mut self) {
        while let Some(part) = self.next_line_part() {
            let mut state = std::mem::take(&mut self.state);
            self.push_line_part(&mut state, part);
            let ends_with_newline = self.source.as_bytes().get(part.end) == Some(&b'\n');
            state.is_mid_line = !ends_with_newline;
            state.source_end = part.end + usize::from(ends_with_newline);
            self.state = state;
        }
        self.checkpoint = self.layout.row_buffer.checkpoint();
        let mut state = self.state.clone();
        self.push_last_line(&mut state);
        let (layout, source) = (&mut self.layout, &self.source);
        let SettledState { scanner, leaf, .. } = &mut state;
        let is_open = self.is_open;
        scanner.finish(&mut |event| layout.apply(leaf, source, event, is_open));
    }

    fn push_line_part(&mut self, state: &mut SettledState, part: LinePart) {
        let (layout, source) = (&mut self.layout, &self.source);
        let SettledState { scanner, leaf, .. } = state;
        layout.is_line_partial = part.is_partial;
        scanner.push_line(source, part, &mut |event| {
            layout.apply(leaf, source, event, false)
        });
    }

    /// The next complete line, or a part of a long one.
    fn next_line_part(&self) -> Option<LinePart> {
        let start = self.state.source_end;
        let rest = &self.source[start..];
        let window = &rest[..rest.floor_char_boundary(LINE_BYTES_MAX)];
        let newline = window.find('\n');
        let whole_line = newline.filter(|length| *length <= LINE_BYTES_SOFT_MAX);
        let length = whole_line.or_else(|| line_part_length(window, newline))?;
        let end = start + length;
        Some(LinePart {
            start,
            end,
            is_continuation: self.state.is_mid_line,
            is_cut: self.source.as_bytes().get(end) != Some(&b'\n'),
            is_partial: false,
        })
    }

    /// Processes as much of the unfinished last line as can be shown.
    fn push_last_line(&mut self, state: &mut SettledState) {
        let start = state.source_end;
        let mut end = self.source.len();
        if self.is_open && !state.is_mid_line {
            let line = &self.source[start..end];
            end = start + close_pending::visible_length(line, &state.scanner);
        }
        if start < end || state.is_mid_line && start < self.source.len() {
            let part = LinePart {
                start,
                end,
                is_continuation: state.is_mid_line,
                is_cut: false,
                is_partial: self.is_open,
            };
            self.push_line_part(state, part);
        }
    }

    /// Lays out the whole text again with all link definitions found so far.
    fn relayout(&mut self) {
        self.relayout_count += 1;
        self.layout.clear();
        self.state = SettledState::default();
        self.checkpoint = self.layout.row_buffer.checkpoint();
        self.lay_out_new_text();
        self.layout.needs_relayout = false;
    }

    pub fn width(&self) -> u16 {
        self.layout.width().get()
    }

    pub fn raw_bytes(&self) -> usize {
        self.raw_bytes
    }

    /// Bytes of the sanitized text.
    pub fn text_bytes(&self) -> usize {
        self.source.len()
    }

    /// Approximate memory use in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.source.len() + self.layout.row_buffer.memory_bytes()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.layout.row_buffer.rows().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn row(&self, row: usize) -> StyledRow<'_> {
        self.layout.row_buffer.styled_row(row)
    }

    /// Whether a row continues the line of the row before it.
    pub fn continues_line(&self, row: usize) -> bool {
        let rows = self.layout.row_buffer.rows();
        rows.get(row).is_some_and(BufferedRow::continues_line)
    }

    /// The code blocks and tables, in order.
    pub fn blocks(&self) -> &[MarkdownBlock] {
        self.layout.row_buffer.blocks()
    }

    /// The number of rows that further text cannot change, unless it defines a link.
    pub fn settled_rows(&self) -> usize {
        self.checkpoint.rows()
    }

    /// How often all rows were laid out again.
    pub fn relayout_count(&self) -> usize {
        self.relayout_count
    }

    /// The byte of the text at which a row begins. Byte offsets stay valid when the width changes.
    pub fn row_start_byte(&self, row: usize) -> usize {
        let rows = self.layout.row_buffer.rows();
        rows.get(row)
            .map_or(self.source.len(), |row| row.source_start as usize)
    }

    /// The row that contains a byte of the text.
    pub fn row_at_byte(&self, byte: usize) -> usize {
        let rows = self.layout.row_buffer.rows();
        let next = rows.partition_point(|row| row.source_start as usize <= byte);
        let last = next.checked_sub(1).and_then(|row| rows.get(row));
        // Several rows may begin at the same byte; return the first of them.
        last.map_or(0, |last| {
            rows.partition_point(|row| row.source_start < last.source_start)
        })
    }

    /// The number of rows that begin at or after a byte of the text.
    pub fn rows_since(&self, byte: usize) -> usize {
        let rows = self.layout.row_buffer.rows();
        rows.len() - rows.partition_point(|row| (row.source_start as usize) < byte)
    }
}

/// The length of the next part of a long line, if it can be determined yet: up to a space outside
/// emphasis if possible, otherwise to another space or to the end of the line or window.
fn line_part_length(window: &str, newline: Option<usize>) -> Option<usize> {
    let line = &window[..newline.unwrap_or(window.len())];
    let safe_space = emphasis::safe_break_space(line, LINE_BYTES_SOFT_MAX);
    let is_window_full = window.len() + 3 >= LINE_BYTES_MAX;
    let any_space = || {
        line.bytes()
            .enumerate()
            .skip(LINE_BYTES_SOFT_MAX)
            .find(|(_, byte)| *byte == b' ')
            .map(|(space, _)| space)
    };
    let cut_space =
        safe_space.or_else(|| any_space().filter(|_| is_window_full && newline.is_none()));
    // The space belongs to the part before it.
    cut_space
        .map(|space| space + 1)
        .or(newline)
        .or_else(|| is_window_full.then_some(window.len()))
}

#[cfg(test)]
mod tests;
