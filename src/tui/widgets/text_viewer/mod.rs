//! A viewer for text of any length, such as a tool definition or a call with its full result. Only
//! visible chunks are wrapped, so 16 MB open as fast as one line.

use crate::text::Clean;
use crate::text::grapheme::truncate_to_width;
use crate::text::wrap::wrap;
use crate::tui::keymap::layers::{KeyContext, LayerKey, hint_list};
use crate::tui::keymap::{Action, Keymap};
use crate::tui::layer::{Handled, Layer, LayerArea, SharedUiState, UiContext};
use crate::tui::widgets::painter::Painter;
use crate::tui::widgets::window::{content_area, draw_window};
use crossterm::event::KeyEvent;
use ratatui::layout::Position;
use std::num::NonZeroU16;
use std::ops::Range;
use std::sync::Arc;

/// Columns of the title's rule reserved for the percentage and the ends of the rule.
const RIGHT_COLUMNS: usize = 16;
/// A chunk ends after the first newline beyond this size, or at [`CHUNK_BYTES_MAX`].
const CHUNK_BYTES: usize = 2_048;
const CHUNK_BYTES_MAX: usize = 4_096;
/// Precedes each row of a server's text.
const SERVER_TEXT_MARK: &str = "| ";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct ChunkRow {
    chunk: usize,
    row: usize,
}

#[derive(Debug)]
pub struct TextViewer {
    /// Unsanitized.
    title: String,
    text: Arc<str>,
    /// The range of `text` that can be copied.
    copied: Range<usize>,
    /// Byte offset of each chunk.
    chunks: Vec<usize>,
    /// Byte offsets of the lines that are ours, in ascending order, if all others come from a
    /// server. Rows of a server's text follow a mark, so they cannot imitate ours.
    own_lines: Option<Vec<usize>>,
    top: ChunkRow,
    /// Window size at the last draw.
    columns: NonZeroU16,
    height: usize,
}

impl TextViewer {
    pub fn new(title: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self {
            title: title.into(),
            copied: 0..text.len(),
            chunks: chunk_starts(&text),
            text,
            own_lines: None,
            top: ChunkRow::default(),
            columns: NonZeroU16::MIN,
            height: 1,
        }
    }

    /// Replaces the text with a similar one, and keeps the scroll position.
    pub fn replace_text(&mut self, text: impl Into<Arc<str>>) {
        let text = text.into();
        (self.copied, self.chunks) = (0..text.len(), chunk_starts(&text));
        self.text = text;
    }

    /// Scrolls to the row that begins at this byte, unless it is visible.
    pub fn show_byte(&mut self, at: usize) {
        let chunk = self.chunks.partition_point(|start| *start <= at);
        let chunk = chunk.saturating_sub(1);
        let start = self.chunks[chunk];
        let before = &self.text[start..self.text.floor_char_boundary(at)];
        let row = match before.is_empty() {
            true => 0,
            false => {
                let before = before.strip_suffix('\n').unwrap_or(before);
                self.rows_of(start, before).len()
            }
        };
        let place = ChunkRow { chunk, row };
        if place < self.top || place >= self.move_down(self.top, self.height.saturating_sub(1)) {
            self.top = place.min(self.last_top());
        }
    }

    /// Whether the text continued below the last row at the last draw. False before the first frame,
    /// which determines the number of rows.
    pub fn has_more_below(&self) -> bool {
        self.columns > NonZeroU16::MIN && self.top < self.last_top()
    }

    /// Marks the rows of all lines except those that begin at these bytes, which are ascending.
    pub fn marking_server_text(mut self, own_lines: Vec<usize>) -> Self {
        self.own_lines = Some(own_lines);
        self
    }

    /// Restricts copying to the text from this byte on.
    pub fn copying_from(mut self, start: usize) -> Self {
        self.copied.start = self.text.floor_char_boundary(start);
        self
    }

    fn copied(&self) -> &str {
        &self.text[self.copied.clone()]
    }

    fn view(&mut self, columns: u16, height: usize) -> Vec<String> {
        let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
        if columns != self.columns {
            // Keep the chunk; its rows have changed.
            self.top.row = 0;
        }
        (self.columns, self.height) = (columns, height.max(1));
        self.top = self.top.min(self.last_top());
        let mut rows = Vec::with_capacity(self.height);
        let mut skipped = self.top.row;
        for chunk in self.top.chunk..self.chunks.len() {
            let shown = self.chunk_rows(chunk).into_iter().skip(skipped);
            rows.extend(shown.take(self.height - rows.len()));
            skipped = 0;
            if rows.len() == self.height {
                break;
            }
        }
        rows
    }

    /// Percentage of the text above the view, 100 at the end; `None` if all of the text is visible.
    fn percent_read(&self) -> Option<usize> {
        let bottom = self.last_top();
        if bottom == ChunkRow::default() {
            return None;
        }
        if self.top >= bottom {
            return Some(100);
        }
        let above = self.chunks.get(self.top.chunk).copied().unwrap_or(0);
        let all = self.text.len().max(1);
        // Ignore the position within the chunk, which is small compared to the text.
        Some((above * 100 / all).min(99))
    }

    fn move_by(&mut self, rows: isize) {
        let by = rows.unsigned_abs();
        self.top = if rows < 0 {
            self.move_up(self.top, by)
        } else {
            self.move_down(self.top, by).min(self.last_top())
        };
    }

    /// Scrolls by a page, keeping two rows of overlap.
    fn page(&mut self, direction: isize) {
        let rows = self.height.saturating_sub(2).max(1);
        self.move_by(direction * isize::try_from(rows).unwrap_or(isize::MAX));
    }

    fn jump(&mut self, to_end: bool) {
        self.top = if to_end {
            self.last_top()
        } else {
            ChunkRow::default()
        };
    }

