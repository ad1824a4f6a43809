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

/// A row within a chunk.
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
        let before = &self.text[self.chunks[chunk]..self.text.floor_char_boundary(at)];
        let clean = Clean::escaped(before.strip_suffix('\n').unwrap_or(before));
        let row = match before.is_empty() {
            true => 0,
            false => wrap(clean.as_str(), self.columns).len().max(1),
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

    /// Restricts copying to the text from this byte on.
    pub fn copying_from(mut self, start: usize) -> Self {
        self.copied.start = self.text.floor_char_boundary(start);
        self
    }

    /// The raw text to copy.
    fn copied(&self) -> &str {
        &self.text[self.copied.clone()]
    }

    /// The visible rows for a window of this size.
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

    /// The top position of the last page.
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
        // Escape hidden characters: users decide based on this text.
        let clean = Clean::escaped(raw);
        let text = clean.as_str();
        let rows: Vec<String> = wrap(text, self.columns)
            .into_iter()
            .map(|row| text[row].to_owned())
            .collect();
        if rows.is_empty() {
            return vec![String::new()];
        }
        rows
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    fn viewer(text: &str) -> TextViewer {
        TextViewer::new("t", text)
    }

    /// Scrolls through the text and collects all rows.
    fn read_through(reading: &mut TextViewer, columns: u16, height: usize) -> Vec<String> {
        let mut rows = reading.view(columns, height);
        loop {
            let top = reading.top;
            reading.move_by(1);
            let view = reading.view(columns, height);
            if reading.top == top {
                return rows;
            }
            rows.extend(view.last().cloned());
        }
    }

    #[test]
    fn sixteen_megabytes_open_and_scroll_at_once() {
        for line in ["x".repeat(16 << 20), "한 줄\n".repeat(2 << 20)] {
            let started = Instant::now();
            let mut reading = viewer(&line);
            reading.view(60, 20);
            reading.page(1);
            reading.jump(true);
            let last = reading.view(60, 20).len();
            assert!(last == 20 && reading.percent_read() == Some(100));
            assert!(started.elapsed() < Duration::from_secs(2), "too slow");
        }
    }

    #[test]
    fn a_short_text_does_not_scroll() {
        let mut reading = viewer("a\n\nb");
        assert_eq!(reading.view(10, 5), ["a", "", "b"]);
        reading.move_by(3);
        assert_eq!(reading.view(10, 5), ["a", "", "b"]);
        assert_eq!(reading.percent_read(), None);
    }

    #[test]
    fn hidden_characters_are_escaped() {
        let text = "safe\u{202e}\u{1b}[31m";
        let mut reading = TextViewer::new("t", text);
        assert_eq!(reading.view(40, 1), ["safe⟨U+202E⟩⟨ESC⟩[31m"]);
        assert_eq!(reading.copied(), text, "copies raw text");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn scrolling_down_shows_every_line_once(
            lines in prop::collection::vec("[a-z]{0,40}", 1..400),
            height in 1usize..12,
        ) {
            let text = lines.join("\n");
            let mut reading = viewer(&text);
            let rows = read_through(&mut reading, 60, height);
            let expected: Vec<String> = text.split('\n').map(str::to_owned).collect();
            prop_assert_eq!(rows, expected);
            reading.jump(false);
            prop_assert_eq!(reading.top, ChunkRow::default());
        }
    }
}
