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

pub use row_buffer::Line;
pub use style::{Look, Marks, Role};

use crate::text::sanitize::Sanitizer;
use layout::{Layout, Leaf};
use row_buffer::Mark;
use scan::{Piece, Scanner};
use std::num::NonZeroU16;

/// A line is taken whole up to here; a longer one comes in parts, broken at a space
/// where there is one before [`LINE_BYTES_MAX`].
const LINE_BYTES_SOFT: usize = 2_048;
const LINE_BYTES_MAX: usize = 4_096;
/// Bytes laid out again, for each byte of the text, because references were
/// defined behind their use; and those that are free.
const AGAIN_SHARE: usize = 8;
const AGAIN_FREE: usize = 1 << 20;

/// The state behind the last settled line.
#[derive(Debug, Clone, Default)]
struct State {
    scanner: Scanner,
    leaf: Leaf,
    /// Bytes of the source that are in.
    at: usize,
    /// The line at `at` began before it.
    continues: bool,
}

#[derive(Debug, Clone)]
pub struct Markdown {
    sanitizer: Sanitizer,
    raw_bytes: usize,
    /// The text, sanitised.
    source: String,
    state: State,
    /// What is laid out for good.
    mark: Mark,
    layout: Layout,
    open: bool,
    again: usize,
}

impl Markdown {
    /// `open`: more may follow.
    pub fn new(raw: &str, width: u16, marks: Marks, open: bool) -> Self {
        let width = NonZeroU16::new(width).unwrap_or(NonZeroU16::MIN);
        let layout = Layout::new(width, marks);
        let mut this = Self {
            sanitizer: Sanitizer::default(),
            raw_bytes: 0,
            source: String::new(),
            state: State::default(),
            mark: layout.arena.mark(),
            layout,
            open: !open,
            again: 0,
        };
        this.extend_to(raw, open);
        this
    }

    /// Takes in what `raw` holds beyond what was taken in before. The work grows
    /// with what is new, and with the last paragraph up to a bound.
    pub fn extend_to(&mut self, raw: &str, open: bool) {
        if raw.len() == self.raw_bytes && open == self.open {
            return;
        }
        let clean = self.sanitizer.push(&raw[self.raw_bytes..]);
        self.raw_bytes = raw.len();
        self.open = open;
        self.source.push_str(clean.as_str());
        self.layout.arena.back_to(self.mark);
        self.advance();
        let may_again = self.again <= AGAIN_FREE + AGAIN_SHARE * self.source.len();
        if std::mem::take(&mut self.layout.outdated) && may_again {
            self.again += self.source.len();
            self.lay_out_again();
        }
    }

    fn advance(&mut self) {
        while let Some(piece) = self.next_piece() {
            let mut state = std::mem::take(&mut self.state);
            self.take(&mut state, piece);
            let newline = self.source.as_bytes().get(piece.end) == Some(&b'\n');
            state.continues = !newline;
            state.at = piece.end + usize::from(newline);
            self.state = state;
        }
        self.mark = self.layout.arena.mark();
        let mut state = self.state.clone();
        self.take_last_line(&mut state);
        let (layout, source) = (&mut self.layout, &self.source);
        let State { scanner, leaf, .. } = &mut state;
        let open = self.open;
        scanner.finish(&mut |op| layout.apply(leaf, source, op, open));
    }

    fn take(&mut self, state: &mut State, piece: Piece) {
        let (layout, source) = (&mut self.layout, &self.source);
        let State { scanner, leaf, .. } = state;
        layout.partial = piece.partial;
        scanner.line(source, piece, &mut |op| {
            layout.apply(leaf, source, op, false)
        });
    }

    /// The next line that has ended, or a part of a long one.
    fn next_piece(&self) -> Option<Piece> {
        let start = self.state.at;
        let rest = &self.source[start..];
        let window = &rest[..rest.floor_char_boundary(LINE_BYTES_MAX)];
        let newline = window.find('\n');
        let whole = newline.filter(|length| *length <= LINE_BYTES_SOFT);
        let length = whole.or_else(|| part_of_line(window, newline))?;
        let end = start + length;
        Some(Piece {
            start,
            end,
            continues: self.state.continues,
            cut: self.source.as_bytes().get(end) != Some(&b'\n'),
            partial: false,
        })
    }

    /// The line that is still coming in, as it is now.
    fn take_last_line(&mut self, state: &mut State) {
        let start = state.at;
        let mut end = self.source.len();
        if self.open && !state.continues {
            let line = &self.source[start..end];
            end = start + close_pending::shown(line, &state.scanner);
        }
        if start < end || state.continues && start < self.source.len() {
            let piece = Piece {
                start,
                end,
                continues: state.continues,
                cut: false,
                partial: self.open,
            };
            self.take(state, piece);
        }
    }

    /// References were defined behind their use.
    fn lay_out_again(&mut self) {
        self.layout.clear();
        self.state = State::default();
        self.mark = self.layout.arena.mark();
        self.advance();
        self.layout.outdated = false;
    }

    pub fn width(&self) -> u16 {
        self.layout.width().get()
    }

    pub fn raw_bytes(&self) -> usize {
        self.raw_bytes
    }

    /// Bytes of the sanitised text.
    pub fn bytes(&self) -> usize {
        self.source.len()
    }

    /// Memory held, in bytes, nearly.
    pub fn cost(&self) -> usize {
        self.source.len() + self.layout.arena.cost()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.layout.arena.rows().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn row(&self, row: usize) -> Line<'_> {
        self.layout.arena.line(row)
    }

    /// The byte of the text that a row begins with: what stays the same when the
    /// width changes.
    pub fn byte_of(&self, row: usize) -> usize {
        let rows = self.layout.arena.rows();
        rows.get(row)
            .map_or(self.source.len(), |row| row.source as usize)
    }

    /// The row that holds a byte of the text.
    pub fn row_of(&self, byte: usize) -> usize {
        let rows = self.layout.arena.rows();
        let after = rows.partition_point(|row| row.source as usize <= byte);
        let last = after.checked_sub(1).and_then(|row| rows.get(row));
        // The first of those that begin with the same byte.
        last.map_or(0, |last| {
            rows.partition_point(|row| row.source < last.source)
        })
    }

    /// Rows that begin at a byte of the text or behind it.
    pub fn rows_since(&self, byte: usize) -> usize {
        let rows = self.layout.arena.rows();
        rows.len() - rows.partition_point(|row| (row.source as usize) < byte)
    }
}

/// Where a long line is cut, if that is known: behind a space where no emphasis is
/// open, or where the line ends.
fn part_of_line(window: &str, newline: Option<usize>) -> Option<usize> {
    let line = &window[..newline.unwrap_or(window.len())];
    let calm = emphasis::calm_space(line, LINE_BYTES_SOFT);
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