    fn last_top(&self) -> ChunkRow {
        let end = ChunkRow {
            chunk: self.chunks.len(),
            row: 0,
        };
        self.move_up(end, self.height)
    }

    fn move_up(&self, from: ChunkRow, mut rows: usize) -> ChunkRow {
        let mut place = from;
        while place.row < rows {
            if place.chunk == 0 {
                return ChunkRow::default();
            }
            rows -= place.row;
            place.chunk -= 1;
            place.row = self.chunk_rows(place.chunk).len();
        }
        place.row -= rows;
        place
    }

    fn move_down(&self, from: ChunkRow, mut rows: usize) -> ChunkRow {
        let mut place = from;
        while place.chunk < self.chunks.len() {
            let left = self.chunk_rows(place.chunk).len().saturating_sub(place.row);
            if rows < left {
                place.row += rows;
                return place;
            }
            rows -= left;
            place = ChunkRow {
                chunk: place.chunk + 1,
                row: 0,
            };
        }
        place
    }

    fn chunk_rows(&self, chunk: usize) -> Vec<String> {
        let start = self.chunks[chunk];
        let end = self.chunks.get(chunk + 1).copied();
        let raw = &self.text[start..end.unwrap_or(self.text.len())];
        let raw = match end {
            // The newline between two chunks ends the first one.
            Some(_) => raw.strip_suffix('\n').unwrap_or(raw),
            None => raw,
        };
        self.rows_of(start, raw)
    }

    /// The rows of a part of the text that begins at this byte; at least one.
    fn rows_of(&self, start: usize, raw: &str) -> Vec<String> {
        let Some(own_lines) = &self.own_lines else {
            return wrapped(raw, self.columns);
        };
        let mark_columns = SERVER_TEXT_MARK.len() as u16;
        let columns = self.columns.get().saturating_sub(mark_columns);
        let columns = NonZeroU16::new(columns).unwrap_or(NonZeroU16::MIN);
        let mut rows = Vec::new();
        let mut line_start = start;
        for line in raw.split('\n') {
            if own_lines.binary_search(&line_start).is_ok() {
                rows.extend(wrapped(line, self.columns));
            } else {
                let marked = wrapped(line, columns).into_iter();
                rows.extend(marked.map(|row| format!("{SERVER_TEXT_MARK}{row}")));
            }
            line_start += line.len() + 1;
        }
        rows
    }
}

/// The rows of a text; at least one. Hidden characters are escaped, because users decide based on
/// this text.
fn wrapped(raw: &str, columns: NonZeroU16) -> Vec<String> {
    let clean = Clean::escaped(raw);
    let text = clean.as_str();
    let rows = wrap(text, columns).into_iter();
    let rows: Vec<String> = rows.map(|row| text[row].to_owned()).collect();
    match rows.is_empty() {
        true => vec![String::new()],
        false => rows,
    }
}

impl Layer for TextViewer {
    fn handle_key(&mut self, key: KeyEvent, cx: &mut UiContext) -> Handled {
        match cx.shared.keymap.layer_key(
            key,
            &[
                KeyContext::ScrollableList,
                KeyContext::PagedText,
                KeyContext::Text,
            ],
        ) {
            Some(LayerKey::Up) => self.move_by(-1),
            Some(LayerKey::Down) => self.move_by(1),
            Some(LayerKey::PageUp) => self.page(-1),
            Some(LayerKey::PageDown) => self.page(1),
            Some(LayerKey::Start) => self.jump(false),
            Some(LayerKey::End) => self.jump(true),
            Some(LayerKey::Copy) => cx.copy("the text", self.copied().to_owned()),
            _ => return Handled::PassedOn,
        }
        Handled::Consumed
    }

    fn scroll(&mut self, rows: isize, _: SharedUiState) {
        self.move_by(rows);
    }

    fn draw(&mut self, area: LayerArea, _: SharedUiState, pen: &mut Painter) -> Option<Position> {
        let area = area.body;
        // Keep room for the percentage beside a long title.
        let title = Clean::single_line(&self.title);
        let room = usize::from(area.width).saturating_sub(RIGHT_COLUMNS);
        let title = truncate_to_width(title.as_str(), room);
        // The size of the window decides which part of the text it shows.
        let content = content_area(area);
        let rows = self.view(content.width, content.height.into());
        let right = self
            .percent_read()
            .map_or_else(String::new, |percent| format!("{percent} %"));
        let area = draw_window(area, title, &right, pen);
        let plain = pen.theme.plain;
        for (y, row) in rows.iter().enumerate() {
            pen.put(area.x, area.y + y as u16, row, plain, area.width);
        }
        None
    }

    fn hints(&self, shared: SharedUiState) -> Vec<String> {
        page_hints(shared.keymap)
    }
}

/// Hints for text read page by page.
pub fn page_hints(keymap: &Keymap) -> Vec<String> {
    hint_list([
        keymap.scroll_hint(),
        keymap.layer_hint(KeyContext::PagedText, LayerKey::Copy, "copy"),
        keymap.hint(Action::Back, "close"),
    ])
}

/// Splits text into chunks that can be wrapped independently. O(len).
fn chunk_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut start = 0;
    while text.len() - start > CHUNK_BYTES {
        let from = start + CHUNK_BYTES;
        let to = (start + CHUNK_BYTES_MAX).min(text.len());
        let line_end = text.as_bytes()[from..to].iter().position(|b| *b == b'\n');
        start = match line_end {
            Some(at) => from + at + 1,
            None => text.floor_char_boundary(to),
        };
        if start < text.len() {
            starts.push(start);
        }
    }
    starts
}

#[cfg(test)]
mod tests;
